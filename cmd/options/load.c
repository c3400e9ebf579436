/* load.c: options, environment and config files merged.
 *
 * The command line is read first, so that its mistakes are reported whatever the files hold, and
 * the weaker sources afterwards: opt_set() lets none of them replace what a stronger one has set.
 */
#include "options/load.h"

#include <stdlib.h>
#include <string.h>

#include "options/command.h"
#include "options/config.h"
#include "options/lines.h"
#include "options/local_url.h"
#include "options/opt.h"
#include "options/opt_parse.h"
#include "output/out.h"

/* Makes the command of -c. */
static bool read_command(struct settings *settings, struct complaint *why) {
    if (settings->shell_command == NULL)
        return true;
    if (settings->command != NULL)
        return complain(why, EXIT_USAGE,
                        "both -c and a command: give one of the two, and quote all of -c's STRING");
    settings->shell_argv[0] = "/bin/sh";
    settings->shell_argv[1] = "-c";
    settings->shell_argv[2] = (char *)settings->shell_command; /* exec does not write to it */
    settings->command = settings->shell_argv;
    return true;
}

static bool keep_password(struct settings *settings, const char *password, struct complaint *why) {
    settings->password = strdup(password);
    return settings->password != NULL ||
           complain(why, EXIT_SYSTEM, "cannot keep the password: out of memory");
}

/* The first line of a file, or of a pipe such as a shell makes of <(...). False: why names the
 * file, never what is in it. */
static bool read_password_file(struct settings *settings, struct complaint *why) {
    const char *path = settings->password_file, *wrong;
    char by[OPT_ORIGIN_SIZE];
    struct lines lines;
    if (!lines_open(&lines, path, true, &wrong))
        goto bad;
    if (lines_next(&lines, &wrong) && *lines.text != '\0') {
        const bool kept = keep_password(settings, lines.text, why);
        lines_close(&lines);
        return kept;
    }
    if (wrong == NULL)
        wrong = "the first line is empty";
    lines_close(&lines);
bad:
    return complain(why, EXIT_CONFIG, "%s: cannot read the password that %s names: %s", path,
                    opt_origin(opt_find("password-file"), settings, by), wrong);
}

/* A local: server has no password, and a file for the whole fleet may be unreadable to its users.
 */
static bool needs_password(const struct settings *settings) {
    for (size_t i = 0; i < settings->server_count; i++) {
        if (!local_is(settings->servers[i]))
            return true;
    }
    return false;
}

/* The command line, then the environment, where RLOCK_PASSWORD goes before the file, then the
 * files. The file is read only if a server needs it. */
static bool read_password(struct settings *settings, struct complaint *why) {
    const char *password = getenv("RLOCK_PASSWORD");
    if (password != NULL && *password != '\0' && !OPT_IS_GIVEN(settings, password_file))
        return keep_password(settings, password, why);
    return settings->password_file == NULL || !needs_password(settings) ||
           read_password_file(settings, why);
}

/* A handle names the servers where the lock was taken; --server overrides them. */
static bool read_handle_server(struct settings *settings, struct complaint *why) {
    static const struct origin handle = {.source = SOURCE_HANDLE};
    return settings->handle == NULL ||
           opt_set(opt_find("server"), settings, settings->handle->servers, &handle, why);
}

/* An empty variable counts as none, as in `RLOCK_SERVER= rlock …`. */
static bool read_environment(struct settings *settings, struct complaint *why) {
    static const struct origin environment = {.source = SOURCE_ENVIRONMENT};
    const struct opt *row;
    for (size_t i = 0; (row = opt_at(~0U, i)) != NULL; i++) {
        const char *value = row->variable != NULL ? getenv(row->variable) : NULL;
        if (value != NULL && *value != '\0' && !opt_set(row, settings, value, &environment, why))
            return false;
    }
    return settings_job_note(settings) ||
           complain(why, EXIT_SYSTEM, "cannot keep the job's URL: out of memory");
}

/* --log decides how a mistake is reported, even if it stands behind the mistake or in a file. */
static void find_log(struct settings *settings, const struct cmd *cmd, int argc, char **argv) {
    const struct opt *log = opt_find("log");
    opt_parse_only(settings, cmd, log, argc, argv);
    config_find(settings, log);
}

enum settings_outcome settings_load(struct settings *settings, const struct cmd *cmd, int argc,
                                    char **argv, struct complaint *why) {
    *settings = (struct settings){
        .cmd = cmd, .replicas = RLOCK_REPLICAS_AUTO, .tls = RLOCK_TLS_OPTIONS_INIT};
    if (!opt_preset(settings, why))
        return SETTINGS_BAD;
    const enum settings_outcome outcome = opt_parse(settings, cmd, argc, argv, why);
    if (outcome != SETTINGS_OK && outcome != SETTINGS_BAD)
        return outcome;
    const bool good = outcome == SETTINGS_OK && read_command(settings, why) &&
                      settings_check_command_line(settings, cmd, why) &&
                      read_handle_server(settings, why) && config_load(settings, why) &&
                      read_environment(settings, why) && read_password(settings, why) &&
                      settings_check(settings, cmd, why);
    if (!good)
        find_log(settings, cmd, argc, argv);
    return good ? SETTINGS_OK : SETTINGS_BAD;
}
