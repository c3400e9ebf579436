/* command.c: the command that the settings name. */
#include "hold/command.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "hold/not_run.h"
#include "output/out.h"

int command_prepare(struct spawn *spawn, const struct signals *signals,
                    const struct settings *settings, struct deadline deadline) {
    const struct spawn_options options = {.argv = settings->command, .deadline = deadline};
    const char *why;
    if (spawn_prepare(spawn, signals, &options, &why))
        return 0;
    out_error("cannot start %s: %s", settings->command[0], why);
    return EXIT_SYSTEM;
}

static int say_not_run(const struct report *report, const struct settings *settings,
                       const char *server) {
    const bool no_start = report->verb == REPORT_NO_START;
    const int status = no_start                   ? EXIT_SYSTEM
                       : report->status == ENOENT ? EXIT_NOTFOUND
                                                  : EXIT_NOEXEC;
    const struct out_field fields[] = {OUT_TEXT("name", settings->names[0]),
                                       OUT_TEXT("server", server),
                                       OUT_NUMBER("exit_status", status)};
    char why[NOT_RUN_SIZE];
    out_event(OUT_ERROR, "failed", fields, sizeof fields / sizeof fields[0], "cannot %s %s: %s",
              no_start ? "start" : "run", settings->command[0],
              no_start ? strerror(report->status)
                       : not_run_why(why, settings->command[0], report->status));
    return status;
}

int command_status(const struct spawn *spawn, const struct settings *settings, const char *server) {
    const struct report *report = &spawn->report;
    if (report->verb != REPORT_ENDED)
        return say_not_run(report, settings, server);
    if (spawn->guardian_lost)
        out_error("the guardian of the command was killed: the command was ended");
    return WIFSIGNALED(report->status) ? EXIT_BY_SIGNAL + WTERMSIG(report->status)
                                       : WEXITSTATUS(report->status);
}
