/* poll.c: the one way to wait. */
#include "os/poll.h"

#include <errno.h>
#include <poll.h>

#include "os/clock.h"

void rlock__on_wait(const struct rlock_wait *wait, bool for_turn) {
    if (wait != NULL && wait->on_wait != NULL)
        wait->on_wait(wait->context, for_turn);
}

enum rlock_status rlock__poll_any(struct pollfd *fds, size_t count, int64_t again_ms,
                                  const struct rlock__limit *limit) {
    const int64_t end_ms = rlock__sooner_ms(again_ms, limit->deadline_ms);
    /* Callers read what is there before they wait. Once the time has come only the cancelling
     * counts: a peer that sends without end has something to be read whenever one looks. */
    if (rlock_now_ms() >= end_ms)
        count = 0;
    fds[count] = (struct pollfd){.fd = limit->cancel_fd, .events = POLLIN};
    rlock__on_wait(limit->on_wait, false);
    for (;;) {
        const int n = poll(fds, count + 1, rlock__poll_timeout(rlock_now_ms(), end_ms));
        if (n < 0 && errno != EINTR)
            return RLOCK_AGAIN; /* no memory in the kernel: the caller's own error paths follow */
        if (n > 0)
            return fds[count].revents != 0 ? RLOCK_CANCELLED : RLOCK_OK;
        const int64_t now = rlock_now_ms();
        if (n == 0 && now >= end_ms)
            return now >= limit->deadline_ms ? RLOCK_AGAIN : RLOCK_OK;
    }
}

enum rlock_status rlock__poll(int fd, short events, const struct rlock__limit *limit) {
    struct pollfd fds[2] = {{.fd = fd, .events = events}};
    return rlock__poll_any(fds, 1, RLOCK_FOREVER, limit);
}

enum rlock_status rlock__sleep(const struct rlock__limit *limit) {
    return rlock__poll(-1, 0, limit) == RLOCK_CANCELLED ? RLOCK_CANCELLED : RLOCK_OK;
}
