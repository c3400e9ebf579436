/* cmd_run.c: rlock run: an exclusive, reentrant lock with a fencing token. */
#include "cmd.h"
#include "hold/wrap.h"

static int run_exec(struct settings *settings) {
    const struct wrap_kind kind = wrap_kind_run();
    return wrap(&kind, settings);
}

const struct cmd cmd_run = {
    .name = "run",
    .summary = "Run a command while holding an exclusive lock",
    .synopsis = CMD_HOLDING_SYNOPSIS,
    .options = CMD_RUN,
    .exec = run_exec,
};
