/* figures.c: what can be said of a lock in numbers. */
#include "report/figures.h"

#include <string.h>

static bool read_held(const rlock_view *view, int64_t *out) {
    *out = view->held;
    return true;
}

static bool read_holders(const rlock_view *view, int64_t *out) {
    *out = (int64_t)view->holder_count;
    return view->count < 0; /* nobody holds a latch */
}

static bool read_readers(const rlock_view *view, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < view->holder_count; i++)
        *out += !view->holders[i].writes;
    return view->kind != NULL &&
           (strcmp(view->kind, "read") == 0 || strcmp(view->kind, "write") == 0);
}

static bool read_kept(const rlock_view *view, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < view->holder_count; i++)
        *out += view->holders[i].kept;
    return view->holder_count > 0;
}

static bool read_waiting(const rlock_view *view, int64_t *out) {
    *out = (int64_t)view->waiter_count;
    return true;
}

/* Since when the first of its holders has it. */
static bool read_since(const rlock_view *view, int64_t *out) {
    *out = -1;
    for (size_t i = 0; i < view->holder_count; i++) {
        const int64_t since_ms = view->holders[i].since_ms;
        if (since_ms >= 0 && (*out < 0 || since_ms < *out))
            *out = since_ms;
    }
    return *out >= 0;
}

/* Times are the server's: so is the present. */
static bool make_age(const rlock_view *view, int64_t *ms) {
    *ms = view->as_of_ms > *ms ? view->as_of_ms - *ms : 0;
    return view->as_of_ms >= 0;
}

static bool read_age(const rlock_view *view, int64_t *out) {
    return read_since(view, out) && make_age(view, out);
}

/* How long the one that waits longest has done so. */
static bool read_wait(const rlock_view *view, int64_t *out) {
    *out = -1;
    for (size_t i = 0; i < view->waiter_count; i++) {
        const int64_t since_ms = view->waiters[i].since_ms;
        if (since_ms >= 0 && (*out < 0 || since_ms < *out))
            *out = since_ms;
    }
    return *out >= 0 && make_age(view, out);
}

static bool read_ttl(const rlock_view *view, int64_t *out) {
    *out = -1;
    for (size_t i = 0; i < view->holder_count; i++) {
        if (view->holders[i].ttl_ms < 0)
            return false; /* without end */
        if (view->holders[i].ttl_ms > *out)
            *out = view->holders[i].ttl_ms;
    }
    return *out >= 0;
}

static bool read_permits(const rlock_view *view, int64_t *out) {
    *out = view->permits_total;
    return *out >= 0;
}

static bool read_available(const rlock_view *view, int64_t *out) {
    *out = view->permits_available;
    return *out != INT64_MIN;
}

static bool read_remaining(const rlock_view *view, int64_t *out) {
    *out = view->count;
    return *out >= 0;
}

static bool read_token(const rlock_view *view, int64_t *out) {
    *out = view->token;
    return *out >= 0;
}

/* --- of the last run with --once-per ---------------------------------------------------------- */

static bool read_ended(const rlock_view *view, int64_t *out) {
    *out = view->last_run != NULL ? view->last_run->ended_ms : -1;
    return *out >= 0;
}

static bool read_took(const rlock_view *view, int64_t *out) {
    *out = view->last_run != NULL ? view->last_run->took_ms : -1;
    return *out >= 0;
}

static bool read_exit_status(const rlock_view *view, int64_t *out) {
    *out = view->last_run != NULL ? view->last_run->exit_status : -1;
    return *out >= 0;
}

static bool read_succeeded(const rlock_view *view, int64_t *out) {
    *out = view->last_run != NULL ? view->last_run->succeeded_ms : -1;
    return *out >= 0;
}

const struct figure figures[FIGURES] = {
    {"rlock_held", "Whether the lock is held (1) or free (0).", .read = read_held},
    {"rlock_holders", "How many hold it.", .read = read_holders},
    {"rlock_readers", "How many hold it to read.", .read = read_readers},
    {"rlock_kept", "How many of its holders are done with it, and --min-hold keeps it.",
     .read = read_kept},
    {"rlock_waiting", "How many wait for it.", .read = read_waiting},
    {"rlock_held_since_timestamp_seconds",
     "When the first of its holders took it, since 1970, by the server's clock.",
     .read = read_since, .is_ms = true},
    {"rlock_held_seconds", "How long the first of its holders has held it.", .read = read_age,
     .is_ms = true},
    {"rlock_waiting_seconds", "How long the first of its waiters has waited.", .read = read_wait,
     .is_ms = true},
    {"rlock_ttl_seconds", "How long until it frees itself unless it is renewed.", .read = read_ttl,
     .is_ms = true},
    {"rlock_permits", "How many permits there are in all.", .read = read_permits},
    {"rlock_permits_available", "How many permits are available.", .read = read_available},
    {"rlock_latch_remaining", "How many count-downs are left.", .read = read_remaining},
    {"rlock_last_run_timestamp_seconds",
     "When the last run with --once-per ended, since 1970, by the server's clock.",
     .read = read_ended, .is_ms = true},
    {"rlock_last_run_duration_seconds", "How long that run took.", .read = read_took,
     .is_ms = true},
    {"rlock_last_run_exit_status", "The exit status of that run.", .read = read_exit_status},
    {"rlock_last_success_timestamp_seconds",
     "When the last run with --once-per that succeeded ended, since 1970.", .read = read_succeeded,
     .is_ms = true},
    {"rlock_token", "The last fencing token that was given out.", .read = read_token},
};
