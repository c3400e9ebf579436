/* settings.c: options, environment and config files merged, and checked together.
 *
 * The command line is read first, so that its mistakes are reported whatever the files hold, and
 * the weaker sources afterwards: opt_set() lets none of them replace what a stronger one has set.
 */
#include "options/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/command.h"
#include "options/config.h"
#include "options/job.h"
#include "options/lines.h"
#include "options/local_url.h"
#include "options/opt.h"
#include "output/duration.h"
#include "output/out.h"

struct kept_text {
    struct kept_text *next;
    size_t size;
    char text[];
};

bool complain(struct complaint *why, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    why->status = status;
    return false;
}

char *settings_keep(struct settings *settings, const char *text) {
    size_t size = strlen(text) + 1;
    struct kept_text *kept = malloc(sizeof *kept + size);
    if (kept == NULL)
        return NULL;
    *kept = (struct kept_text){.next = settings->kept, .size = size};
    memcpy(kept->text, text, size);
    settings->kept = kept;
    return kept->text;
}

void settings_free(struct settings *settings) {
    while (settings->kept != NULL) {
        struct kept_text *kept = settings->kept;
        settings->kept = kept->next;
        explicit_bzero(kept->text, kept->size);
        free(kept);
    }
    if (settings->password != NULL)
        explicit_bzero(settings->password, strlen(settings->password));
    free(settings->password);
    free(settings->names);
    rlock_handle_free(settings->handle);
    *settings = (struct settings){0};
}

static bool check_name(const struct settings *settings, const struct cmd *cmd,
                       struct complaint *why) {
    if (settings->name_count == 0 && cmd->operand == NULL)
        return complain(why, EXIT_USAGE, "missing --name: give the lock's name with -n NAME");
    if (cmd->one_name && settings->name_count > 1)
        return complain(why, EXIT_USAGE, "several names: 'rlock %s' takes one: give -n once",
                        cmd->name);
    return true;
}

bool settings_want_command(const struct settings *settings, const struct cmd *cmd,
                           struct complaint *why) {
    return settings->command != NULL ||
           complain(why, EXIT_USAGE,
                    "missing command: give one after the options, as in 'rlock %s -n NAME -- "
                    "COMMAND', or with -c STRING",
                    cmd->name);
}

bool settings_check_take(const struct settings *settings, struct complaint *why) {
    return settings->permits == 0 || settings->take <= settings->permits ||
           complain(why, EXIT_USAGE,
                    "cannot use --take '%d': it is more than all permits: give at most %d",
                    settings->take, settings->permits);
}

/* Makes one of -c. */
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

static bool check_command(struct settings *settings, const struct cmd *cmd, struct complaint *why) {
    if (!read_command(settings, why))
        return false;
    switch (cmd->child) {
    case CHILD_NEEDED: return settings_want_command(settings, cmd, why);
    case CHILD_OPTIONAL: break;
    case CHILD_NONE:
        return settings->command == NULL ||
               complain(why, EXIT_USAGE, "unexpected operand: 'rlock %s' runs no command",
                        cmd->name);
    }
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

/* A fleet's password may be closed to who uses a local: server only. */
static bool wants_password(const struct settings *settings) {
    for (size_t i = 0; i < settings->server_count; i++) {
        if (!local_is(settings->servers[i]))
            return true;
    }
    return false;
}

/* The command line, then the environment, where RLOCK_PASSWORD goes before the file, then the
 * files. What is not wanted is not read. */
static bool read_password(struct settings *settings, struct complaint *why) {
    const char *password = getenv("RLOCK_PASSWORD");
    if (password != NULL && *password != '\0' && !OPT_IS_GIVEN(settings, password_file))
        return keep_password(settings, password, why);
    return settings->password_file == NULL || !wants_password(settings) ||
           read_password_file(settings, why);
}

/* A lock is where it was taken, unless the caller knows better. */
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
    return job_note(settings) ||
           complain(why, EXIT_SYSTEM, "cannot keep the job's URL: out of memory");
}

/* At most a third of the lease, so that two thirds are left to renew it in. A weaker source than
 * the lease's gives way, as the default does: a fleet's file need not know of every lease. */
