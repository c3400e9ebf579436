/* cmd_read.c: rlock read: the shared side of a read/write lock. */
#include "cmd.h"
#include "hold/wrap.h"

static int read_exec(struct settings *settings) {
    const struct wrap_kind kind = wrap_kind_read();
    return wrap(&kind, settings);
}

const struct cmd cmd_read = {
    .name = "read",
    .summary = "Run a command while holding a read/write lock for reading",
    .synopsis = CMD_HOLDING_SYNOPSIS,
    .options = CMD_READ,
    .exec = read_exec,
};
