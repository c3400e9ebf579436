/* cmd_latch_wait.c: rlock latch wait: until a latch is open. */
#include "cmd.h"
#include "hold/wrap.h"

static int latch_wait_exec(struct settings *settings) {
    const struct wrap_kind kind = {
        .name = "latch",
        .library = "latch",
        .variant = settings->must_exist ? "must-exist" : NULL,
        .detail = DETAIL_COUNT,
        .passed = true,
    };
    return wrap(&kind, settings);
}

const struct cmd cmd_latch_wait = {
    .name = "latch wait",
    .summary = "Wait until a latch is open, then run a command",
    .synopsis = "-n NAME [options] [[--] COMMAND [ARG...]]\n-n NAME [options] -c STRING",
    .options = CMD_LATCH_WAIT,
    .child = CHILD_OPTIONAL,
    .one_name = true,
    .exec = latch_wait_exec,
};
