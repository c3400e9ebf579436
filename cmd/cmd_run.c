/* cmd_run.c: rlock run, fair, read, write: a command that runs while a lock is held. Only the kind
 * of lock differs. */
#include "commands.h"
#include "hold/hold.h"

const struct cmd cmd_run = {
    .name = "run",
    .summary = "Run a command while holding an exclusive lock",
    .synopsis = CMD_HOLDING_SYNOPSIS,
    .options = CMD_RUN,
    .child = CHILD_NEEDED,
    .kind = &kind_run,
    .exec = run_exec,
};

const struct cmd cmd_fair = {
    .name = "fair",
    .summary = "Run a command while holding an exclusive lock, first come first served",
    .synopsis = CMD_HOLDING_SYNOPSIS,
    .options = CMD_FAIR,
    .child = CHILD_NEEDED,
    .kind = &kind_fair,
    .exec = run_exec,
};

const struct cmd cmd_read = {
    .name = "read",
    .summary = "Run a command while holding a read/write lock for reading",
    .synopsis = CMD_HOLDING_SYNOPSIS,
    .options = CMD_READ,
    .child = CHILD_NEEDED,
    .kind = &kind_read,
    .exec = run_exec,
};

const struct cmd cmd_write = {
    .name = "write",
    .summary = "Run a command while holding a read/write lock for writing",
    .synopsis = CMD_HOLDING_SYNOPSIS,
    .options = CMD_WRITE,
    .child = CHILD_NEEDED,
    .kind = &kind_write,
    .exec = run_exec,
};
