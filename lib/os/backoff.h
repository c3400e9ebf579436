/* backoff.h: pauses between tries that fail. */
#ifndef RLOCK_BACKOFF_H
#define RLOCK_BACKOFF_H

#include <stdint.h>

/* The next pause: each is up to twice as long as the one before, and of that a random half is
 * taken, so that those who failed together do not come back together. *pause_ms: 0 before the
 * first, and to begin anew. */
int64_t rlock__backoff(int64_t *pause_ms, int64_t min_ms, int64_t max_ms);

#endif
