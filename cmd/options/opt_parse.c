/* opt_parse.c: the command line, read by getopt_long(3) from the rows of opt.c, and what is said of
 * its mistakes. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "options/command.h"
#include "options/foreign.h"
#include "options/opt.h"
#include "options/suggest.h"
#include "output/out.h"

#define LONG_ONLY 256 /* getopt's value of a row without a letter: this and its place */

/* What getopt_long() wants, made from the rows. */
struct tables {
    struct option longs[OPT_MAX + 1];
    char shorts[2 + 2 * OPT_MAX + 1];
};

/* tables: zeroed, which also ends them. */
static void make_tables(struct tables *tables, const struct cmd *cmd) {
    struct option *next_long = tables->longs;
    char *next_short = tables->shorts;
    if (cmd->operand == NULL)
        *next_short++ = '+'; /* options end at the first operand: what follows is the command's */
    *next_short++ = ':';     /* tell a missing argument from an unknown option */
    const struct opt *row;
    for (size_t i = 0; (row = opt_at(cmd->options, i)) != NULL; i++) {
        *next_long++ = (struct option){
            .name = row->name,
            .has_arg = row->bare != NULL  ? optional_argument
                       : row->arg != NULL ? required_argument
                                          : no_argument,
            .val = row->letter != 0 ? row->letter : LONG_ONLY + (int)i,
        };
        if (row->letter == 0)
            continue;
        *next_short++ = row->letter;
        if (row->arg != NULL)
            *next_short++ = ':';
    }
}

static const struct opt *find_value(const struct cmd *cmd, int value) {
    if (value >= LONG_ONLY)
        return opt_at(cmd->options, (size_t)(value - LONG_ONLY));
    const struct opt *row;
    for (size_t i = 0; (row = opt_at(cmd->options, i)) != NULL; i++) {
        if (row->letter != 0 && value == row->letter)
            return row;
    }
    return NULL;
}

static bool has_option(const struct cmd *cmd, const char *name) {
    const struct opt *row;
    for (size_t i = 0; (row = opt_at(cmd->options, i)) != NULL; i++) {
        if (strcmp(row->name, name) == 0)
            return true;
    }
    return false;
}

/* An option that another program has. dashes: those that it was given with. True: why says what it
 * is called here, or why there is none. */
static bool complain_foreign(const struct cmd *cmd, const char *dashes, const char *word,
                             struct complaint *why) {
    const struct foreign_option *foreign = foreign_option(word);
    const size_t most = sizeof foreign->ours / sizeof *foreign->ours;
    for (size_t i = 0; foreign != NULL && i < most && foreign->ours[i] != NULL; i++) {
        const char *ours = foreign->ours[i];
        const bool is_option = strchr(ours, ' ') == NULL;
        if (is_option && !has_option(cmd, ours))
            continue;
        if (!is_option && strcmp(ours + strcspn(ours, " ") + 1, cmd->name) == 0) {
            complain(why, EXIT_USAGE, "unknown option '%s%s': leave it out: that is what '%s' does",
                     dashes, word, ours);
            return true;
        }
        complain(why, EXIT_USAGE,
                 "unknown option '%s%s': did you mean '%s%s'? See 'rlock %s --help'", dashes, word,
                 is_option ? "--" : "", ours, cmd->name);
        return true;
    }
    if (foreign == NULL || foreign->needless == NULL)
        return false;
    complain(why, EXIT_USAGE, "unknown option '%s%s': leave it out: %s", dashes, word,
             foreign->needless);
    return true;
}

/* A long option with one dash, as Go's programs have them: to getopt a row of letters, or a letter
 * and its value, so that -no-wait were the name "o-wait". A value that is meant stands apart. */
static bool complain_one_dash(const struct cmd *cmd, const char *argument, struct complaint *why) {
    enum { LEAST = 3 }; /* letters: fewer are letters */
    char word[32];
    if (argument == NULL || argument[0] != '-' || argument[1] == '-')
        return false;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(argument + 1, "="), argument + 1);
    if (strlen(word) < LEAST)
        return false;
    if (!has_option(cmd, word))
        return complain_foreign(cmd, "-", word, why);
    complain(why, EXIT_USAGE, "unknown option '-%s': did you mean '--%s'? See 'rlock %s --help'",
             word, word, cmd->name);
    return true;
}

/* A long option that getopt did not know, or found to begin several.
 * Only its name is shown: a value behind '=' may be a URL with a password. */
static bool complain_long(const struct cmd *cmd, const char *argument, struct complaint *why) {
    char word[32], others[128] = "";
    snprintf(word, sizeof word, "%.*s", (int)strcspn(argument, "="), argument);
    struct suggestion suggestion = SUGGESTION_INIT(word);
    size_t used = 0, begun = 0;
    const struct opt *row;
    for (size_t i = 0; (row = opt_at(cmd->options, i)) != NULL; i++) {
        if (row->hidden)
            continue;
        suggest_offer(&suggestion, row->name);
        if (strncmp(row->name, word, strlen(word)) != 0 || used >= sizeof others)
            continue;
        used += (size_t)snprintf(others + used, sizeof others - used, "%s--%s",
                                 begun++ > 0 ? " or " : "", row->name);
    }
    if (begun > 1 && *word != '\0')
        return complain(why, EXIT_USAGE, "ambiguous option '--%s': it could be %s", word, others);
    if (complain_foreign(cmd, "--", word, why))
        return false;
    if (opt_find(word) != NULL)
        return complain(why, EXIT_USAGE,
                        "unknown option '--%s': it is one of other commands, not of 'rlock %s': "
                        "see 'rlock %s --help'",
                        word, cmd->name, cmd->name);
    if (suggestion.best != NULL)
        return complain(why, EXIT_USAGE,
                        "unknown option '--%s': did you mean '--%s'? See 'rlock %s --help'", word,
                        suggestion.best, cmd->name);
    return complain(why, EXIT_USAGE, "unknown option '--%s': see 'rlock %s --help'", word,
                    cmd->name);
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
    if (optopt != 0 && complain_foreign(cmd, "-", (const char[]){(char)optopt, '\0'}, why))
        return false;
    if (optopt != 0)
        return complain(why, EXIT_USAGE, "unknown option '-%c': see 'rlock %s --help'", optopt,
                        cmd->name);
    return complain_long(cmd, argv[optind - 1] + 2, why);
}

