/* cmd_latch.c: rlock latch: a count-down latch; a command each to set it, to count down, to wait.
 */
#include "cmd.h"

static const struct cmd *const commands[] = {&cmd_latch_set, &cmd_latch_down, &cmd_latch_wait,
                                             NULL};

const struct cmd cmd_latch = {
    .name = "latch",
    .summary = "Set a count-down latch, count it down, or wait until it opens",
    .synopsis = "COMMAND [options] ...",
    .options = CMD_LATCH,
    .group = commands,
};
