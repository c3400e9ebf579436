/* cmd_run.c: rlock run: an exclusive, reentrant lock with a fencing token. */
#include "cmd.h"
#include "wrap.h"

static int run_exec(struct settings *settings) {
    return wrap("run", settings);
}

const struct cmd cmd_run = {
    .name = "run",
    .summary = "Run a command while holding an exclusive lock",
    .synopsis = "-n NAME [options] [--] COMMAND [ARG...]\n-n NAME [options] -c STRING",
    .options = CMD_RUN,
    .exec = run_exec,
};
