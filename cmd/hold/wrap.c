/* wrap.c: the one way through: signals, take, start the command, renew, watch, give back, exit.
 *
 * Calls go down, values come back: the library gets a descriptor that cancels it and gives one that
 * says "lost". No renewal is in flight when the lock is given back: the keeper is joined first. */
#include "hold/wrap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hold/command.h"
#include "hold/take.h"
#include "hold/tell.h"
#include "output/notify.h"
#include "output/out.h"
#include "process/spawn.h"

enum {
    KEEPER_RETRY_MS = 50,
    LISTEN_AFTER_MS =
        1000, /* a command that runs for so long is worth a thread that hears of a break */
    RELEASE_AFTER_LOSS_MS = 1000,
};

struct wrapped {
    const struct settings *settings;
    struct deadline deadline; /* the command's */
    struct signals signals;
    struct taken taken;
    struct spawn spawn;
    rlock_keeper *keeper;  /* NULL: not needed yet, or ended */
    int64_t keeper_due_ms; /* when to start it */
    struct renewals renewals;
    enum rlock_status verdict; /* the keeper's */
    bool lost;                 /* found while the command ran */
};

static int64_t sooner(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static const char *lock_name(const struct wrapped *wrapped) {
    return wrapped->taken.holds[0]->name;
}

/* --- while the command runs ------------------------------------------------------------------ */

/* The keeper begins with its first renewal: a short command never pays for a thread. */
static void start_keeper(struct wrapped *wrapped) {
    const struct settings *settings = wrapped->settings;
    const struct rlock_keeper_options options = {
        .size = sizeof options,
        .grace_ms = deadline_grace_ms(&wrapped->deadline),
        .lease_end_ms = &wrapped->spawn.shared->lease_end_ms,
        .reports = out_tells() || wrapped->renewals.failing_ms > 0,
        .troubles = !settings->quiet || server_is_local(&wrapped->taken.server),
    };
    if (rlock_keeper_start(&wrapped->keeper, wrapped->taken.lock, &options) == RLOCK_OK)
        return;
    struct rlock_renewal failed = {
        .status = RLOCK_SYSTEM,
        .at_ms = rlock_now_ms(),
        .lease_end_ms = rlock_lease_end_ms(wrapped->taken.lock),
    };
    (void)snprintf(failed.why, sizeof failed.why, "%s", rlock_error(wrapped->taken.server.client));
    tell_renewal(&wrapped->renewals, &wrapped->taken, &failed);
    wrapped->keeper_due_ms = rlock_now_ms() + KEEPER_RETRY_MS;
}

static void on_lost(struct wrapped *wrapped) {
    wrapped->verdict = rlock_keeper_stop(wrapped->keeper);
    wrapped->keeper = NULL;
    wrapped->lost = true;
    const bool runs_on = wrapped->settings->warn_on_lost;
    char text[RLOCK_NAME_MAX + 64];
    if (!runs_on) /* first of all: who reads what we say may be slow */
        spawn_stop(&wrapped->spawn);
    tell_lost(&wrapped->taken, rlock_error(wrapped->taken.server.client),
              runs_on ? "the command runs on without it" : "stopping the command");
    (void)snprintf(text, sizeof text, "lost %s; %s", lock_name(wrapped),
                   runs_on ? "the command runs on" : "stopping the command");
    (runs_on ? notify_status : notify_stopping)(text);
}

/* What the keeper has reported, for those who read it. */
static void on_news(struct wrapped *wrapped) {
    const struct rlock_renewal *renewal;
    while ((renewal = rlock_keeper_report(wrapped->keeper)) != NULL) {
        if (renewal->status != RLOCK_OK)
            server_revive(&wrapped->taken.server, 0);
        tell_renewal(&wrapped->renewals, &wrapped->taken, renewal);
    }
}

static bool keeper_to_come(const struct wrapped *wrapped) {
    return wrapped->keeper == NULL && !wrapped->lost && !wrapped->settings->no_renew;
}

static int64_t overdue_at_ms(const struct wrapped *wrapped) {
    return deadline_overdue_at(&wrapped->deadline, rlock_lease_end_ms(wrapped->taken.lock));
}

/* Until the command has ended, or has been ended. */
static void watch(struct wrapped *wrapped) {
    for (;;) {
        const rlock_keeper *keeper = wrapped->keeper;
        const int lost_fd = keeper != NULL ? rlock_keeper_fd(keeper) : -1;
        const int news_fd = keeper != NULL ? rlock_keeper_report_fd(keeper) : -1;
        int64_t until = overdue_at_ms(wrapped);
        if (keeper_to_come(wrapped))
            until = sooner(until, wrapped->keeper_due_ms);
        switch (spawn_watch(&wrapped->spawn, &wrapped->signals, lost_fd, news_fd, until)) {
        case SPAWN_ENDED: return;
        case SPAWN_LOST: on_lost(wrapped); break;
        case SPAWN_NEWS: on_news(wrapped); break;
        case SPAWN_TIME:
            if (rlock_now_ms() >= overdue_at_ms(wrapped)) {
                spawn_kill(&wrapped->spawn);
                return;
            }
            if (keeper_to_come(wrapped) && rlock_now_ms() >= wrapped->keeper_due_ms)
                start_keeper(wrapped);
            break;
        }
    }
}

/* --- afterwards ------------------------------------------------------------------------------ */

/* Was the lease sure until the command's end? Any sign that it was not counts. */
static bool was_lost(struct wrapped *wrapped) {
    const struct spawn *spawn = &wrapped->spawn;
    if (wrapped->keeper != NULL) {
        wrapped->verdict = rlock_keeper_stop(wrapped->keeper);
        wrapped->keeper = NULL;
    }
    return wrapped->lost || wrapped->verdict == RLOCK_LOST ||
           (spawn->report.stopped && !spawn->guardian_lost) ||
           spawn->report.at_ms >= rlock_lease_end_ms(wrapped->taken.lock);
}

static const char *why_lost(const struct wrapped *wrapped) {
    if (wrapped->spawn.guardian_lost)
        return "the guardian of the command was killed";
    if (wrapped->settings->no_renew)
        return "the command took longer than the lease";
    return wrapped->verdict != RLOCK_OK ? rlock_error(wrapped->taken.server.client)
                                        : "the lease could not be renewed in time";
}

static void say_lost(const struct wrapped *wrapped) {
    if (!wrapped->lost)
        tell_lost(&wrapped->taken, why_lost(wrapped), NULL);
    if (wrapped->spawn.report.left)
        out_error("cannot stop all processes of the command; when its lease ends, %s may be taken "
                  "by others while they run",
                  lock_name(wrapped));
}

/* What is left of --min-hold. */
static int64_t keep_ms(const struct wrapped *wrapped) {
    const int64_t end = wrapped->taken.at_ms + wrapped->settings->min_hold_ms;
    const int64_t now = rlock_now_ms();
    return wrapped->settings->min_hold_ms > 0 && end > now ? end - now : 0;
}

/* Gives the lock back. Returns `status`, or EXIT_LOST when it turns out to have been someone's. */
static int release(struct wrapped *wrapped, int64_t keep, int status) {
    const struct taken *taken = &wrapped->taken;
    const int64_t now = rlock_now_ms();
    const int64_t lease_end = rlock_lease_end_ms(taken->lock);
    const int64_t deadline = sooner(lease_end, now + wrapped->settings->io_timeout_ms);
    server_revive(&taken->server, deadline - now);
    const enum rlock_status released = rlock_release(taken->lock, keep, deadline);
    if (released == RLOCK_OK) {
        if (!taken->kind->passed)
            tell_released(taken, keep);
        return status;
    }
    /* Gone before its lease's end: someone took it away, and we can't know when. Later than that it
     * has run out after the command's end, while rlock was stopped: nothing was lost. */
    if (released == RLOCK_LOST && now < lease_end) {
        tell_lost(taken, rlock_error(taken->server.client),
                  "the command ran without it for some time");
        return EXIT_LOST;
    }
    tell_unconfirmed(taken, rlock_error(taken->server.client),
                     lease_end == RLOCK_FOREVER ? "if not, its permits are lost until --resize"
                                                : "it ends with its lease");
    return status;
}

/* What is still ours may go before its lease ends, unless there is somebody of the command's whom
 * it keeps others away from. */
static int end_lost(const struct wrapped *wrapped) {
    say_lost(wrapped);
    if (!wrapped->spawn.report.left)
        (void)!rlock_release(wrapped->taken.lock, 0, rlock_now_ms() + RELEASE_AFTER_LOSS_MS);
    return EXIT_LOST;
}

static int end(struct wrapped *wrapped) {
    const bool ended = wrapped->spawn.report.verb == REPORT_ENDED;
    if (ended && (was_lost(wrapped) || wrapped->spawn.report.left))
        return end_lost(wrapped);
    const int status = command_status(&wrapped->spawn, wrapped->settings,
                                      rlock_client_server(wrapped->taken.server.client));
    return release(wrapped, ended ? keep_ms(wrapped) : 0, status);
}

/* --- the way through ------------------------------------------------------------------------- */

/* A standby that waited for its lock is up now. */
static void say_ready(const struct wrapped *wrapped) {
    char text[RLOCK_NAME_MAX + 16];
    (void)snprintf(text, sizeof text, "%s %s", wrapped->taken.kind->passed ? "passed" : "holding",
                   lock_name(wrapped));
    notify_ready(text);
}

static bool hand_down(const struct wrapped *wrapped) {
    const struct taken *taken = &wrapped->taken;
    struct shared *shared = wrapped->spawn.shared;
    if (holds_hand_down(&taken->around, taken->lock, taken->kind->name,
                        server_for_command(&taken->server, wrapped->settings), shared->environment,
                        sizeof shared->environment))
        return true;
    out_error("cannot set the command's environment: too many names");
    return false;
}

static int run_held(struct wrapped *wrapped) {
    const bool has_command = wrapped->settings->command != NULL;
    tell_acquired(&wrapped->taken);
    const int signal = signals_read(&wrapped->signals);
    if (signal != 0)
        return release(wrapped, 0, EXIT_BY_SIGNAL + signal);
    if (has_command && !hand_down(wrapped))
        return release(wrapped, 0, EXIT_SYSTEM);
    say_ready(wrapped);
    if (!has_command)
        return release(wrapped, 0, 0);
    signals_run(&wrapped->signals);
    spawn_start(&wrapped->spawn, rlock_lease_end_ms(wrapped->taken.lock));
    wrapped->keeper_due_ms = rlock_renewal_due_ms(wrapped->taken.lock);
    if (wrapped->keeper_due_ms != RLOCK_FOREVER)
        wrapped->keeper_due_ms = sooner(wrapped->keeper_due_ms, rlock_now_ms() + LISTEN_AFTER_MS);
    watch(wrapped);
    return end(wrapped);
}

int wrap(struct settings *settings) {
    struct wrapped wrapped = {
        .settings = settings,
        .deadline =
            deadline_of(settings->lease_ms, settings->kill_after_ms, settings->warn_on_lost),
        .verdict = RLOCK_OK,
        .spawn = {.guardian = -1, .socket = -1},
    };
    if (!signals_begin(&wrapped.signals)) {
        out_error("cannot take signals: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    int status = take_prepare(&wrapped.taken, settings);
    if (status == 0 && settings->command != NULL &&
        !command_prepare(&wrapped.spawn, &wrapped.signals, settings, &wrapped.deadline))
        status = EXIT_SYSTEM;
    if (status == 0 && take(&wrapped.taken, settings, &wrapped.signals, &status))
        status = run_held(&wrapped);
    spawn_finish(&wrapped.spawn);
    take_free(&wrapped.taken);
    close(wrapped.signals.fd);
    return status;
}
