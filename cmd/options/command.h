/* command.h: what a subcommand is: a row of commands.c. */
#ifndef RLOCK_CMD_COMMAND_H
#define RLOCK_CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct settings;
struct complaint;
struct opt;
struct kind;

/* Which commands an option belongs to: one bit a command, so that a row of opt.c names a set. */
enum cmd_bit {
    CMD_HELP = 1 << 0,
    CMD_RUN = 1 << 1,
    CMD_FAIR = 1 << 2,
    CMD_READ = 1 << 3,
    CMD_WRITE = 1 << 4,
    CMD_SEM = 1 << 5,
    CMD_LATCH = 1 << 6,
    CMD_LATCH_SET = 1 << 7,
    CMD_LATCH_DOWN = 1 << 8,
    CMD_LATCH_WAIT = 1 << 9,
    CMD_ACQUIRE = 1 << 10,
    CMD_ACQUIRE_RUN = 1 << 11,
    CMD_ACQUIRE_FAIR = 1 << 12,
    CMD_ACQUIRE_READ = 1 << 13,
    CMD_ACQUIRE_WRITE = 1 << 14,
    CMD_ACQUIRE_SEM = 1 << 15,
    CMD_RENEW = 1 << 16,
    CMD_RELEASE = 1 << 17,
    CMD_CHECK = 1 << 18,
    CMD_STATUS = 1 << 19,
    CMD_BREAK = 1 << 20,
    CMD_DOCTOR = 1 << 21,
    CMD_WAIT = 1 << 22,
};

/* Whether a command runs another one. */
enum cmd_child { CHILD_NONE, CHILD_OPTIONAL, CHILD_NEEDED };

struct cmd {
    const char *name;     /* as it is called: "run", "latch set" */
    const char *summary;  /* what it does, in half a line, for the list of commands */
    const char *synopsis; /* what follows "rlock NAME"; one line for each form, separated by '\n' */
    unsigned options;     /* its bit: the rows of opt.c that hold it apply */
    enum cmd_child child;
    bool one_name;           /* -n once, not several times */
    const struct kind *kind; /* of lock, that it takes; NULL: none */

    /* What stands on the command line besides options, which may stand before and behind it: such
     * as opt_handle. NULL: what follows the options is a command to run. */
    const struct opt *operand;
    size_t operands_min, operands_max;

    /* Exactly one of the three is set. The functions return the exit status.
     * exec: gets options, environment and config files merged and checked; borrows them.
     * raw: gets its arguments unchanged, argv[0] being the command's name.
     * group: its commands, up to one without a name. */
    int (*exec)(struct settings *settings);
    int (*raw)(int argc, char **argv);
    const struct cmd *group;

    /* exec: what can be checked only with its options together, before any config file is read;
     * NULL: nothing. */
    bool (*check)(const struct settings *settings, struct complaint *why);
};

#endif
