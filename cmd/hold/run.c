/* run.c: the one way through: signals, acquire, start the command, renew, watch, release, exit.
 *
 * Calls go down, values come back: the library gets a descriptor that cancels it and gives one that
 * says "lost". No renewal is in flight when the lock is given back: the keeper is joined first. */
#include "hold/acquired.h"

#include <stdio.h>
#include <unistd.h>

#include "output/out.h"
#include "process/spawn.h"

struct run {
    const struct settings *settings;
    struct signals signals;
    struct acquired acquired;
    struct spawn spawn;
    rlock_keeper *keeper; /* NULL: there is nothing to renew, or it has ended */
    struct renewals renewals;
    enum rlock_status verdict; /* the keeper's */
    bool lost;                 /* found while the command ran */
};

static void tell_systemd(const struct run *run, const char *state, const char *before,
                         const char *after) {
    char text[RLOCK_NAME_MAX + 64];
    (void)snprintf(text, sizeof text, "%s%s%s", before, acquire_name(&run->acquired), after);
    notify(state, text);
}

/* --- while the command runs ------------------------------------------------------------------ */

static void stop_keeper(struct run *run) {
    if (run->keeper != NULL)
        run->verdict = rlock_keeper_stop(run->keeper);
    run->keeper = NULL;
}

static void on_lost(struct run *run) {
    stop_keeper(run);
    run->lost = true;
    const bool runs_on = run->settings->run.on_lost == ON_LOST_WARN;
    if (!runs_on) /* before any message: writing may take time */
        spawn_stop(&run->spawn, END_FOR_LEASE);
    event_lost(&run->acquired, rlock_error(run->acquired.server.client),
               runs_on ? "the command runs on without it" : "stopping the command");
    tell_systemd(run, runs_on ? "" : NOTIFY_STOPPING, "lost ",
                 runs_on ? "; the command runs on" : "; stopping the command");
}

/* A waiter asks for the lock, again and again, and we have --preemptible: stop the command while
 * the lease is sure; the lock is given back when all of the command has ended. */
static void on_preempted(struct run *run, const struct rlock_renewal *report) {
    if (report->status != RLOCK_OK) {
        out_warn("no waiter can ask for %s: cannot listen to rlock_break:*: %s",
                 acquire_name(&run->acquired), report->why);
        return;
    }
    if (run->spawn.stop_cause == END_FOR_WAITER || run->lost)
        return;
    spawn_stop(&run->spawn, END_FOR_WAITER);
    event_preempted(&run->acquired, report->why);
    tell_systemd(run, NOTIFY_STOPPING, "stopping the command of ", " for a waiter");
}

static void on_reports(struct run *run) {
    const struct rlock_renewal *renewal;
    while ((renewal = rlock_keeper_report(run->keeper)) != NULL) {
        if (renewal->preempted) {
            on_preempted(run, renewal);
            continue;
        }
        if (renewal->status != RLOCK_OK)
            server_revive(&run->acquired.server, 0);
        event_renewal(&run->renewals, &run->acquired, renewal);
    }
}

/* Until the command has ended, or has been ended. */
static void watch(struct run *run) {
    for (;;) {
        const rlock_keeper *keeper = run->keeper;
        const int lost_fd = keeper != NULL ? rlock_keeper_fd(keeper) : -1;
        const int report_fd = keeper != NULL ? rlock_keeper_report_fd(keeper) : -1;
        switch (spawn_watch(&run->spawn, &run->signals, lost_fd, report_fd)) {
        case SPAWN_ENDED: return;
        case SPAWN_LOST: on_lost(run); break;
        case SPAWN_REPORT: on_reports(run); break;
        }
    }
}

/* --- afterwards ------------------------------------------------------------------------------ */

/* Whether there is any sign that the lease was not sure until the command's end. */
static bool was_lost(const struct run *run) {
    const struct spawn *spawn = &run->spawn;
    return run->lost || run->verdict == RLOCK_LOST || spawn->report.cause == END_FOR_LEASE ||
           spawn->report.at_ms >= rlock_lease_end_ms(run->acquired.lock);
}

