/* cmd_write.c: rlock write: the exclusive side of a read/write lock. */
#include "cmd.h"
#include "hold/wrap.h"

static int write_exec(struct settings *settings) {
    const struct wrap_kind kind = wrap_kind_write(settings);
    return wrap(&kind, settings);
}

const struct cmd cmd_write = {
    .name = "write",
    .summary = "Run a command while holding a read/write lock for writing",
    .synopsis = CMD_HOLDING_SYNOPSIS,
    .options = CMD_WRITE,
    .exec = write_exec,
};
