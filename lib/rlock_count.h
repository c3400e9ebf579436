/* rlock_count.h: latches are set and counted down, semaphores resized, skipped runs counted,
 * without being held. */
#ifndef RLOCK_COUNT_H
#define RLOCK_COUNT_H

#include "rlock.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rlock_count {
    size_t size;
    const char *name;
    int64_t number; /* 1 to RLOCK_PERMITS_MAX */
    int64_t deadline_ms;
    int cancel_fd; /* as in rlock_wait */
};
#define RLOCK_COUNT_INIT                                                                           \
    { sizeof(struct rlock_count), NULL, 1, RLOCK_FOREVER, -1 }

/* Each of these is sent until a reply comes or the deadline passes, and is carried out only once.
 * RLOCK_WRONG_KIND, RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_INVALID, RLOCK_SYSTEM.
 */

/* Sets a latch that does not exist. RLOCK_BUSY: it exists, and stays as it is.
 * left: its count now. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_latch_set(rlock_client *client, const struct rlock_count *count, int64_t *left);

/* Counts a latch down by number; at zero it is open, and deleted. 0: only reads it.
 * left: its count now. RLOCK_LOST: it does not exist, which counts as open. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_latch_down(rlock_client *client, const struct rlock_count *count, int64_t *left);

/* Sets how many permits a semaphore has in all, whether it exists or not.
 * in_use: how many are taken, which may be more than there are now. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_sem_resize(rlock_client *client, const struct rlock_count *count, int64_t *in_use);

/* Counts that a lock of `run` or `fair` was not acquired in time; number is ignored.
 * skips: how often in a row, until a run of any such lock of the name ends with status 0: see
 * rlock_note_run(). */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_skip(rlock_client *client,
                                                   const struct rlock_count *count, int64_t *skips);

#ifdef __cplusplus
}
#endif
#endif
