/* backoff.c: pauses between tries that fail. */
#include "os/backoff.h"

#include "os/clock.h"
#include "os/random.h"

int64_t rlock__backoff(int64_t *pause_ms, int64_t min_ms, int64_t max_ms) {
    *pause_ms = *pause_ms == 0 ? min_ms : rlock__sooner_ms(2 * *pause_ms, max_ms);
    return rlock__random_between(*pause_ms / 2, *pause_ms);
}
