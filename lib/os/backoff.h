/* backoff.h: pauses between tries that fail. */
#ifndef RLOCK_BACKOFF_H
#define RLOCK_BACKOFF_H

#include <stdint.h>

/* The next pause: up to twice as long as the one before, of which a random half is used, so that
 * clients that failed together do not retry together. *pause_ms: 0 before the first, and to start
 * again. */
int64_t rlock__backoff(int64_t *pause_ms, int64_t min_ms, int64_t max_ms);

#endif
