/* poll.c: the one way to wait. */
#include "os/poll.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "os/clock.h"

enum rlock_status rlock__poll_any(const struct pollfd *fds, size_t count,
                                  const struct rlock__limit *limit) {
    struct pollfd all[RLOCK__POLL_MAX];
    /* Callers read what is there before they wait. Once the deadline has come only the cancelling
     * counts: a peer that sends without end has something to be read whenever one looks. */
    if (rlock_now_ms() >= limit->deadline_ms)
        count = 0;
    memcpy(all, fds, count * sizeof *fds);
    all[count] = (struct pollfd){.fd = limit->cancel_fd, .events = POLLIN};
    for (;;) {
        const int n = poll(all, count + 1, rlock__poll_timeout(rlock_now_ms(), limit->deadline_ms));
        if (n < 0 && errno != EINTR)
            return RLOCK_AGAIN; /* no memory in the kernel: the caller's own error paths follow */
        if (n > 0)
            return all[count].revents != 0 ? RLOCK_CANCELLED : RLOCK_OK;
        if (n == 0 && rlock_now_ms() >= limit->deadline_ms)
            return RLOCK_AGAIN;
    }
}

enum rlock_status rlock__poll(int fd, short events, const struct rlock__limit *limit) {
    const struct pollfd one = {.fd = fd, .events = events};
    return rlock__poll_any(&one, 1, limit);
}
