/* command.c: the command that the settings name. */
#include "hold/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "hold/not_run.h"
#include "output/duration.h"
#include "output/out.h"

static int say_not_started(const struct settings *settings, const char *why) {
    return out_fail(EXIT_SYSTEM, settings->names[0], NULL, "cannot start %s: %s",
                    settings->command[0], why);
}

int command_prepare(struct spawn *spawn, const struct signals *signals,
                    const struct settings *settings) {
    const struct spawn_options options = {
        .argv = settings->command,
        .deadline = deadline_plan(settings->lease_ms, settings->kill_after_ms,
                                  settings->on_lost == ON_LOST_WARN, settings->timeout_ms),
    };
    const char *why;
    if (spawn_prepare(spawn, signals, &options, &why))
        return 0;
    return say_not_started(settings, why);
}

bool command_guard(struct spawn *spawn, const struct settings *settings) {
    if (spawn_guard(spawn))
        return true;
    (void)say_not_started(settings, strerror(errno));
    return false;
}

static int say_not_run(const struct report *report, const struct settings *settings,
                       const char *server) {
    const bool no_start = report->verb == REPORT_NO_START;
    const int status = no_start                   ? EXIT_SYSTEM
                       : report->status == ENOENT ? EXIT_NOTFOUND
                                                  : EXIT_NOEXEC;
    char why[NOT_RUN_SIZE];
    return out_fail(status, settings->names[0], server, "cannot %s %s: %s",
                    no_start ? "start" : "run", settings->command[0],
                    no_start ? strerror(report->status)
                             : not_run_why(why, settings->command[0], report->status));
}

static int say_timed_out(const struct spawn *spawn, const struct settings *settings,
                         const char *server) {
    char limit[DURATION_TEXT_SIZE];
    const int signal = spawn->report.killed ? SIGKILL : SIGTERM;
    out_event(OUT_ERROR, "timeout",
              OUT_FIELDS(OUT_TEXT("name", settings->names[0]), OUT_TEXT("server", server),
                         OUT_NUMBER("timeout_ms", settings->timeout_ms),
                         OUT_NUMBER("ran_ms", spawn_ran_ms(spawn)), OUT_NUMBER("signal", signal)),
              "stopped the command of %s on %s: it ran longer than --timeout %s%s",
              settings->names[0], server, duration_format(limit, settings->timeout_ms),
              spawn->report.killed ? "; SIGTERM did not end it, SIGKILL did" : "");
    return EXIT_TIMEOUT;
}

int command_status(const struct spawn *spawn, const struct settings *settings, const char *server) {
    const struct report *report = &spawn->report;
    if (report->verb != REPORT_ENDED)
        return say_not_run(report, settings, server);
    if (spawn->guardian_lost)
        out_error("the guardian of the command was killed: the command was ended");
    if (report->cause == END_FOR_TIME)
        return say_timed_out(spawn, settings, server);
    if (report->cause == END_FOR_WAITER)
        return EXIT_GAVE_WAY; /* said when it was asked to */
    return WIFSIGNALED(report->status) ? EXIT_BY_SIGNAL + WTERMSIG(report->status)
                                       : WEXITSTATUS(report->status);
}
