/* cmd_wait.c: rlock wait: until nobody holds any of some locks. */
#include <stdint.h>

#include "commands.h"
#include "options/opt.h"
#include "report/idle.h"

static int wait_exec(struct settings *settings) {
    struct server server;
    int status = server_open(&server, settings);
    if (status == 0)
        status = idle_wait(&server, settings);
    server_close(&server);
    return status;
}

const struct cmd cmd_wait = {
    .name = "wait",
    .summary = "Wait until nobody holds a lock, without taking it",
    .synopsis = "[options] [-n] NAME...",
    .options = CMD_WAIT,
    .child = CHILD_NONE,
    .operand = &opt_operand_name,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .exec = wait_exec,
};