static const char *why_lost(const struct run *run) {
    if (run->spawn.guardian_lost)
        return "the guardian of the command was killed";
    if (run->spawn.report.left && run->spawn.report.cause == END_FOR_TIME)
        return "--timeout could not end the command";
    if (run->spawn.report.left && run->spawn.report.cause == END_FOR_WAITER)
        return "the command could not be ended for a waiter";
    if (run->settings->run.no_renew)
        return "the command took longer than the lease";
    return run->verdict != RLOCK_OK ? rlock_error(run->acquired.server.client)
                                    : "the lease could not be renewed in time";
}

static void say_lost(const struct run *run) {
    if (!run->lost)
        event_lost(&run->acquired, why_lost(run), NULL);
    if (run->spawn.report.left)
        out_error("cannot stop all processes of the command; when its lease ends, %s may be taken "
                  "by others while they run",
                  acquire_name(&run->acquired));
}

/* What is left of --min-hold, which a config file may want also of what has no lease. */
static int64_t min_hold_left_ms(const struct run *run) {
    const int64_t left = run->acquired.at_ms + run->settings->lock.min_hold_ms - rlock_now_ms();
    return left > 0 && rlock_renewal_due_ms(run->acquired.lock) != RLOCK_FOREVER ? left : 0;
}

/* Gives the lock back, if there is one. Returns `status`, or EXIT_LOST if it was not ours any more.
 */
static int release(struct run *run, int64_t keep_ms, int status) {
    const struct acquired *acquired = &run->acquired;
    const int64_t now = rlock_now_ms();
    if (acquired->lock == NULL)
        return status;
    const int64_t lease_end = rlock_lease_end_ms(acquired->lock);
    const enum rlock_status released = acquire_give_back(acquired, keep_ms, false);
    if (released == RLOCK_OK) {
        if (!acquired->kind->passed)
            event_released(acquired, keep_ms);
        return status;
    }
    /* Gone before its lease's end: it was taken away, and we can't know when. After that end it has
     * expired since the command ended, while rlock was stopped: nothing was lost. */
    if (released == RLOCK_LOST && now < lease_end) {
        event_lost(acquired, rlock_error(acquired->server.client),
                   "the command ran without it for some time");
        return EXIT_LOST;
    }
    event_unconfirmed(acquired);
    return status;
}

static int status_of(const struct run *run) {
    return command_status(&run->spawn, run->settings, acquire_name(&run->acquired),
                          rlock_client_server(run->acquired.server.client));
}

/* Nothing was held, so nothing was lost. */
static int end_counted(const struct run *run) {
    const int status = status_of(run);
    if (status != 0 && !run->settings->run.always)
        return status;
    server_revive(&run->acquired.server,
                  run->settings->server.io_timeout_ms); /* it may have died since */
    const int failure =
        counter_down(&run->acquired.server, run->settings, spawn_ran_ms(&run->spawn));
    return status != 0 ? status : failure;
}

/* Release early what we still hold, unless processes of the command survived: then the rest of the
 * lease protects others from them. */
static int end_lost(const struct run *run) {
    say_lost(run);
    if (run->spawn.report.left)
        return EXIT_LOST;
    if (run->spawn.report.cause == END_FOR_TIME)
        (void)status_of(run); /* says so */
    (void)acquire_give_back(&run->acquired, 0, true);
    return EXIT_LOST;
}

static int end(struct run *run) {
    if (run->acquired.kind->counted)
        return end_counted(run);
    const bool ended = run->spawn.report.verb == REPORT_ENDED;
    stop_keeper(run);
    run->acquired.ran_ms = spawn_ran_ms(&run->spawn);
    if (ended && (was_lost(run) || run->spawn.report.left))
        return end_lost(run);
    const int status = status_of(run);
    rlock_note_run(run->acquired.lock, status, ended ? run->acquired.ran_ms : 0);
    return release(run, ended ? min_hold_left_ms(run) : 0, status);
}

/* --- the way through ------------------------------------------------------------------------- */

