/* figures.c: what can be said of a lock in numbers. */
#include "report/status.h"

#include <string.h>

#define FIELD(name) .field = offsetof(struct figures, name)

static bool is_shared(const rlock_view *view) {
    return view->kind != NULL &&
           (strcmp(view->kind, "read") == 0 || strcmp(view->kind, "write") == 0);
}

/* Numbers that a view does not know are negative. */
static int64_t known(int64_t number) {
    return number >= 0 ? number : FIGURE_NONE;
}

static int64_t sooner(int64_t a, int64_t b) {
    return b == FIGURE_NONE || (a != FIGURE_NONE && a < b) ? a : b;
}

/* Times are the server's: so is the present. */
static int64_t age_ms(const rlock_view *view, int64_t since_ms) {
    if (since_ms == FIGURE_NONE || view->as_of_ms < 0)
        return FIGURE_NONE;
    return view->as_of_ms > since_ms ? view->as_of_ms - since_ms : 0;
}

static void add_holders(struct figures *out, const rlock_view *view) {
    bool endless = false;
    int64_t readers = 0, kept = 0;
    for (size_t i = 0; i < view->holder_count; i++) {
        const struct rlock_view_holder *holder = &view->holders[i];
        readers += !holder->writes;
        kept += holder->kept;
        endless = endless || holder->ttl_ms < 0;
        out->since_ms = sooner(out->since_ms, known(holder->since_ms));
        out->ttl_ms = holder->ttl_ms > out->ttl_ms ? holder->ttl_ms : out->ttl_ms;
    }
    out->ttl_ms = endless ? FIGURE_NONE : out->ttl_ms;
    out->holders = view->count < 0 ? (int64_t)view->holder_count : FIGURE_NONE; /* a latch */
    out->readers = is_shared(view) ? readers : FIGURE_NONE;
    out->kept = view->holder_count > 0 ? kept : FIGURE_NONE;
    out->held_ms = age_ms(view, out->since_ms);
}

static void add_last_run(struct figures *out, const struct rlock_view_run *run) {
    out->ended_ms = known(run->ended_ms);
    out->took_ms = known(run->took_ms);
    out->exit_status = known(run->exit_status);
    out->succeeded_ms = known(run->succeeded_ms);
}

struct figures figures_of(const rlock_view *view) {
    static const struct rlock_view_run none = {
        .ended_ms = -1, .took_ms = -1, .exit_status = -1, .succeeded_ms = -1};
    struct figures out = {.held = view->held,
                          .waiting = (int64_t)view->waiter_count,
                          .since_ms = FIGURE_NONE,
                          .ttl_ms = FIGURE_NONE,
                          .permits = known(view->permits_total),
                          .available = view->permits_available, /* INT64_MIN for none, too */
                          .remaining = known(view->count),
                          .token = known(view->token),
                          .skips = view->skips > 0 ? view->skips : FIGURE_NONE};
    int64_t waits_since_ms = FIGURE_NONE;
    for (size_t i = 0; i < view->waiter_count; i++)
        waits_since_ms = sooner(waits_since_ms, known(view->waiters[i].since_ms));
    out.waited_ms = age_ms(view, waits_since_ms);
    add_holders(&out, view);
    add_last_run(&out, view->last_run != NULL ? view->last_run : &none);
    return out;
}

const struct figure figure_rows[FIGURES] = {
    {"rlock_held", "Whether the lock is held (1) or free (0).", FIELD(held)},
    {"rlock_holders", "How many hold it.", FIELD(holders)},
    {"rlock_readers", "How many hold it to read.", FIELD(readers)},
    {"rlock_kept", "How many of its holders are done with it, and --min-hold keeps it.",
     FIELD(kept)},
    {"rlock_waiting", "How many wait for it.", FIELD(waiting)},
    {"rlock_held_since_timestamp_seconds",
     "When the first of its holders took it, since 1970, by the server's clock.", FIELD(since_ms),
     .is_ms = true},
    {"rlock_held_seconds", "How long the first of its holders has held it.", FIELD(held_ms),
     .is_ms = true},
    {"rlock_waiting_seconds", "How long the first of its waiters has waited.", FIELD(waited_ms),
     .is_ms = true},
    {"rlock_ttl_seconds", "How long until it frees itself unless it is renewed.", FIELD(ttl_ms),
     .is_ms = true},
    {"rlock_permits", "How many permits there are in all.", FIELD(permits)},
    {"rlock_permits_available", "How many permits are available.", FIELD(available)},
    {"rlock_latch_remaining", "How many count-downs are left.", FIELD(remaining)},
    {"rlock_last_run_timestamp_seconds",
     "When the last run with --once-per or --once-key ended, since 1970, by the server's clock.",
     FIELD(ended_ms), .is_ms = true},
    {"rlock_last_run_duration_seconds", "How long that run took.", FIELD(took_ms), .is_ms = true},
    {"rlock_last_run_exit_status", "The exit status of that run.", FIELD(exit_status)},
    {"rlock_last_success_timestamp_seconds",
     "When the last such run that succeeded ended, since 1970.", FIELD(succeeded_ms),
     .is_ms = true},
    {"rlock_skips_in_a_row", "How often in a row it was not acquired, by --max-skips.",
     FIELD(skips)},
    {"rlock_token", "The last fencing token that was given out.", FIELD(token)},
};
