/* command.c: the command that the settings name. */
#include "hold/acquired.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/duration.h"
#include "output/out.h"

enum {
    WHY_SIZE = 512,
    LINE_SIZE = 256, /* as much of a first line as the kernel reads */
};

static int say_not_started(const struct settings *settings, const char *why) {
    return out_fail(EXIT_SYSTEM, settings->names[0], NULL, "cannot start %s: %s",
                    settings->run.command[0], why);
}

int command_prepare(struct spawn *spawn, const struct signals *signals,
                    const struct settings *settings) {
    const struct deadline_plan deadline =
        deadline_plan(settings->lock.lease_ms, settings->run.kill_after_ms,
                      settings->run.on_lost == ON_LOST_WARN, settings->run.timeout_ms);
    const char *why;
    if (spawn_prepare(spawn, signals, settings->run.command, deadline, &why))
        return 0;
    return say_not_started(settings, why);
}

bool command_fork_guardian(struct spawn *spawn, const struct settings *settings) {
    if (spawn_fork_guardian(spawn))
        return true;
    (void)say_not_started(settings, strerror(errno));
    return false;
}

/* --- a command that could not be run --------------------------------------------------------- */

static bool is_executable(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* The file that the word stands for, as execvp(3) looks for it. False: there is none. */
static bool find_file(char path[PATH_MAX], const char *command) {
    const char *places = getenv("PATH");
    if (strchr(command, '/') != NULL) {
        (void)snprintf(path, PATH_MAX, "%s", command);
        return access(path, F_OK) == 0;
    }
    for (const char *place = places != NULL ? places : "/bin:/usr/bin";; place++) {
        const int length = (int)strcspn(place, ":");
        const int n =
            snprintf(path, PATH_MAX, "%.*s%s%s", length, place, length > 0 ? "/" : "", command);
        if (n > 0 && n < PATH_MAX && is_executable(path))
            return true;
        place += length;
        if (*place == '\0')
            return false;
    }
}

/* What "#!" names; "": it is no script. */
static void read_interpreter(char interpreter[LINE_SIZE], const char *path) {
    char line[LINE_SIZE];
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const bool is_file = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    const ssize_t length = is_file ? read(fd, line, sizeof line - 1) : -1;
    if (fd >= 0)
        close(fd);
    line[length > 0 ? length : 0] = '\0';
    const bool is_script = strncmp(line, "#!", 2) == 0;
    const char *name = is_script ? line + 2 + strspn(line + 2, " \t") : line;
    (void)snprintf(interpreter, LINE_SIZE, "%.*s", is_script ? (int)strcspn(name, " \t\n") : 0,
                   name);
}

static void explain_missing(char text[WHY_SIZE], const char *command) {
    char path[PATH_MAX], interpreter[LINE_SIZE] = "";
    const bool found = find_file(path, command);
    if (found)
        read_interpreter(interpreter, path);
    if (found && *interpreter != '\0' && interpreter[strlen(interpreter) - 1] == '\r')
        (void)snprintf(text, WHY_SIZE,
                       "its first line ends with a carriage return, which counts as part of the "
                       "interpreter's name: save it with Unix line ends");
    else if (found && *interpreter != '\0')
        (void)snprintf(text, WHY_SIZE, "its interpreter %s was not found", interpreter);
    else if (found)
        (void)snprintf(
            text, WHY_SIZE,
            "the dynamic loader it needs was not found: it was built for another system");
    else if (strpbrk(command, " \t\n") != NULL)
        (void)snprintf(text, WHY_SIZE, "command not found: give it as separate words, or with -c");
    else
        (void)snprintf(text, WHY_SIZE, "%s",
                       strchr(command, '/') != NULL ? "no such file" : "command not found");
}

static void explain_forbidden(char text[WHY_SIZE], const char *command) {
    char path[PATH_MAX], interpreter[LINE_SIZE] = "";
    struct stat about;
    const bool found = find_file(path, command) && stat(path, &about) == 0;
    const bool executable = found && is_executable(path);
    if (executable)
        read_interpreter(interpreter, path);
    if (*interpreter != '\0')
        (void)snprintf(text, WHY_SIZE, "permission denied for its interpreter %s", interpreter);
    else
        (void)snprintf(text, WHY_SIZE, "%s",
                       found && S_ISDIR(about.st_mode) ? "it is a directory"
                       : found && !executable          ? "permission denied: it is not executable"
                                                       : "permission denied");
}

/* What execvp(3) failed with, in words that say what to do. Looks at the file again: errno is the
 * same where a script's interpreter is missing. Returns text. */
static const char *why_not_run(char text[WHY_SIZE], const char *command, int why) {
    if (why == ENOENT)
        explain_missing(text, command);
    else if (why == EACCES)
        explain_forbidden(text, command);
    else {
        (void)snprintf(text, WHY_SIZE, "%s", strerror(why));
        text[0] = (char)tolower((unsigned char)text[0]);
    }
    return text;
}

static int say_not_run(const struct report *report, const struct settings *settings,
                       const char *name, const char *server) {
    const bool no_start = report->verb == REPORT_NO_START;
    const int status = no_start                   ? EXIT_SYSTEM
                       : report->status == ENOENT ? EXIT_NOTFOUND
                                                  : EXIT_NOEXEC;
    const char *command = settings->run.command[0];
    char why[WHY_SIZE];
    return out_fail(status, name, server, "cannot %s %s: %s", no_start ? "start" : "run",
                    *command != '\0' ? command : "''",
                    no_start ? strerror(report->status)
                             : why_not_run(why, command, report->status));
}

/* --- its end ---------------------------------------------------------------------------------- */

static int say_timed_out(const struct spawn *spawn, const struct settings *settings,
                         const char *name, const char *server) {
    char limit[DURATION_TEXT_SIZE];
    const int signal = spawn->report.killed ? SIGKILL : SIGTERM;
    out_event(OUT_ERROR, "timeout",
              OUT_FIELDS(OUT_TEXT("name", name), OUT_TEXT("server", server),
                         OUT_NUMBER("timeout_ms", settings->run.timeout_ms),
                         OUT_NUMBER("ran_ms", spawn_ran_ms(spawn)), OUT_NUMBER("signal", signal)),
              "stopped the command of %s on %s: it ran longer than --timeout %s%s", name, server,
              duration_format(limit, settings->run.timeout_ms),
              spawn->report.killed ? "; SIGTERM did not end it, SIGKILL did" : "");
    return EXIT_TIMEOUT;
}

int command_status(const struct spawn *spawn, const struct settings *settings, const char *name,
                   const char *server) {
    const struct report *report = &spawn->report;
    if (report->verb != REPORT_ENDED)
        return say_not_run(report, settings, name, server);
    if (spawn->guardian_lost)
        out_error("the guardian of the command was killed: the command was ended");
    if (report->cause == END_FOR_TIME)
        return say_timed_out(spawn, settings, name, server);
    if (report->cause == END_FOR_WAITER)
        return EXIT_GAVE_WAY; /* said when it was asked to */
    return WIFSIGNALED(report->status) ? EXIT_BY_SIGNAL + WTERMSIG(report->status)
                                       : WEXITSTATUS(report->status);
}