static bool export_environment(const struct run *run) {
    const struct acquired *acquired = &run->acquired;
    const char *name = acquire_name(acquired), *kind = acquired->kind->name;
    const char *server = server_for_command(&acquired->server);
    char *list = run->spawn.plan.shared->environment;
    if (acquired->kind->counted
            ? environment_write_name(name, kind, server, list, ENVIRONMENT_SIZE)
            : environment_write(&acquired->enclosing, acquired->lock, kind,
                                server_shown(&acquired->server), server, list, ENVIRONMENT_SIZE))
        return true;
    (void)out_fail(EXIT_SYSTEM, name, NULL, "cannot set the command's environment: too many names");
    return false;
}

/* Before the command starts, which may use up the threads and descriptors that are left. */
static bool start_keeper(struct run *run) {
    const struct settings *settings = run->settings;
    const struct rlock_keeper_options options = {
        .size = sizeof options,
        .grace_ms = run->spawn.plan.deadline.grace_ms,
        .lease_end_ms = &run->spawn.plan.shared->lease_end_ms,
        .report_renewals = out_tells(),
        .report_failures = !settings->quiet || server_is_local(&run->acquired.server),
    };
    if (run->acquired.lock == NULL)
        return true;
    spawn_set_lease_end(&run->spawn, rlock_lease_end_ms(run->acquired.lock));
    if (settings->run.no_renew || rlock_renewal_due_ms(run->acquired.lock) == RLOCK_FOREVER ||
        rlock_keeper_start(&run->keeper, run->acquired.lock, &options) == RLOCK_OK)
        return true;
    (void)out_fail(EXIT_SYSTEM, acquire_name(&run->acquired), NULL, "cannot keep %s: %s",
                   acquire_name(&run->acquired), rlock_error(run->acquired.server.client));
    return false;
}

/* In this order: the guardian is forked while there is one thread, and the keeper's thread inherits
 * the signal mask that is to hold while the command runs. */
static bool prepare_command(struct run *run) {
    if (!export_environment(run) || !command_fork_guardian(&run->spawn, run->settings))
        return false;
    signals_run(&run->signals);
    return start_keeper(run);
}

/* A latch that opens is deleted: nobody can tell it from one that was never set. */
static void warn_of_no_latch(const struct run *run) {
    if (run->acquired.kind->passed && !run->acquired.announced && !run->settings->lock.must_exist)
        out_warn("there is no latch %s: it has opened, or was not set yet, which counts as open; "
                 "--must-exist waits for it to be set",
                 acquire_name(&run->acquired));
}

static int run_command(struct run *run) {
    const bool has_command = run->settings->run.command != NULL;
    const bool is_held = run->acquired.lock != NULL;
    if (is_held) {
        event_acquired(&run->acquired);
        warn_of_no_latch(run);
    }
    const int signal = signals_read(&run->signals);
    if (signal != 0)
        return release(run, 0, EXIT_BY_SIGNAL + signal);
    if (has_command && !prepare_command(run))
        return release(run, 0, EXIT_SYSTEM);
    if (is_held) /* a standby that waited for its lock is up now */
        tell_systemd(run, NOTIFY_READY, run->acquired.kind->passed ? "passed " : "holding ", "");
    if (!has_command)
        return release(run, 0, 0);
    if (spawn_start(&run->spawn))
        watch(run);
    /* What the terminal has sent so far is the command's; from here on it is for rlock, and for the
     * loop of a shell around it. */
    (void)signals_take_key(&run->signals);
    const int status = end(run);
    const int key = signals_take_key(&run->signals);
    return status == 0 && key != 0 ? EXIT_BY_SIGNAL + key : status;
}

int run_exec(struct settings *settings) {
    struct run run = {
        .settings = settings,
        .verdict = RLOCK_OK,
        .spawn = {.guardian = -1, .socket = -1},
    };
    struct spawn *const spawn = settings->run.command != NULL ? &run.spawn : NULL;
    int status = acquire_signals(&run.signals);
    if (status != 0)
        return status;
    status = acquire_prepare(&run.acquired, settings);
    if (status == 0 && spawn != NULL)
        status = command_prepare(spawn, &run.signals, settings);
    if (status == 0)
        status = acquire_lock(&run.acquired, &run.signals, spawn);
    if (status == ACQUIRED)
        status = run_command(&run);
    spawn_finish(&run.spawn);
    acquire_free(&run.acquired);
    close(run.signals.fd);
    return status;
}
