/* commands.c: the commands as rows of data, and how one is found among them. */
#include "commands.h"

#include <string.h>

#include "hold/hold.h"
#include "options/opt.h"
#include "output/out.h"
#include "report/report.h"

/* A command that runs another while it holds a lock, and one that leaves such a lock held. */
#define RUN(word, bit, does)                                                                       \
    {                                                                                              \
        .name = #word, .summary = (does), .options = (bit), .child = CHILD_NEEDED,                 \
        .synopsis = "-n NAME [options] [--] COMMAND [ARG...]\n-n NAME [options] -c STRING",        \
        .kind = &kind_##word, .exec = run_exec                                                     \
    }
#define ACQUIRE(word, bit, does)                                                                   \
    {                                                                                              \
        .name = "acquire " #word, .summary = (does), .options = (bit),                             \
        .synopsis = "-n NAME [options]", .kind = &kind_##word, .exec = acquire_exec                \
    }

/* The locks of the commands that run others, left held for a lease. A latch is not among them, nor
 * are plain permits: what has no lease would stay for ever. */
static const struct cmd acquire_commands[] = {
    ACQUIRE(run, CMD_ACQUIRE_RUN, "Take the exclusive lock of 'rlock run'"),
    ACQUIRE(fair, CMD_ACQUIRE_FAIR, "Take the same lock, first come first served"),
    ACQUIRE(read, CMD_ACQUIRE_READ, "Take a read/write lock for reading"),
    ACQUIRE(write, CMD_ACQUIRE_WRITE, "Take a read/write lock for writing"),
    {.name = "acquire sem",
     .summary = "Take permits of a semaphore",
     .synopsis = "-n NAME [--permits N] [--take K] [options]",
     .options = CMD_ACQUIRE_SEM,
     .one_name = true,
     .kind = &kind_sem,
     .exec = acquire_exec,
     .check = settings_check_take},
    {.name = NULL},
};

static const struct cmd latch_commands[] = {
    {.name = "latch set",
     .summary = "Set a latch that opens after N count-downs",
     .synopsis = "-n NAME --count N [options]",
     .options = CMD_LATCH_SET,
     .one_name = true,
     .exec = latch_set_exec,
     .check = latch_set_check},
    {.name = "latch down",
     .summary = "Count a latch down, after a command has succeeded if one is given",
     .synopsis = "-n NAME [--by K] [options] [[--] COMMAND [ARG...]]\n"
                 "-n NAME [--by K] [options] -c STRING",
     .options = CMD_LATCH_DOWN,
     .child = CHILD_OPTIONAL,
     .one_name = true,
     .kind = &kind_latch_down,
     .exec = latch_down_exec},
    {.name = "latch wait",
     .summary = "Wait until a latch is open, then run a command",
     .synopsis = "-n NAME [options] [[--] COMMAND [ARG...]]\n-n NAME [options] -c STRING",
     .options = CMD_LATCH_WAIT,
     .child = CHILD_OPTIONAL,
     .one_name = true,
     .kind = &kind_latch,
     .exec = run_exec},
    {.name = NULL},
};

