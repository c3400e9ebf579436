/* cmd_latch.c: rlock latch: a count-down latch; a command each to set it, to count it down, at once
 * or when a command has ended, and to wait until it is open. */
#include "commands.h"
#include "hold/hold.h"
#include "output/out.h"

static bool latch_set_check(const struct settings *settings, struct complaint *why) {
    return settings->counter.count > 0 ||
           complain(why, EXIT_USAGE,
                    "missing --count: say after how many count-downs it opens with --count N");
}

const struct cmd cmd_latch_set = {
    .name = "latch set",
    .summary = "Set a latch that opens after N count-downs",
    .synopsis = "-n NAME --count N [options]",
    .options = CMD_LATCH_SET,
    .one_name = true,
    .exec = latch_set_exec,
    .check = latch_set_check,
};

static int latch_down_exec(struct settings *settings) {
    return settings->run.command != NULL ? run_exec(settings) : counter_down_now(settings);
}

const struct cmd cmd_latch_down = {
    .name = "latch down",
    .summary = "Count a latch down, after a command has succeeded if one is given",
    .synopsis = "-n NAME [--by K] [options] [[--] COMMAND [ARG...]]\n"
                "-n NAME [--by K] [options] -c STRING",
    .options = CMD_LATCH_DOWN,
    .child = CHILD_OPTIONAL,
    .one_name = true,
    .kind = &kind_latch_down,
    .exec = latch_down_exec,
};

const struct cmd cmd_latch_wait = {
    .name = "latch wait",
    .summary = "Wait until a latch is open, then run a command",
    .synopsis = "-n NAME [options] [[--] COMMAND [ARG...]]\n-n NAME [options] -c STRING",
    .options = CMD_LATCH_WAIT,
    .child = CHILD_OPTIONAL,
    .one_name = true,
    .kind = &kind_latch,
    .exec = run_exec,
};

static const struct cmd *const commands[] = {&cmd_latch_set, &cmd_latch_down, &cmd_latch_wait,
                                             NULL};

const struct cmd cmd_latch = {
    .name = "latch",
    .summary = "Set a count-down latch, count it down, or wait until it opens",
    .synopsis = "COMMAND [options] ...",
    .options = CMD_LATCH,
    .group = commands,
};