/* Which must be there, and no more. */
static bool read_operands(struct settings *settings, const struct cmd *cmd, int count, char **argv,
                          const struct origin *from, struct complaint *why) {
    const char *name = cmd->operand->name;
    if ((size_t)count < cmd->operands_min)
        return complain(why, EXIT_USAGE, "missing %s: give it, as in 'rlock %s %s'", name,
                        cmd->name, name);
    if ((size_t)count > cmd->operands_max)
        return complain(why, EXIT_USAGE, "too many operands: 'rlock %s' takes one %s", cmd->name,
                        name);
    for (int i = 0; i < count; i++) {
        if (!opt_set(cmd->operand, settings, argv[i], from, why))
            return false;
    }
    return true;
}

/* Any text would do for it, but this is much rather an option whose own place was missed: `-n -x`
 * is a name that was forgotten. A secret is not shown. */
static bool complain_dash(const struct opt *row, const char *value, struct complaint *why) {
    if (row->secret)
        return complain(why, EXIT_USAGE,
                        "--%s needs an argument, and what follows looks like an option: give --%s "
                        "%s",
                        row->name, row->name, row->arg);
    return complain(why, EXIT_USAGE,
                    "--%s needs an argument, and '%s' looks like an option: give --%s %s, or "
                    "--%s=%s if that is meant",
                    row->name, value, row->name, row->arg, row->name, value);
}

/* What stands right behind a letter is its value: -n=x would be the name "=x". */
static bool complain_equals(const struct opt *row, char **argv, struct complaint *why) {
    const bool is_letter = strncmp(argv[optind - 1], "--", 2) != 0;
    if (optarg == NULL || *optarg != '=' || !is_letter || optarg == argv[optind - 1])
        return false;
    if (row->secret)
        complain(why, EXIT_USAGE, "unexpected '=' behind -%c: give -%c %s", row->letter,
                 row->letter, row->arg);
    else
        complain(why, EXIT_USAGE,
                 "unexpected '=' in '-%c%.40s': give '-%c %.40s', or '--%s=%.40s' if that is meant",
                 row->letter, optarg, row->letter, optarg + 1, row->name, optarg);
    return true;
}

/* -h is a host to those who know redis-cli, and the run that was meant would not take place. */
static bool complain_help(const struct cmd *cmd, int argc, char **argv, struct complaint *why) {
    if (argc == 2 || strncmp(argv[optind - 1], "--", 2) == 0)
        return false;
    complain(why, EXIT_USAGE,
             "unexpected -h among other arguments: it shows help, as in 'rlock %s -h'; a server is "
             "given with --server URL",
             cmd->name);
    return true;
}

enum settings_outcome opt_parse(struct settings *settings, const struct cmd *cmd, int argc,
                                char **argv, struct complaint *why) {
    static const struct origin option = {.source = SOURCE_OPTION};
    struct tables tables = {0};
    make_tables(&tables, cmd);
    opterr = 0;
    optind = 0; /* glibc: begin anew */
    int result;
    while ((result = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
        const struct opt *row = result == '?' || result == ':' ? NULL : find_value(cmd, result);
        /* The word that it stands in is the last one, or the next while there are letters left. */
        if ((result < LONG_ONLY && complain_one_dash(cmd, argv[optind - 1], why)) ||
            (result < LONG_ONLY && complain_one_dash(cmd, argv[optind], why)))
            return SETTINGS_BAD;
        if (row == NULL) {
            complain_refused(cmd, result, argv, why);
            return SETTINGS_BAD;
        }
        if (row->asks == SETTINGS_HELP && complain_help(cmd, argc, argv, why))
            return SETTINGS_BAD;
        if (row->asks != SETTINGS_OK)
            return row->asks;
        if (result < LONG_ONLY && complain_equals(row, argv, why))
            return SETTINGS_BAD;
        if (row->is_text && optarg != NULL && optarg == argv[optind - 1] && *optarg == '-') {
            complain_dash(row, optarg, why);
            return SETTINGS_BAD;
        }
        const char *bare = row->bare != NULL ? row->bare : "yes";
        if (!opt_set(row, settings, optarg != NULL ? optarg : bare, &option, why))
            return SETTINGS_BAD;
    }
    if (cmd->operand != NULL)
        return read_operands(settings, cmd, argc - optind, argv + optind, &option, why)
                   ? SETTINGS_OK
                   : SETTINGS_BAD;
    if (optind < argc)
        settings->command = argv + optind;
    return SETTINGS_OK;
}

void opt_parse_only(struct settings *settings, const struct cmd *cmd, const struct opt *only,
                    int argc, char **argv) {
    static const struct origin option = {.source = SOURCE_OPTION};
    struct complaint ignored;
    struct tables tables = {0};
    make_tables(&tables, cmd);
    optind = 0;
    for (int result; (result = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1;) {
        if (result != '?' && result != ':' && find_value(cmd, result) == only)
            (void)opt_set(only, settings, optarg, &option, &ignored);
    }
}