/* To add a command: a row here, and its bit in command.h. */
static const struct cmd commands[] = {
    RUN(run, CMD_RUN, "Run a command while holding an exclusive lock"),
    RUN(fair, CMD_FAIR, "Run a command while holding an exclusive lock, first come first served"),
    RUN(read, CMD_READ, "Run a command while holding a read/write lock for reading"),
    RUN(write, CMD_WRITE, "Run a command while holding a read/write lock for writing"),
    {.name = "sem",
     .summary = "Run a command while holding permits of a semaphore",
     .synopsis = "-n NAME [--permits N] [--take K] [options] [--] COMMAND [ARG...]\n"
                 "-n NAME [--permits N] [--take K] [options] -c STRING\n"
                 "-n NAME --resize N [options]",
     .options = CMD_SEM,
     .child = CHILD_OPTIONAL,
     .one_name = true,
     .kind = &kind_sem,
     .exec = sem_exec,
     .check = sem_check},
    {.name = "latch",
     .summary = "Set a count-down latch, count it down, or wait until it opens",
     .synopsis = "COMMAND [options] ...",
     .options = CMD_LATCH,
     .group = latch_commands},
    {.name = "acquire",
     .summary = "Take a lock, print its handle, and leave it held",
     .synopsis = "KIND -n NAME [options]",
     .options = CMD_ACQUIRE,
     .group = acquire_commands},
    {.name = "renew",
     .summary = "Extend the lease of a lock that is held",
     .synopsis = "HANDLE [-l D] [options]",
     .options = CMD_RENEW,
     .operand = &opt_operand_handle,
     .operands_min = 1,
     .operands_max = 1,
     .exec = renew_exec},
    {.name = "release",
     .summary = "Give back a lock that is held",
     .synopsis = "HANDLE [options]",
     .options = CMD_RELEASE,
     .operand = &opt_operand_handle,
     .operands_min = 1,
     .operands_max = 1,
     .exec = release_exec},
    {.name = "check",
     .summary = "Tell whether a lock is still held",
     .synopsis = "[HANDLE] [--min-ttl D] [options]",
     .options = CMD_CHECK,
     .operand = &opt_operand_handle,
     .operands_max = 1,
     .exec = check_exec},
    {.name = "status",
     .summary = "Show who holds what, and who waits",
     .synopsis = "[options] [-n] [NAME|PATTERN...]",
     .options = CMD_STATUS,
     .operand = &opt_operand_name,
     .operands_max = SIZE_MAX,
     .exec = status_exec,
     .check = status_check},
    {.name = "wait",
     .summary = "Wait until nobody holds a lock, without taking it",
     .synopsis = "[options] [-n] NAME...",
     .options = CMD_WAIT,
     .operand = &opt_operand_name,
     .operands_min = 1,
     .operands_max = SIZE_MAX,
     .exec = wait_exec},
    {.name = "break",
     .summary = "Take a lock away from its holder, after asking",
     .synopsis = "[options] [-n] NAME",
     .options = CMD_BREAK,
     .operand = &opt_operand_name,
     .operands_min = 1,
     .operands_max = 1,
     .exec = break_exec},
    {.name = "doctor",
     .summary = "Find what makes locks unsafe or slow, and say what to do",
     .synopsis = "[options] [-n] [NAME]",
     .options = CMD_DOCTOR,
     .operand = &opt_operand_name,
     .operands_max = 1,
     .exec = doctor_exec},
    {.name = "help",
     .summary = "Show the help of rlock or of one command",
     .synopsis = "[COMMAND]",
     .options = CMD_HELP,
     .raw = help_raw},
    {.name = NULL},
};

const struct cmd cmd_rlock = {
    .name = "",
    .summary = "Distributed locks for the shell, on Redis",
    .synopsis = "COMMAND [options] ...",
    .group = commands,
};

const char *cmd_word(const struct cmd *cmd) {
    const char *space = strrchr(cmd->name, ' ');
    return space != NULL ? space + 1 : cmd->name;
}

const char *cmd_gap(const struct cmd *cmd) {
    return *cmd->name != '\0' ? " " : "";
}

int cmd_say_unknown(const struct cmd *group, const char *word) {
    struct suggestion suggestion = SUGGESTION_INIT(word);
    for (const struct cmd *cmd = group->group; cmd->name != NULL; cmd++)
        suggest_offer(&suggestion, cmd_word(cmd));
    const char *name = group->name, *gap = cmd_gap(group);
    /* Only a word is repeated: a misplaced URL may contain a password. */
    const bool is_word = *word != '\0' && strlen(word) <= 32 && strpbrk(word, ":/@=") == NULL;
    const char *ours = group == &cmd_rlock ? explain_command(word) : NULL;
    if (ours != NULL)
        return out_fail(EXIT_USAGE, NULL, NULL,
                        "unknown command '%s': did you mean '%s'? See 'rlock help'", word, ours);
    if (suggestion.best != NULL)
        return out_fail(EXIT_USAGE, NULL, NULL,
                        "unknown command '%s%s%s': did you mean '%s%s%s'? See 'rlock help%s%s'",
                        name, gap, word, name, gap, suggestion.best, gap, name);
    return out_fail(
        EXIT_USAGE, NULL, NULL, "unknown command%s%s%s%s%s: %ssee 'rlock help%s%s'",
        is_word ? " '" : "", is_word ? name : "", is_word ? gap : "", is_word ? word : "",
        is_word ? "'" : "",
        group == &cmd_rlock ? "to run one under a lock: 'rlock run -n NAME -- COMMAND'; " : "", gap,
        name);
}

const struct cmd *cmd_find(const struct cmd *group, const char *word) {
    for (const struct cmd *cmd = group->group; cmd->name != NULL; cmd++) {
        if (strcmp(cmd_word(cmd), word) == 0)
            return cmd;
    }
    return NULL;
}
