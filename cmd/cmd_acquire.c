/* cmd_acquire.c: rlock acquire: the locks of the commands that run others, left held for a lease.
 * A latch is not among them, nor are plain permits: what has no lease would stay for ever. */
#include <unistd.h>

#include "commands.h"
#include "hold/acquire.h"
#include "hold/background.h"
#include "hold/detached.h"
#include "hold/kind.h"

#define SYNOPSIS "-n NAME [options]"

static int acquire_exec(struct settings *settings) {
    struct signals signals;
    int status = acquire_signals(&signals);
    if (status != 0)
        return status;
    status = settings->while_pid > 0 ? background_acquire(settings, &signals)
                                     : detached_acquire(settings, &signals);
    close(signals.fd);
    return status;
}

const struct cmd cmd_acquire_run = {
    .name = "acquire run",
    .summary = "Take the exclusive lock of 'rlock run'",
    .synopsis = SYNOPSIS,
    .options = CMD_ACQUIRE_RUN,
    .child = CHILD_NONE,
    .kind = &kind_run,
    .exec = acquire_exec,
};

const struct cmd cmd_acquire_fair = {
    .name = "acquire fair",
    .summary = "Take the same lock, first come first served",
    .synopsis = SYNOPSIS,
    .options = CMD_ACQUIRE_FAIR,
    .child = CHILD_NONE,
    .kind = &kind_fair,
    .exec = acquire_exec,
};

const struct cmd cmd_acquire_read = {
    .name = "acquire read",
    .summary = "Take a read/write lock for reading",
    .synopsis = SYNOPSIS,
    .options = CMD_ACQUIRE_READ,
    .child = CHILD_NONE,
    .kind = &kind_read,
    .exec = acquire_exec,
};

const struct cmd cmd_acquire_write = {
    .name = "acquire write",
    .summary = "Take a read/write lock for writing",
    .synopsis = SYNOPSIS,
    .options = CMD_ACQUIRE_WRITE,
    .child = CHILD_NONE,
    .kind = &kind_write,
    .exec = acquire_exec,
};

const struct cmd cmd_acquire_sem = {
    .name = "acquire sem",
    .summary = "Take permits of a semaphore",
    .synopsis = "-n NAME [--permits N] [--take K] [options]",
    .options = CMD_ACQUIRE_SEM,
    .child = CHILD_NONE,
    .one_name = true,
    .kind = &kind_sem,
    .exec = acquire_exec,
    .check = settings_check_take,
};

static const struct cmd *const commands[] = {&cmd_acquire_run,  &cmd_acquire_fair,
                                             &cmd_acquire_read, &cmd_acquire_write,
                                             &cmd_acquire_sem,  NULL};

const struct cmd cmd_acquire = {
    .name = "acquire",
    .summary = "Take a lock, print its handle, and leave it held",
    .synopsis = "KIND -n NAME [options]",
    .options = CMD_ACQUIRE,
    .group = commands,
};
