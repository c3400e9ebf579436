/* opt.c: the options as rows of data. They feed parsing, help, config files and completions. */
#include "opt.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "nearest.h"
#include "opt_value.h"
#include "out.h"
#include "rlock.h"

#define ALL_COMMANDS (~0U)
#define FIELD(name)  offsetof(struct settings, name)

/* To add an option: a row here, a field and a setting in settings.h, and a setter if none of
 * opt_value.c fits. The drift tests then ask for the man page and the completions.
 * A row reads as what help shows, who has it, and what it sets. */
/* clang-format off */
static const struct opt rows[] = {
    {"name", 'n', "NAME", NULL, "the lock's name; given several times: all of them, or none",
     .commands = CMD_RUN, .key = SETTING_NAME, .set = set_name},
    {"server", 's', "URL", "redis://127.0.0.1:6379",
     "where the lock lives: redis://, unix:// or local: for a server of this machine's own",
     .commands = CMD_RUN, .in_file = true, .secret = true,
     .key = SETTING_SERVER, .set = set_server},
    {"wait", 'w', "D", "forever", "wait at most D for the lock; 0: do not wait",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_WAIT, .set = set_wait, .offset = FIELD(wait_ms)},
    {"no-wait", 'x', NULL, NULL, "the same as --wait 0",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_WAIT, .set = set_no_wait},
    {"lease", 'l', "D", "30s",
     "lease that the server keeps, renewed every third of it; 100ms to 7d",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_LEASE, .set = set_duration, .offset = FIELD(lease_ms),
     .min = RLOCK_LEASE_MIN_MS, .max = RLOCK_LEASE_MAX_MS},
    {"no-renew", 0, NULL, NULL, "do not renew: the command has at most one lease to finish",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_NO_RENEW, .set = set_flag, .offset = FIELD(no_renew)},
    {"kill-after", 0, "D", "5s",
     "SIGKILL this long after SIGTERM when the lease is being lost; at most a third of the lease",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_KILL_AFTER, .set = set_duration, .offset = FIELD(kill_after_ms)},
    {"on-lost", 0, "stop|warn", "stop", "what happens to the command when the lease is lost",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_ON_LOST, .set = set_on_lost},
    {"min-hold", 0, "D", "0", "keep the lock at least D, even when the command ends sooner",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_MIN_HOLD, .set = set_duration, .offset = FIELD(min_hold_ms)},
    {"conflict-exit-code", 'E', "N", "75", "exit status when the lock was not acquired in time",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_CONFLICT_EXIT_CODE, .set = set_number, .offset = FIELD(conflict_exit_code),
     .max = 255},
    {"connect-timeout", 0, "D", "5s", "how long to try to reach the server",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_CONNECT_TIMEOUT, .set = set_duration, .offset = FIELD(connect_timeout_ms),
     .min = 1},
    {"io-timeout", 0, "D", "5s", "how long to wait for one reply",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_IO_TIMEOUT, .set = set_duration, .offset = FIELD(io_timeout_ms), .min = 1},
    {"command", 'c', "STRING", NULL, "run STRING by /bin/sh -c instead of COMMAND",
     .commands = CMD_RUN, .key = SETTING_COMMAND, .set = set_command},
    {"quiet", 'q', NULL, NULL, "only errors on standard error",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_QUIET, .set = set_flag, .offset = FIELD(quiet)},
    {"verbose", 'v', NULL, NULL, "more on standard error",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_VERBOSE, .set = set_verbose},
    {"log", 0, "text|json", "text", "json: one JSON object a line on standard error",
     .commands = CMD_RUN, .in_file = true,
     .key = SETTING_LOG, .set = set_log},
    {"help", 'h', NULL, NULL, "show this help",
     .commands = ALL_COMMANDS, .asks = SETTINGS_HELP},
    {"list-options", 0, NULL, NULL, "list the options for programs",
     .commands = ALL_COMMANDS, .hidden = true, .asks = SETTINGS_LIST},
};
/* clang-format on */

#define ROW_COUNT (sizeof rows / sizeof *rows)
#define LONG_ONLY 256 /* getopt's value of a row without a letter: this and its place */

const struct opt *opt_at(unsigned commands, size_t i) {
    for (size_t row = 0; row < ROW_COUNT; row++) {
        if ((rows[row].commands & commands) != 0 && i-- == 0)
            return &rows[row];
    }
    return NULL;
}

const struct opt *opt_find(const char *name) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

bool opt_preset(struct settings *settings, struct complaint *why) {
    static const struct origin preset = {.source = SOURCE_DEFAULT};
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].preset != NULL && !opt_set(&rows[i], settings, rows[i].preset, &preset, why))
            return false;
    }
    return true;
}

bool opt_complain(const struct opt *row, const char *value, const struct origin *from,
                  const struct reason *reason, struct complaint *why) {
    enum { SHOWN_MAX = 40 };
    char shown[SHOWN_MAX + sizeof " '...'"] = "";
    if (!row->secret)
        snprintf(shown, sizeof shown, " '%.*s%s'", SHOWN_MAX, value,
                 strlen(value) > SHOWN_MAX ? "..." : "");
    switch (from->source) {
    case SOURCE_SYSTEM_FILE:
    case SOURCE_USER_FILE:
        return complain(why, EXIT_CONFIG, "%s:%u: cannot use %s%s: %s", from->file, from->line,
                        row->name, shown, reason->text);
    case SOURCE_ENVIRONMENT: /* the one option that has a variable */
        return complain(why, EXIT_USAGE, "cannot use RLOCK_SERVER: %s", reason->text);
    case SOURCE_DEFAULT:
    case SOURCE_OPTION: break;
    }
    return complain(why, EXIT_USAGE, "cannot use --%s%s: %s", row->name, shown, reason->text);
}

