/* cmd_latch_down.c: rlock latch down: counts a latch down, at once or when a command has ended. */
#include "commands.h"
#include "hold/counter.h"
#include "hold/kind.h"
#include "hold/run.h"

static int count_at_once(const struct settings *settings) {
    struct server server;
    int status = server_open(&server, settings);
    if (status == 0)
        status = counter_down(&server, settings, -1);
    server_close(&server);
    return status;
}

static int latch_down_exec(struct settings *settings) {
    return settings->command != NULL ? run_exec(settings) : count_at_once(settings);
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