static bool check_kill_after(struct settings *settings, struct complaint *why) {
    const struct origin *from = OPT_FROM(settings, kill_after_ms);
    int64_t third_ms = settings->lease_ms / 3;
    const bool leaseless = (settings->cmd->options & (CMD_LATCH_WAIT | CMD_LATCH_DOWN)) != 0;
    if (leaseless || settings->kill_after_ms <= third_ms)
        return true;
    if (from->source == SOURCE_DEFAULT || from->source < OPT_FROM(settings, lease_ms)->source) {
        settings->kill_after_ms = third_ms;
        return true;
    }
    char text[DURATION_TEXT_SIZE];
    struct given given = {.row = opt_find("kill-after"),
                          .text = duration_format(text, settings->kill_after_ms),
                          .from = from};
    snprintf(given.wrong, sizeof given.wrong,
             "it is more than a third of the lease: give at most %lldms, or a longer lease",
             (long long)third_ms);
    return opt_complain(&given, why);
}

/* Who knows flock(1) may take it for the limit to the wait, and would wait for ever. */
static bool check_timeout(const struct settings *settings, struct complaint *why) {
    return settings->command != NULL || settings->timeout_ms == 0 ||
           !OPT_IS_GIVEN(settings, timeout_ms) ||
           complain(why, EXIT_USAGE,
                    "--timeout without a command: it limits how long a command runs; what limits "
                    "a wait is --wait");
}

/* A certificate is of no use without its key, nor the other way round. */
static bool check_tls(const struct settings *settings, struct complaint *why) {
    const struct rlock_tls_options *tls = &settings->tls;
    const bool has_cert = tls->cert != NULL;
    if (has_cert == (tls->key != NULL))
        return true;
    struct given given = {.row = opt_find(has_cert ? "tls-cert" : "tls-key"),
                          .text = has_cert ? tls->cert : tls->key,
                          .from = has_cert ? OPT_FROM(settings, tls.cert)
                                           : OPT_FROM(settings, tls.key)};
    snprintf(given.wrong, sizeof given.wrong, "%s is missing: give it with --tls-%s",
             has_cert ? "its key" : "the key's certificate", has_cert ? "key" : "cert");
    return opt_complain(&given, why);
}

/* A run is known by its name. */
static bool check_once(const struct settings *settings, struct complaint *why) {
    return settings->once_per_ms == 0 || settings->name_count == 1 ||
           complain(why, EXIT_USAGE,
                    "--once-per and several names: a run is known by one: give -n once, and put "
                    "the other names into an rlock inside");
}

/* To be asked one must listen, and who asks must be there when the lock is. */
static bool check_preemption(const struct settings *settings, struct complaint *why) {
    if (settings->preemptible && settings->no_renew)
        return complain(why, EXIT_USAGE,
                        "--preemptible and --no-renew: only who renews hears that it is asked to "
                        "end: give one of the two");
    return !settings->preempt || settings->wait_ms != 0 ||
           complain(why, EXIT_USAGE,
                    "--preempt and no wait: the holder needs time to end: give it with --wait D");
}

/* Which servers can be a quorum the library says. */
static bool check_servers(const struct settings *settings, const struct cmd *cmd,
                          struct complaint *why) {
    enum {
        WITH_HANDLE = CMD_RENEW | CMD_RELEASE | CMD_CHECK, /* whatever the handle's lock is */
        ON_SEVERAL = CMD_RUN | CMD_READ | CMD_WRITE | CMD_ACQUIRE_RUN | CMD_ACQUIRE_READ |
                     CMD_ACQUIRE_WRITE | WITH_HANDLE | CMD_STATUS | CMD_BREAK | CMD_DOCTOR,
    };
    return settings->server_count < 2 || (cmd->options & ON_SEVERAL) != 0 ||
           complain(why, EXIT_USAGE,
                    "several servers: 'rlock %s' works on one: give one, or use run, read or "
                    "write, which take a lock on a majority of several",
                    cmd->name);
}

/* In what form a mistake is to be said, wherever that stands: behind the mistake, or in a file. */
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
    const bool good = outcome == SETTINGS_OK && check_name(settings, cmd, why) &&
                      check_command(settings, cmd, why) &&
                      (cmd->check == NULL || cmd->check(settings, why)) &&
                      read_handle_server(settings, why) && config_load(settings, why) &&
                      read_environment(settings, why) && read_password(settings, why) &&
                      check_kill_after(settings, why) && check_timeout(settings, why) &&
                      check_tls(settings, why) && check_once(settings, why) &&
                      check_preemption(settings, why) && check_servers(settings, cmd, why);
    if (!good)
        find_log(settings, cmd, argc, argv);
    return good ? SETTINGS_OK : SETTINGS_BAD;
}