bool opt_set(const struct opt *row, struct settings *settings, const char *value,
             const struct origin *from, struct complaint *why) {
    struct reason reason;
    if (settings->origins[row->key].source > from->source) {
        struct settings checked = *settings;
        return row->set(row, &checked, value, from, &reason) ||
               opt_complain(row, value, from, &reason, why);
    }
    if (!row->set(row, settings, value, from, &reason))
        return opt_complain(row, value, from, &reason, why);
    settings->origins[row->key] = *from;
    return true;
}

/* What getopt_long() wants, made from the rows. */
struct tables {
    struct option longs[ROW_COUNT + 1];
    char shorts[2 + 2 * ROW_COUNT + 1];
};

/* tables: zeroed, which also ends them. */
static void make_tables(struct tables *tables, unsigned commands) {
    struct option *next_long = tables->longs;
    char *next_short = tables->shorts;
    *next_short++ = '+'; /* options end at the first operand: what follows is the command's */
    *next_short++ = ':'; /* tell a missing argument from an unknown option */
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct opt *row = &rows[i];
        if ((row->commands & commands) == 0)
            continue;
        *next_long++ = (struct option){
            .name = row->name,
            .has_arg = row->arg != NULL ? required_argument : no_argument,
            .val = row->letter != 0 ? row->letter : LONG_ONLY + (int)i,
        };
        if (row->letter == 0)
            continue;
        *next_short++ = row->letter;
        if (row->arg != NULL)
            *next_short++ = ':';
    }
}

static const struct opt *find_value(int value) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (value == LONG_ONLY + (int)i || (rows[i].letter != 0 && value == rows[i].letter))
            return &rows[i];
    }
    return NULL;
}

/* A long option that getopt did not know, or found to begin several.
 * Only its name is told: a value behind '=' may be a URL with a password. */
static bool complain_long(const struct cmd *cmd, const char *argument, struct complaint *why) {
    char word[32], others[128] = "";
    snprintf(word, sizeof word, "%.*s", (int)strcspn(argument, "="), argument);
    struct nearest nearest = NEAREST_INIT(word);
    size_t used = 0, begun = 0;
    const struct opt *row;
    for (size_t i = 0; (row = opt_at(cmd->options, i)) != NULL; i++) {
        if (row->hidden)
            continue;
        nearest_offer(&nearest, row->name);
        if (strncmp(row->name, word, strlen(word)) != 0 || used >= sizeof others)
            continue;
        used += (size_t)snprintf(others + used, sizeof others - used, "%s--%s",
                                 begun++ > 0 ? " or " : "", row->name);
    }
    if (begun > 1 && *word != '\0')
        return complain(why, EXIT_USAGE, "ambiguous option '--%s': it could be %s", word, others);
    if (nearest.best != NULL)
        return complain(why, EXIT_USAGE,
                        "unknown option '--%s': did you mean '--%s'? See 'rlock %s --help'", word,
                        nearest.best, cmd->name);
    return complain(why, EXIT_USAGE, "unknown option '--%s': see 'rlock %s --help'", word,
                    cmd->name);
}

/* What getopt_long() refused; it left the details in optopt and optind. */
static bool complain_refused(const struct cmd *cmd, int result, char **argv,
                             struct complaint *why) {
    const struct opt *row = find_value(optopt);
    if (result == ':' && row != NULL)
        return complain(why, EXIT_USAGE, "--%s needs an argument: give --%s %s", row->name,
                        row->name, row->arg);
    if (row != NULL)
        return complain(why, EXIT_USAGE, "--%s takes no argument: see 'rlock %s --help'", row->name,
                        cmd->name);
    if (optopt != 0)
        return complain(why, EXIT_USAGE, "unknown option '-%c': see 'rlock %s --help'", optopt,
                        cmd->name);
    return complain_long(cmd, argv[optind - 1] + 2, why);
}

enum settings_outcome opt_parse(struct settings *settings, const struct cmd *cmd, int argc,
                                char **argv, struct complaint *why) {
    static const struct origin option = {.source = SOURCE_OPTION};
    struct tables tables = {0};
    make_tables(&tables, cmd->options);
    opterr = 0;
    optind = 0; /* glibc: begin anew */
    int result;
    while ((result = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
        const struct opt *row = result == '?' || result == ':' ? NULL : find_value(result);
        if (row == NULL) {
            complain_refused(cmd, result, argv, why);
            return SETTINGS_BAD;
        }
        if (row->asks != SETTINGS_OK)
            return row->asks;
        if (!opt_set(row, settings, optarg != NULL ? optarg : "yes", &option, why))
            return SETTINGS_BAD;
    }
    if (optind < argc)
        settings->command = argv + optind;
    return SETTINGS_OK;
}

char *opt_list(const struct cmd *cmd) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return NULL;
    const struct opt *row;
    for (size_t i = 0; (row = opt_at(cmd->options, i)) != NULL; i++) {
        if (row->hidden)
            continue;
        if (row->letter != 0)
            fprintf(stream, "-%c", row->letter);
        fprintf(stream, "\t--%s\t%s\t%s\n", row->name, row->arg != NULL ? row->arg : "", row->help);
    }
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}
