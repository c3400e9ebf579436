/* limit.c: the one way to wait. */
#include "limit.h"

#include <errno.h>
#include <poll.h>

#include "clock.h"

enum rlock_status rlock__poll(int fd, short events, const struct rlock__limit *limit) {
    struct pollfd fds[] = {
        {.fd = fd, .events = events},
        {.fd = limit->cancel_fd, .events = POLLIN},
    };
    for (;;) {
        int n = poll(fds, 2, rlock__poll_timeout(rlock_now_ms(), limit->deadline_ms));
        if (n < 0 && errno != EINTR)
            return RLOCK_AGAIN; /* no memory in the kernel: the caller's own error paths follow */
        if (n > 0 && fds[1].revents != 0)
            return RLOCK_CANCELLED;
        if (n > 0 && fds[0].revents != 0)
            return RLOCK_OK;
        if (n == 0 && rlock_now_ms() >= limit->deadline_ms)
            return RLOCK_AGAIN;
    }
}
