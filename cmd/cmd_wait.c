/* cmd_wait.c: rlock wait: until nobody holds any of some locks. */
#include <stdint.h>

#include "commands.h"
#include "options/opt.h"
#include "report/report.h"

const struct cmd cmd_wait = {
    .name = "wait",
    .summary = "Wait until nobody holds a lock, without taking it",
    .synopsis = "[options] [-n] NAME...",
    .options = CMD_WAIT,
    .operand = &opt_operand_name,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .exec = wait_exec,
};
