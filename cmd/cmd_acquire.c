/* cmd_acquire.c: rlock acquire: the locks of the commands that run others, left held for a lease.
 * A latch is not among them, nor are plain permits: what has no lease would stay for ever. */
#include "commands.h"
#include "hold/hold.h"

#define SYNOPSIS "-n NAME [options]"

const struct cmd cmd_acquire_kinds[] = {
    {.name = "acquire run",
     .summary = "Take the exclusive lock of 'rlock run'",
     .synopsis = SYNOPSIS,
     .options = CMD_ACQUIRE_RUN,
     .kind = &kind_run,
     .exec = acquire_exec},
    {.name = "acquire fair",
     .summary = "Take the same lock, first come first served",
     .synopsis = SYNOPSIS,
     .options = CMD_ACQUIRE_FAIR,
     .kind = &kind_fair,
     .exec = acquire_exec},
    {.name = "acquire read",
     .summary = "Take a read/write lock for reading",
     .synopsis = SYNOPSIS,
     .options = CMD_ACQUIRE_READ,
     .kind = &kind_read,
     .exec = acquire_exec},
    {.name = "acquire write",
     .summary = "Take a read/write lock for writing",
     .synopsis = SYNOPSIS,
     .options = CMD_ACQUIRE_WRITE,
     .kind = &kind_write,
     .exec = acquire_exec},
    {.name = "acquire sem",
     .summary = "Take permits of a semaphore",
     .synopsis = "-n NAME [--permits N] [--take K] [options]",
     .options = CMD_ACQUIRE_SEM,
     .one_name = true,
     .kind = &kind_sem,
     .exec = acquire_exec,
     .check = settings_check_take},
};

static const struct cmd *const commands[] = {&cmd_acquire_kinds[0], &cmd_acquire_kinds[1],
                                             &cmd_acquire_kinds[2], &cmd_acquire_kinds[3],
                                             &cmd_acquire_kinds[4], NULL};

const struct cmd cmd_acquire = {
    .name = "acquire",
    .summary = "Take a lock, print its handle, and leave it held",
    .synopsis = "KIND -n NAME [options]",
    .options = CMD_ACQUIRE,
    .group = commands,
};
