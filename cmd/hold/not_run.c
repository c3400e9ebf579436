/* not_run.c: why a command could not be run, in words that say what to do. */
#include "hold/not_run.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_SIZE = 256 }; /* as much of a first line as the kernel reads */

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

static void explain_missing(char text[NOT_RUN_SIZE], const char *command) {
    char path[PATH_MAX], interpreter[LINE_SIZE] = "";
    const bool found = find_file(path, command);
    if (found)
        read_interpreter(interpreter, path);
    if (found && *interpreter != '\0' && interpreter[strlen(interpreter) - 1] == '\r')
        (void)snprintf(text, NOT_RUN_SIZE,
                       "its first line ends with a carriage return, which counts as part of the "
                       "interpreter's name: save it with Unix line ends");
    else if (found && *interpreter != '\0')
        (void)snprintf(text, NOT_RUN_SIZE, "its interpreter %s was not found", interpreter);
    else if (found)
        (void)snprintf(
            text, NOT_RUN_SIZE,
            "the dynamic loader it needs was not found: it was built for another system");
    else if (strpbrk(command, " \t\n") != NULL)
        (void)snprintf(text, NOT_RUN_SIZE,
                       "command not found: give it as separate words, or with -c");
    else
        (void)snprintf(text, NOT_RUN_SIZE, "%s",
                       strchr(command, '/') != NULL ? "no such file" : "command not found");
}

static void explain_forbidden(char text[NOT_RUN_SIZE], const char *command) {
    char path[PATH_MAX], interpreter[LINE_SIZE] = "";
    struct stat about;
    const bool found = find_file(path, command) && stat(path, &about) == 0;
    const bool executable = found && is_executable(path);
    if (executable)
        read_interpreter(interpreter, path);
    if (*interpreter != '\0')
        (void)snprintf(text, NOT_RUN_SIZE, "permission denied for its interpreter %s", interpreter);
    else
        (void)snprintf(text, NOT_RUN_SIZE, "%s",
                       found && S_ISDIR(about.st_mode) ? "it is a directory"
                       : found && !executable          ? "permission denied: it is not executable"
                                                       : "permission denied");
}

const char *not_run_why(char text[NOT_RUN_SIZE], const char *command, int why) {
    if (why == ENOENT)
        explain_missing(text, command);
    else if (why == EACCES)
        explain_forbidden(text, command);
    else {
        (void)snprintf(text, NOT_RUN_SIZE, "%s", strerror(why));
        text[0] = (char)tolower((unsigned char)text[0]);
    }
    return text;
}
