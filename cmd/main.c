/* main.c: finds the command, or the option in its place: --help, --version. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options/opt.h"
#include "options/settings.h"
#include "output/out.h"
#include "process/self.h"
#include "process/signals.h"
#include "rlock.h"
#include "version.h" /* written by version.cmake */

/* The version, and the commit if that was known; of a static program also the libraries that it
 * contains, with their defects. */
static int print_version(void) {
    char text[256];
    snprintf(text, sizeof text, "rlock %s%s\n%s", rlock_version(), RLOCK_COMMIT, RLOCK_LINKED_IN);
    return out_stdout(text);
}

/* Where no options have been read, the config files decide how mistakes are reported. */
static void use_log_of_files(void) {
    struct settings settings = {.cmd = &cmd_rlock};
    struct complaint ignored = {0};
    (void)config_load(&settings, &ignored);
    out_setup(false, false, settings.log == LOG_JSON);
    settings_free(&settings);
}

static int say_missing(const struct cmd *group) {
    const struct cmd *first = &group->group[0];
    use_log_of_files();
    return out_fail(EXIT_USAGE, NULL, NULL,
                    "missing command: give one, as in 'rlock %s %.*s'; see 'rlock help%s%s'",
                    first->name, (int)strcspn(first->synopsis, "\n"), first->synopsis,
                    cmd_gap(group), group->name);
}

static int say_unknown_option(const struct cmd *group, const char *argument) {
    char word[32];
    use_log_of_files();
    snprintf(word, sizeof word, "%.*s", (int)strcspn(argument, "="), argument);
    if (argument[1] != '-') /* a letter is followed by its value, maybe a URL */
        word[word[0] != '\0' && word[1] != '\0' ? 2 : 1] = '\0';
    if (strcmp(word, "-h") == 0)
        return out_fail(EXIT_USAGE, NULL, NULL,
                        "unexpected -h among other arguments: it shows help; a server is given "
                        "behind a command, as in 'rlock %s --server URL'",
                        group->group[0].name);
    struct suggestion suggestion = SUGGESTION_INIT(word);
    suggest_offer(&suggestion, "--help");
    if (group == &cmd_rlock)
        suggest_offer(&suggestion, "--version");
    if (suggestion.best != NULL && word[1] == '-' && opt_find(word + 2) == NULL)
        return out_fail(EXIT_USAGE, NULL, NULL,
                        "unknown option '%s': did you mean '%s'? See 'rlock help%s%s'", word,
                        suggestion.best, cmd_gap(group), group->name);
    return out_fail(EXIT_USAGE, NULL, NULL,
                    "unknown option '%s' in the place of a command: options follow it, as in "
                    "'rlock %s -n NAME'",
                    word, group->group[0].name);
}

/* An option where a command should stand. */
static int run_option(const struct cmd *group, const char *argument, bool is_alone) {
    if (strcmp(argument, "--help") == 0 || (strcmp(argument, "-h") == 0 && is_alone))
        return help_print(group);
    if (strcmp(argument, "--list-commands") == 0)
        return help_list_commands(group);
    if (group == &cmd_rlock && strcmp(argument, "--version") == 0)
        return print_version();
    if (group != &cmd_rlock && strcmp(argument, "--list-options") == 0)
        return help_list_options(group);
    return say_unknown_option(group, argument);
}

/* The settings live here until the command has ended, and are wiped then. */
static int run_configured(const struct cmd *cmd, int argc, char **argv) {
    struct settings settings;
    struct complaint why;
    enum settings_outcome outcome = settings_load(&settings, cmd, argc, argv, &why);
    int status = EXIT_SUCCESS;
    if (outcome == SETTINGS_OK || outcome == SETTINGS_BAD) /* bad: the error may be JSON */
        out_setup(settings.quiet, settings.verbose, settings.log == LOG_JSON);
    switch (outcome) {
    case SETTINGS_OK: status = cmd->exec(&settings); break;
    case SETTINGS_HELP: status = help_print(cmd); break;
    case SETTINGS_LIST: status = help_list_options(cmd); break;
    case SETTINGS_BAD: status = out_fail(why.status, NULL, NULL, "%s", why.text); break;
    }
    settings_free(&settings);
    stream_finish();
    return status;
}

/* If the caller has closed a standard stream, the first descriptor that we open would take its
 * place, and a message would go to the server as a request. So we open /dev/null there,
 * close-on-exec: the command finds the stream closed as before. Standard output is opened for
 * reading only: writing a handle or a table must still fail. Without /dev/null any path will do. */
static bool fill_standard_streams(void) {
    static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd] | O_CLOEXEC) < 0 &&
            open("/", O_PATH | O_CLOEXEC) < 0)
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    const struct cmd *cmd = &cmd_rlock;
    self_note_arguments(argc, argv);
    signals_as_pid_1();
    if (!fill_standard_streams())
        return EXIT_SYSTEM;
    for (; cmd->group != NULL; argc--, argv++) {
        if (argc < 2)
            return say_missing(cmd);
        if (argv[1][0] == '-')
            return run_option(cmd, argv[1], argc == 2);
        const struct cmd *group = cmd;
        cmd = cmd_find(group, argv[1]);
        if (cmd == NULL) {
            use_log_of_files();
            return cmd_say_unknown(group, argv[1]);
        }
    }
    if (cmd->raw == NULL)
        return signals_end(run_configured(cmd, argc, argv));
    use_log_of_files();
    return cmd->raw(argc, argv);
}
