/* random.h: what differs from one client to the other: ids, and pauses between tries that fail. */
#ifndef RLOCK_RANDOM_H
#define RLOCK_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#define RLOCK__ID_SIZE   33 /* 32 hexadecimal digits and the end */
#define RLOCK__UUID_SIZE 37 /* RFC 9562, version 4 */

/* False: the system has no random bytes. */
bool rlock__random_id(char out[RLOCK__ID_SIZE]);
bool rlock__random_uuid(char out[RLOCK__UUID_SIZE]);

/* A number from low to high, both included: for jitter only. */
int64_t rlock__random_between(int64_t low, int64_t high);

/* The next pause: up to twice as long as the one before, of which a random half is used, so that
 * clients that failed together do not retry together. *pause_ms: 0 before the first, and to start
 * again. */
int64_t rlock__backoff(int64_t *pause_ms, int64_t min_ms, int64_t max_ms);

#endif
