/* opt_parse.c: reads the command line with getopt_long(3), by the rows of opt.c. */
#include "options/opt.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

#include "options/command.h"
#include "output/out.h"

#define LONG_ONLY 256 /* getopt's value of a row without a letter: this and its place */

static const struct origin command_line = {.source = SOURCE_OPTION};

/* What getopt_long() wants, made from the rows. */
struct tables {
    struct option longs[SETTINGS_MAX + 1];
    char shorts[2 + 2 * SETTINGS_MAX + 1];
};

/* tables: zeroed, which also ends them. */
static void make_tables(struct tables *tables, const struct cmd *cmd) {
    struct option *next_long = tables->longs;
    char *next_short = tables->shorts;
    if (cmd->operand == NULL)
        *next_short++ = '+'; /* options end at the first operand: what follows is the command's */
    *next_short++ = ':';     /* tell a missing argument from an unknown option */
    for (const struct opt *row = NULL; (row = opt_next(cmd->options, row)) != NULL; next_long++) {
        *next_long = (struct option){
            .name = row->name,
            .has_arg = row->bare != NULL  ? optional_argument
                       : row->arg != NULL ? required_argument
                                          : no_argument,
            .val = row->letter != 0 ? row->letter : LONG_ONLY + (int)(next_long - tables->longs),
        };
        if (row->letter == 0)
            continue;
        *next_short++ = row->letter;
        if (row->arg != NULL)
            *next_short++ = ':';
    }
}

static const struct opt *find_value(const struct cmd *cmd, int value) {
    int long_only = LONG_ONLY;
    const struct opt *row = NULL;
    while ((row = opt_next(cmd->options, row)) != NULL && value != long_only++ &&
           (row->letter == 0 || value != row->letter))
        continue;
    return row;
}

/* What getopt_long() refused; it left the details in optopt and optind. */
static bool complain_refused(const struct cmd *cmd, int result, char **argv,
                             struct complaint *why) {
    const struct opt *row = find_value(cmd, optopt);
    if (result == ':' && row != NULL)
        return complain(why, EXIT_USAGE, "--%s needs an argument: give --%s %s", row->name,
                        row->name, row->arg);
    if (row != NULL)
        return complain(why, EXIT_USAGE, "--%s takes no argument: see 'rlock %s --help'", row->name,
                        cmd->name);
    if (optopt == '=')
        return complain(why, EXIT_USAGE,
                        "unexpected '=' behind a letter that takes no argument: see 'rlock %s "
                        "--help'",
                        cmd->name);
    if (optopt != 0)
        return explain_option(cmd, (const char[]){'-', (char)optopt, '\0'}, why);
    return explain_option(cmd, argv[optind - 1], why);
}

static bool read_operands(struct settings *settings, int count, char **argv,
                          struct complaint *why) {
    const struct cmd *cmd = settings->cmd;
    const char *name = cmd->operand->name;
    const size_t given =
        (size_t)count + (cmd->operand == &opt_operand_name ? settings->name_count : 0);
    if (given < cmd->operands_min)
        return complain(why, EXIT_USAGE, "missing %s: give it, as in 'rlock %s %s'", name,
                        cmd->name, name);
    if (given > cmd->operands_max)
        return complain(why, EXIT_USAGE, "too many operands: 'rlock %s' takes one %s", cmd->name,
                        name);
    for (int i = 0; i < count; i++) {
        if (!opt_set(cmd->operand, settings, argv[i], &command_line, why))
            return false;
    }
    return true;
}

/* A value that looks like an option: `-n -x` is a name that was forgotten; -1 is a number. A secret
 * is not shown. */
static bool check_dash(const struct opt *row, char **argv, struct complaint *why) {
    if (optarg == NULL || optarg != argv[optind - 1] || *optarg != '-' ||
        (!row->is_text && optarg[1] != '-' && !isalpha((unsigned char)optarg[1])))
        return true;
    if (row->secret)
        return complain(why, EXIT_USAGE,
                        "--%s needs an argument, and what follows looks like an option: give --%s "
                        "%s",
                        row->name, row->name, row->arg);
    return complain(why, EXIT_USAGE,
                    "--%s needs an argument, and '%s' looks like an option: give --%s %s, or "
                    "--%s=%s if that is meant",
                    row->name, optarg, row->name, row->arg, row->name, optarg);
}

