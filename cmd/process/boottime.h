/* boottime.h: the clock of the layers that know no lock: what rlock_now_ms() reads as well. */
#ifndef RLOCK_CMD_BOOTTIME_H
#define RLOCK_CMD_BOOTTIME_H

#include <stdint.h>
#include <time.h>

/* CLOCK_BOOTTIME in milliseconds: it goes on while the machine sleeps, as leases do. */
static inline int64_t boottime_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
