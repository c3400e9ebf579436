/* clock.c: the one clock, arithmetic on its instants, and the one way to wait. */
#include "os/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>

int64_t rlock_now_ms(void) {
    struct timespec now;
    /* Not CLOCK_MONOTONIC: it stops in suspend, while the server's clock runs on. */
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t rlock__now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t rlock__epoch_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t rlock_drift_ms(int64_t lease_ms) {
    return lease_ms / 100 + 2;
}

int64_t rlock__lease_end_ms(int64_t sent_ms, int64_t lease_ms) {
    return sent_ms + lease_ms - rlock_drift_ms(lease_ms);
}

int64_t rlock__after_ms(int64_t now_ms, int64_t ms) {
    return ms > RLOCK_FOREVER - now_ms ? RLOCK_FOREVER : now_ms + ms;
}

int64_t rlock__left_ms(int64_t deadline_ms) {
    const int64_t now_ms = rlock_now_ms();
    return deadline_ms > now_ms ? deadline_ms - now_ms : 0;
}

int64_t rlock__share_ms(int64_t now_ms, int64_t deadline_ms, size_t count) {
    return deadline_ms == RLOCK_FOREVER || deadline_ms <= now_ms
               ? deadline_ms
               : now_ms + (deadline_ms - now_ms) / (int64_t)count;
}

int64_t rlock__half_way_ms(int64_t now_ms, int64_t deadline_ms) {
    enum { TOO_LITTLE_MS = 20 };
    return deadline_ms <= now_ms + TOO_LITTLE_MS ? deadline_ms
                                                 : now_ms + (deadline_ms - now_ms) / 2;
}

int64_t rlock__prolonged_ms(int64_t deadline_ms, int64_t until_ms, int64_t patience_ms) {
    return until_ms > deadline_ms
               ? rlock__sooner_ms(until_ms, rlock__after_ms(rlock_now_ms(), patience_ms))
               : deadline_ms;
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* What poll(2) takes: milliseconds, 0 when the deadline has passed, -1 for RLOCK_FOREVER. */
static int poll_timeout(int64_t deadline_ms) {
    if (deadline_ms == RLOCK_FOREVER)
        return -1;
    return (int)rlock__sooner_ms(rlock__left_ms(deadline_ms), INT_MAX);
}

enum rlock_status rlock__poll_any(struct pollfd *fds, size_t count, int64_t again_ms,
                                  const struct rlock__limit *limit) {
    const int64_t end_ms = rlock__sooner_ms(again_ms, limit->deadline_ms);
    /* Callers read what is there before they wait. Once the time has come only the cancelling
     * counts: a peer that sends without end has something to be read whenever one looks. */
    if (rlock_now_ms() >= end_ms)
        count = 0;
    fds[count] = (struct pollfd){.fd = limit->cancel_fd, .events = POLLIN};
    for (;;) {
        const int n = poll(fds, count + 1, poll_timeout(end_ms));
        if (n < 0 && errno != EINTR)
            return RLOCK_AGAIN; /* no memory in the kernel: the caller's own error paths follow */
        if (n > 0)
            return fds[count].revents != 0 ? RLOCK_CANCELLED : RLOCK_OK;
        const int64_t now = rlock_now_ms();
        if (n == 0 && now >= end_ms)
            return now >= limit->deadline_ms ? RLOCK_AGAIN : RLOCK_OK;
    }
}

enum rlock_status rlock__sleep(const struct rlock__limit *limit) {
    struct pollfd cancel;
    const enum rlock_status status = rlock__poll_any(&cancel, 0, RLOCK_FOREVER, limit);
    return status == RLOCK_CANCELLED ? status : RLOCK_OK;
}