/* The value of a letter follows it directly: -n=x would be the name "=x". */
static bool check_equals(const struct opt *row, char **argv, struct complaint *why) {
    const bool is_letter = strncmp(argv[optind - 1], "--", 2) != 0;
    if (optarg == NULL || *optarg != '=' || !is_letter || optarg == argv[optind - 1])
        return true;
    if (row->secret)
        return complain(why, EXIT_USAGE, "unexpected '=' behind -%c: give -%c %s", row->letter,
                        row->letter, row->arg);
    return complain(why, EXIT_USAGE,
                    "unexpected '=' in '-%c%.40s': give '-%c %.40s', or '--%s=%.40s' if that is "
                    "meant",
                    row->letter, optarg, row->letter, optarg + 1, row->name, optarg);
}

/* getopt_long() takes `--password SECRET` for --password-file. What follows is not shown. */
static bool check_password(const struct opt *row, char **argv, struct complaint *why) {
    const char *word = argv[optind - (optarg == argv[optind - 1] ? 2 : 1)];
    const size_t length = strcspn(word, "=");
    return strcmp(row->name, "password-file") != 0 || length == strlen("--password-file") ||
           complain(why, EXIT_USAGE,
                    "unknown option '%.*s': give RLOCK_PASSWORD, or --password-file F, a file that "
                    "the password is in",
                    (int)length, word);
}

/* redis-cli has -h HOST: help would be shown in place of the run that was meant. */
static bool check_help(const struct cmd *cmd, int argc, char **argv, struct complaint *why) {
    return argc == 2 || strncmp(argv[optind - 1], "--", 2) == 0 ||
           complain(why, EXIT_USAGE,
                    "unexpected -h among other arguments: it shows help, as in 'rlock %s -h'; a "
                    "server is given with --server URL",
                    cmd->name);
}

/* getopt_long() takes a long option with one dash for letters. It is the last word, or the next
 * while there are letters left. */
static bool check_one_dash(const struct cmd *cmd, char **argv, struct complaint *why) {
    for (int i = optind - 1; i <= optind && argv[i] != NULL; i++) {
        if (explain_is_long(cmd, argv[i]))
            return explain_option(cmd, argv[i], why);
    }
    return true;
}

/* What getopt_long() has found last. */
static enum settings_outcome read_option(struct settings *settings, int result, int argc,
                                         char **argv, struct complaint *why) {
    const struct cmd *cmd = settings->cmd;
    const struct opt *row = result == '?' || result == ':' ? NULL : find_value(cmd, result);
    const bool is_short = result < LONG_ONLY;
    if (is_short && !check_one_dash(cmd, argv, why))
        return SETTINGS_BAD;
    if (row == NULL) {
        complain_refused(cmd, result, argv, why);
        return SETTINGS_BAD;
    }
    if (row->asks == SETTINGS_HELP && !check_help(cmd, argc, argv, why))
        return SETTINGS_BAD;
    if (row->asks != SETTINGS_OK)
        return row->asks;
    if ((is_short && !check_equals(row, argv, why)) || !check_password(row, argv, why) ||
        !check_dash(row, argv, why))
        return SETTINGS_BAD;
    const char *bare = row->bare != NULL ? row->bare : "yes";
    const bool good = opt_set(row, settings, optarg != NULL ? optarg : bare, &command_line, why);
    return good ? SETTINGS_OK : SETTINGS_BAD;
}

enum settings_outcome opt_parse(struct settings *settings, int argc, char **argv,
                                struct complaint *why) {
    struct tables tables = {0};
    make_tables(&tables, settings->cmd);
    opterr = 0;
    optind = 0; /* glibc: begin anew */
    for (int result; (result = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1;) {
        const enum settings_outcome outcome = read_option(settings, result, argc, argv, why);
        if (outcome != SETTINGS_OK && why->status == 0)
            return outcome;
    }
    if (why->status != 0)
        return SETTINGS_BAD;
    if (settings->cmd->operand != NULL)
        return read_operands(settings, argc - optind, argv + optind, why) ? SETTINGS_OK
                                                                          : SETTINGS_BAD;
    if (optind == argc)
        return SETTINGS_OK;
    if (settings->run.command != NULL) {
        complain(why, EXIT_USAGE,
                 "both -c and a command: give one of the two, and quote all of -c's STRING");
        return SETTINGS_BAD;
    }
    settings->run.command = argv + optind;
    return SETTINGS_OK;
}
