/* child.c: the command that the settings name. */
#include "child.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "out.h"

bool child_prepare(struct spawn *spawn, const struct signals *signals,
                   const struct settings *settings, int64_t margin_ms) {
    const struct spawn_options options = {
        .argv = settings->command,
        .kill_after_ms = settings->kill_after_ms,
        .margin_ms = margin_ms,
        .warn_only = settings->warn_on_lost,
    };
    if (spawn_prepare(spawn, signals, &options))
        return true;
    out_error("cannot start %s: %s", settings->command[0], strerror(errno));
    return false;
}

static int say_not_run(const struct report *report, const char *command) {
    if (report->verb == REPORT_NO_FORK) {
        out_error("cannot start %s: %s", command, strerror(report->status));
        return EXIT_SYSTEM;
    }
    out_error("cannot run %s: %s", command, strerror(report->status));
    return report->status == ENOENT ? EXIT_NOTFOUND : EXIT_NOEXEC;
}

int child_status(const struct spawn *spawn, const struct settings *settings) {
    const struct report *report = &spawn->report;
    if (report->verb != REPORT_ENDED)
        return say_not_run(report, settings->command[0]);
    if (spawn->guardian_lost)
        out_error("the guardian of the command was killed: the command was ended");
    return WIFSIGNALED(report->status) ? 128 + WTERMSIG(report->status)
                                       : WEXITSTATUS(report->status);
}
