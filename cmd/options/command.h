/* command.h: what a subcommand is: a row of commands.c. */
#ifndef RLOCK_CMD_COMMAND_H
#define RLOCK_CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct settings;
struct complaint;
struct opt;
struct kind;

/* All commands, and groups of them, as messages list them. */
#define COMMANDS(X)                                                                                \
    X(RUN, "run")                                                                                  \
    X(FAIR, "fair")                                                                                \
    X(READ, "read")                                                                                \
    X(WRITE, "write")                                                                              \
    X(SEM, "sem")                                                                                  \
    X(LATCH_SET, "latch set")                                                                      \
    X(LATCH_DOWN, "latch down")                                                                    \
    X(LATCH_WAIT, "latch wait")                                                                    \
    X(STATUS, "status")                                                                            \
    X(WAIT, "wait")                                                                                \
    X(BREAK, "break")                                                                              \
    X(DOCTOR, "doctor")                                                                            \
    X(RENEW, "renew")                                                                              \
    X(CHECK, "check")                                                                              \
    X(RELEASE, "release")                                                                          \
    X(ACQUIRE_RUN, "acquire run")                                                                  \
    X(ACQUIRE_FAIR, "acquire fair")                                                                \
    X(ACQUIRE_READ, "acquire read")                                                                \
    X(ACQUIRE_WRITE, "acquire write")                                                              \
    X(ACQUIRE_SEM, "acquire sem")                                                                  \
    X(LATCH, "latch")                                                                              \
    X(ACQUIRE, "acquire")                                                                          \
    X(HELP, "help")

#define CMD_TO_PLACE(constant, name) CMD_AT_##constant,
#define CMD_TO_BIT(constant, name)   CMD_##constant = 1 << CMD_AT_##constant,
enum cmd_place { COMMANDS(CMD_TO_PLACE) CMD_COUNT };

/* Which commands an option belongs to: one bit a command, so that a row of opt.c names a set. */
enum cmd_bit { COMMANDS(CMD_TO_BIT) };

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
