/* opt.h: the options as rows of data, which feed parsing, help, config files and completions; and
 * what a word that is none of them was meant to be. */
#ifndef RLOCK_CMD_OPT_H
#define RLOCK_CMD_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/settings.h"

struct opt;

/* A value that was given for a row. */
struct given {
    const struct opt *row;
    const char *text; /* lives as long as the settings */
    const struct origin *from;
    struct complaint *why;
};

/* Reads the value into its field. False: why, and the settings are of no use. */
typedef bool opt_setter(struct settings *settings, const struct given *given);

struct opt {
    const char *name;   /* the long option, and the key in config files */
    char letter;        /* the short option; 0: none */
    const char *arg;    /* what help calls its argument; NULL: a flag */
    const char *preset; /* the default, read by the setter like any other value; NULL: none */
    const char *help;
    const char *heading;        /* in help, above it and those that follow; NULL: none */
    const char *variable;       /* of the environment, which sets it, too; NULL: none */
    const char *bare;           /* what it is without its argument; NULL: it must have it */
    unsigned commands;          /* enum cmd_bit: which have it; 0: it is an operand */
    bool in_file;               /* may stand in a config file */
    unsigned not_from_file;     /* the commands for which it does not count there */
    bool secret;                /* its value may hold a password and is never shown */
    bool is_text;               /* any text, so that an option may be taken for its value */
    bool hidden;                /* not in help, nor in --list-options */
    enum settings_outcome asks; /* SETTINGS_OK, or what reading stops for */

    opt_setter *set;
    size_t field;     /* its offset in struct settings */
    int64_t min, max; /* of a number; of a duration in ms, of a text in bytes, max 0: no limit */
};

/* The next row that a command of these bits has: behind this row, or with NULL the first. NULL:
 * that was the last. */
const struct opt *opt_next(unsigned commands, const struct opt *row);

/* The row of that long name, in any command; NULL: none. */
const struct opt *opt_find(const char *name);

/* Where a field's origin stands in the settings': at the first row that sets the field, or for the
 * one operand that has no row behind them. */
size_t opt_place(size_t field);

/* What else may stand on a command line, see struct cmd: names of locks, read like -n; a handle. */
extern const struct opt opt_operand_name, opt_operand_handle;

/* --- settings.c: what the rows do to settings ------------------------------------------------- */

/* Gives every setting its default. */
bool opt_preset(struct settings *settings, struct complaint *why);

/* Sets one value, unless a stronger source has set it already: then it is only checked.
 * The value must live as long as the settings. False: why, with the status that from calls for. */
bool opt_set(const struct opt *row, struct settings *settings, const char *value,
             const struct origin *from, struct complaint *why);

/* Where a field has its value from, as in OPT_FROM(settings, lock.lease_ms). Rows that set the same
 * field share it. */
const struct origin *opt_from(const struct settings *settings, size_t field);
#define OPT_FROM(from, field) opt_from(from, offsetof(struct settings, field))

/* Whether it was given on the command line. */
#define OPT_IS_GIVEN(from, field) (OPT_FROM(from, field)->source == SOURCE_OPTION)

enum { OPT_ORIGIN_SIZE = 512 };

/* Where the value of a row came from, as messages say it: "--server", "RLOCK_SERVER", "FILE:LINE",
 * "the handle". Returns text. */
const char *opt_origin(const struct opt *row, const struct settings *settings,
                       char text[OPT_ORIGIN_SIZE]);

/* Complains of a value: "cannot use --lease '5x': ...", or in a config file "FILE:LINE: cannot use
 * lease '5x': ...". format: what is wrong, and what would be right. Returns false. */
bool opt_refuse(const struct given *given, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The setters of opt_value.c. */
opt_setter set_name, set_server, set_handle, set_duration, set_wait, set_no_wait, set_number,
    set_loudness;
opt_setter set_flag, set_shell, set_any_text, set_text, set_path, set_note;
opt_setter set_choice;      /* the place of the word in the row's arg, an int or an enum */
opt_setter set_choice_text; /* the word */

/* --- explain.c: what a mistaken word was meant to be ------------------------------------------ */

/* Our command in place of another program's: "rlock run"; NULL: none in particular. */
const char *explain_command(const char *word);

/* Whether a word such as "-no-wait" is a long option with one dash, as Go's programs have them, and
 * not letters. */
bool explain_is_long(const struct cmd *cmd, const char *argument);

/* Why the command has no such option, and which may be meant. argument: as it was given, with its
 * dashes; the value behind '=' may be a URL with a password, and is not shown. Returns false. */
bool explain_option(const struct cmd *cmd, const char *argument, struct complaint *why);

/* Which known word a mistyped one was meant to be. Start with SUGGESTION_INIT(word), offer every
 * candidate, then read best: NULL when none is near. */
struct suggestion {
    const char *word;
    const char *best; /* borrowed from the caller */
    size_t distance;
};
#define SUGGESTION_INIT(text)                                                                      \
    { .word = (text) }

void suggest_offer(struct suggestion *suggestion, const char *candidate);

#endif
