/* poll.h: the one way to wait: for a descriptor, a cancel descriptor and a deadline together. */
#ifndef RLOCK_POLL_H
#define RLOCK_POLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rlock.h"

/* How long a wait may last, and what ends it early. Passed down unchanged. */
struct rlock__limit {
    int64_t deadline_ms;
    int cancel_fd;                    /* -1: none */
    const struct rlock_wait *on_wait; /* its on_wait() is called first; NULL: none */
};

/* Calls on_wait(), if there is one. wait: may be NULL. */
void rlock__on_wait(const struct rlock_wait *wait, bool for_turn);

/* Waits until fd shows one of the poll(2) events.
 * RLOCK_OK: it does. RLOCK_AGAIN: the deadline has come. RLOCK_CANCELLED. */
enum rlock_status rlock__poll(int fd, short events, const struct rlock__limit *limit);

/* The same of several; there is room for one more behind them. RLOCK_OK also at again_ms: when to
 * look again though none shows anything; RLOCK_FOREVER: never. */
struct pollfd;
enum rlock_status rlock__poll_any(struct pollfd *fds, size_t count, int64_t again_ms,
                                  const struct rlock__limit *limit);

/* Waits for the limit only. RLOCK_OK: the deadline has come. RLOCK_CANCELLED. */
enum rlock_status rlock__sleep(const struct rlock__limit *limit);

#endif
