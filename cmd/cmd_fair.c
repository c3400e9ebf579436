/* cmd_fair.c: rlock fair: the lock of `rlock run`, first come, first served. */
#include "cmd.h"
#include "hold/wrap.h"

static int fair_exec(struct settings *settings) {
    const struct wrap_kind kind = wrap_kind_fair(settings);
    return wrap(&kind, settings);
}

const struct cmd cmd_fair = {
    .name = "fair",
    .summary = "Run a command while holding an exclusive lock, first come first served",
    .synopsis = CMD_HOLDING_SYNOPSIS,
    .options = CMD_FAIR,
    .exec = fair_exec,
};
