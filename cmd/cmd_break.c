/* cmd_break.c: rlock break: takes a lock away from its holders, after asking. */
#include "commands.h"
#include "options/opt.h"
#include "report/report.h"

const struct cmd cmd_break = {
    .name = "break",
    .summary = "Take a lock away from its holder, after asking",
    .synopsis = "[options] [-n] NAME",
    .options = CMD_BREAK,
    .operand = &opt_operand_name,
    .operands_min = 1,
    .operands_max = 1,
    .exec = break_exec,
};
