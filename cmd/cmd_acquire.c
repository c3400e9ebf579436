/* cmd_acquire.c: rlock acquire: the locks of the commands that wrap others, left held for a lease.
 * A latch is not among them, nor are plain permits: what has no lease would stay for ever. */
#include "cmd.h"
#include "hold/acquire.h"

#define SYNOPSIS "-n NAME [options]"

static int run_exec(struct settings *settings) {
    const struct wrap_kind kind = wrap_kind_run();
    return acquire_lock(&kind, settings);
}

const struct cmd cmd_acquire_run = {
    .name = "acquire run",
    .summary = "Take the exclusive lock of 'rlock run'",
    .synopsis = SYNOPSIS,
    .options = CMD_ACQUIRE_RUN,
    .child = CHILD_NONE,
    .exec = run_exec,
};

static int fair_exec(struct settings *settings) {
    const struct wrap_kind kind = wrap_kind_fair(settings);
    return acquire_lock(&kind, settings);
}

const struct cmd cmd_acquire_fair = {
    .name = "acquire fair",
    .summary = "Take the same lock, first come first served",
    .synopsis = SYNOPSIS,
    .options = CMD_ACQUIRE_FAIR,
    .child = CHILD_NONE,
    .exec = fair_exec,
};

static int read_exec(struct settings *settings) {
    const struct wrap_kind kind = wrap_kind_read();
    return acquire_lock(&kind, settings);
}

const struct cmd cmd_acquire_read = {
    .name = "acquire read",
    .summary = "Take a read/write lock for reading",
    .synopsis = SYNOPSIS,
    .options = CMD_ACQUIRE_READ,
    .child = CHILD_NONE,
    .exec = read_exec,
};

static int write_exec(struct settings *settings) {
    const struct wrap_kind kind = wrap_kind_write(settings);
    return acquire_lock(&kind, settings);
}

const struct cmd cmd_acquire_write = {
    .name = "acquire write",
    .summary = "Take a read/write lock for writing",
    .synopsis = SYNOPSIS,
    .options = CMD_ACQUIRE_WRITE,
    .child = CHILD_NONE,
    .exec = write_exec,
};

static int sem_exec(struct settings *settings) {
    const struct wrap_kind kind = wrap_kind_sem(settings);
    return acquire_lock(&kind, settings);
}

const struct cmd cmd_acquire_sem = {
    .name = "acquire sem",
    .summary = "Take permits of a semaphore",
    .synopsis = "-n NAME [--permits N] [--take K] [options]",
    .options = CMD_ACQUIRE_SEM,
    .child = CHILD_NONE,
    .one_name = true,
    .exec = sem_exec,
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
