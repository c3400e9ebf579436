/* deadline.h: when a command has to end, counted back from the end of its lease, or on from its
 * start where its time is limited. rlock and its guardian both go by this.
 *
 * Instants are milliseconds on CLOCK_BOOTTIME; INT64_MAX: never. */
#ifndef RLOCK_CMD_DEADLINE_H
#define RLOCK_CMD_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

enum { MARGIN_MIN_MS = 5, MARGIN_MAX_MS = 100, LATE_MS = 2000 };

struct deadline {
    bool none;             /* --on-lost warn: the lease's end is not the command's */
    int64_t kill_after_ms; /* from SIGTERM to SIGKILL */
    int64_t margin_ms; /* from SIGKILL to the lease's end: for the kernel to carry it out, and for
                          a busy machine to get to it */
    int64_t time_limit_ms; /* --timeout: from the command's start to SIGTERM; 0: no limit */
};

/* Of two instants, or spans of time, the smaller one. */
static inline int64_t deadline_sooner(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline struct deadline deadline_of(int64_t lease_ms, int64_t kill_after_ms, bool none) {
    const int64_t share_ms = lease_ms / 50;
    return (struct deadline){
        .none = none,
        .kill_after_ms = kill_after_ms,
        .margin_ms = share_ms < MARGIN_MIN_MS   ? MARGIN_MIN_MS
                     : share_ms > MARGIN_MAX_MS ? MARGIN_MAX_MS
                                                : share_ms,
    };
}

static inline int64_t deadline_before(const struct deadline *deadline, int64_t lease_end_ms,
                                      int64_t before_ms) {
    return deadline->none || lease_end_ms == INT64_MAX ? INT64_MAX : lease_end_ms - before_ms;
}

/* How long before the lease's end the command and its descendants get SIGTERM. */
static inline int64_t deadline_grace_ms(const struct deadline *deadline) {
    return deadline->none ? 0 : deadline->kill_after_ms + deadline->margin_ms;
}

/* When they get it. */
static inline int64_t deadline_stop_at(const struct deadline *deadline, int64_t lease_end_ms) {
    return deadline_before(deadline, lease_end_ms, deadline_grace_ms(deadline));
}

/* When they get SIGKILL, at the latest. */
static inline int64_t deadline_kill_at(const struct deadline *deadline, int64_t lease_end_ms) {
    return deadline_before(deadline, lease_end_ms, deadline->margin_ms);
}

/* When the guardian is late: it may be stopped, and rlock kills them itself. */
static inline int64_t deadline_overdue_at(const struct deadline *deadline, int64_t lease_end_ms) {
    return deadline_before(deadline, lease_end_ms, deadline->margin_ms / 2);
}

/* When a command that was started then has had all its time, and gets SIGTERM. */
static inline int64_t deadline_time_up_at(const struct deadline *deadline, int64_t started_ms) {
    return deadline->time_limit_ms == 0 ? INT64_MAX : started_ms + deadline->time_limit_ms;
}

/* When it gets SIGKILL, whatever held the guardian up meanwhile. */
static inline int64_t deadline_time_kill_at(const struct deadline *deadline, int64_t started_ms) {
    return deadline->time_limit_ms == 0
               ? INT64_MAX
               : deadline_time_up_at(deadline, started_ms) + deadline->kill_after_ms;
}

/* When the guardian is late with that, and rlock kills them itself. */
static inline int64_t deadline_time_overdue_at(const struct deadline *deadline,
                                               int64_t started_ms) {
    return deadline->time_limit_ms == 0 ? INT64_MAX
                                        : deadline_time_kill_at(deadline, started_ms) + LATE_MS;
}

#endif
