/* deadline.h: the clock, and when a command must end: before its lease does, and within --timeout.
 * rlock and its guardian both keep to this.
 *
 * Instants are milliseconds on CLOCK_BOOTTIME, which goes on while the machine sleeps, as leases
 * do. INT64_MAX: never. */
#ifndef RLOCK_CMD_DEADLINE_H
#define RLOCK_CMD_DEADLINE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Now: the same as rlock_now_ms(), for the code that knows no lock. */
static inline int64_t boottime_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The time-out for poll(2): 0 when it is over. If it is longer than poll(2) can wait, or for ever,
 * poll(2) returns early: compute it again. */
static inline int boottime_left_ms(int64_t until_ms) {
    const int64_t left = until_ms - boottime_ms();
    return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

enum { MARGIN_MIN_MS = 5, MARGIN_MAX_MS = 100, LATE_MS = 2000 };

struct deadline_plan {
    int64_t kill_after_ms; /* from SIGTERM to SIGKILL */
    int64_t margin_ms;     /* from SIGKILL to the lease's end: for the kernel to carry it out, and
                              for a busy machine to get to it */
    int64_t grace_ms;      /* from SIGTERM to the lease's end */
    bool outlives_lease;   /* --on-lost warn: the lease's end does not end the command */
    int64_t time_limit_ms; /* --timeout: from the command's start to SIGTERM; 0: no limit */
};

/* For the command and its descendants. */
struct deadline {
    int64_t stop_ms;    /* SIGTERM is due */
    int64_t kill_ms;    /* SIGKILL is due, however late SIGTERM was */
    int64_t overdue_ms; /* the guardian has missed it, and may be stopped: rlock kills them */
};

static inline int64_t deadline_sooner(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline struct deadline_plan deadline_plan(int64_t lease_ms, int64_t kill_after_ms,
                                                 bool outlives_lease, int64_t time_limit_ms) {
    const int64_t share_ms = lease_ms / 50;
    const int64_t margin_ms =
        share_ms < MARGIN_MIN_MS ? MARGIN_MIN_MS : deadline_sooner(share_ms, MARGIN_MAX_MS);
    return (struct deadline_plan){
        .kill_after_ms = kill_after_ms,
        .margin_ms = margin_ms,
        .grace_ms = outlives_lease ? 0 : kill_after_ms + margin_ms,
        .outlives_lease = outlives_lease,
        .time_limit_ms = time_limit_ms,
    };
}

/* started_ms: INT64_MAX: the command has not been started, and only the lease counts. */
static inline struct deadline deadline_of(const struct deadline_plan *plan, int64_t lease_end_ms,
                                          int64_t started_ms) {
    struct deadline at = {INT64_MAX, INT64_MAX, INT64_MAX};
    if (lease_end_ms != INT64_MAX && !plan->outlives_lease) {
        at.stop_ms = lease_end_ms - plan->grace_ms;
        at.kill_ms = lease_end_ms - plan->margin_ms;
        at.overdue_ms = lease_end_ms - plan->margin_ms / 2;
    }
    if (started_ms != INT64_MAX && plan->time_limit_ms > 0) {
        const int64_t up_ms = started_ms + plan->time_limit_ms;
        at.stop_ms = deadline_sooner(at.stop_ms, up_ms);
        at.kill_ms = deadline_sooner(at.kill_ms, up_ms + plan->kill_after_ms);
        at.overdue_ms = deadline_sooner(at.overdue_ms, up_ms + plan->kill_after_ms + LATE_MS);
    }
    return at;
}

#endif
