/* clock.c: the one clock, and arithmetic on its instants. */
#include "os/clock.h"

#include <limits.h>
#include <time.h>

#include "rlock_base.h"

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

int64_t rlock__half_way_ms(int64_t now_ms, int64_t deadline_ms) {
    enum { TOO_LITTLE_MS = 20 };
    return deadline_ms <= now_ms + TOO_LITTLE_MS ? deadline_ms
                                                 : now_ms + (deadline_ms - now_ms) / 2;
}

int rlock__poll_timeout(int64_t now_ms, int64_t deadline_ms) {
    if (deadline_ms == RLOCK_FOREVER)
        return -1;
    if (deadline_ms <= now_ms)
        return 0;
    int64_t left = deadline_ms - now_ms;
    return left > INT_MAX ? INT_MAX : (int)left;
}
