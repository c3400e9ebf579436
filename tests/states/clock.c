/* clock.c: a clock that stands still, for a redis-server (LD_PRELOAD). The time of day is a
 * constant, so that a script's effect depends on nothing but the keys, its arguments and who
 * listens; what the event loop runs by, the monotonic clock, goes on. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long seconds(void) {
    static long at;
    if (at == 0)
        at = strtol(getenv("STATES_CLOCK"), NULL, 10);
    return at;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
    (void)tz;
    *tv = (struct timeval){.tv_sec = seconds()};
    return 0;
}

time_t time(time_t *at) {
    if (at != NULL)
        *at = seconds();
    return seconds();
}

int clock_gettime(clockid_t id, struct timespec *ts) {
    if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)
        return (int)syscall(SYS_clock_gettime, id, ts);
    *ts = (struct timespec){.tv_sec = seconds()};
    return 0;
}
