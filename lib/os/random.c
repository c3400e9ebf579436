/* random.c: ids that nobody else has, and pauses. */
#include "os/random.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/random.h>

#include "os/clock.h"

bool rlock__random_id(char out[RLOCK__ID_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
    return true;
}

/* Of version 4: random; and of variant 1. */
bool rlock__random_uuid(char out[RLOCK__UUID_SIZE]) {
    char id[RLOCK__ID_SIZE];
    if (!rlock__random_id(id))
        return false;
    (void)snprintf(out, RLOCK__UUID_SIZE, "%.8s-%.4s-4%.3s-%c%.3s-%.12s", id, id + 8, id + 13,
                   "89ab"[id[16] & 3], id + 17, id + 20);
    return true;
}

int64_t rlock__random_between(int64_t low, int64_t high) {
    uint32_t r = 0;
    if (getrandom(&r, sizeof r, 0) != (ssize_t)sizeof r)
        return high;
    return low + (int64_t)(r % (uint64_t)(high - low + 1));
}

int64_t rlock__backoff(int64_t *pause_ms, int64_t min_ms, int64_t max_ms) {
    *pause_ms = *pause_ms == 0 ? min_ms : rlock__sooner_ms(2 * *pause_ms, max_ms);
    return rlock__random_between(*pause_ms / 2, *pause_ms);
}
