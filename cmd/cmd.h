/* cmd.h: what a subcommand is. Each stands in its own cmd_NAME.c, and in the table of cmd.c. */
#ifndef RLOCK_CMD_CMD_H
#define RLOCK_CMD_CMD_H

#include <stddef.h>

struct settings;

/* Which commands an option belongs to: one bit a command, so that a row of opt.c names a set. */
enum cmd_bit {
    CMD_HELP = 1 << 0,
    CMD_RUN = 1 << 1,
};

struct cmd {
    const char *name;
    const char *summary;  /* what it does, in half a line, for the list of commands */
    const char *synopsis; /* what follows "rlock NAME"; one line for each form, parted by '\n' */
    unsigned options;     /* its bit: the rows of opt.c that hold it apply */

    /* Exactly one of the two is set. Both return the exit status.
     * exec: gets options, environment and config files merged and checked; borrows them.
     * raw: gets its arguments as they stand, argv[0] being the command's name. */
    int (*exec)(struct settings *settings);
    int (*raw)(int argc, char **argv);
};

extern const struct cmd cmd_help;
extern const struct cmd cmd_run;

/* The table of commands: the i-th, NULL past the last. */
const struct cmd *cmd_at(size_t i);

/* The command of that name; NULL after a message on standard error that names the nearest one. */
const struct cmd *cmd_find(const char *name);

/* The help of one command, or with NULL of rlock as a whole. Yours to free; NULL: no memory. */
char *help_text(const struct cmd *cmd);

/* Prints that help on standard output. Returns the exit status. */
int help_print(const struct cmd *cmd);
#endif
