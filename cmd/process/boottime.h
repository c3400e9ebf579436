/* boottime.h: the clock of the layers that know no lock: what rlock_now_ms() reads as well. */
#ifndef RLOCK_CMD_BOOTTIME_H
#define RLOCK_CMD_BOOTTIME_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

/* CLOCK_BOOTTIME in milliseconds: it goes on while the machine sleeps, as leases do. */
static inline int64_t boottime_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For poll(2): how long it is until then, 0 when it is over. What is further away than poll(2) can
 * wait, INT64_MAX for never too, is waited for in parts. */
static inline int boottime_left_ms(int64_t until_ms) {
    const int64_t left = until_ms - boottime_ms();
    return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

#endif
