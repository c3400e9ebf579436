/* cmd_check.c: rlock check: whether a lock is still held. */
#include "commands.h"
#include "hold/hold.h"
#include "options/opt.h"

const struct cmd cmd_check = {
    .name = "check",
    .summary = "Tell whether a lock is still held",
    .synopsis = "[HANDLE] [--min-ttl D] [options]",
    .options = CMD_CHECK,
    .operand = &opt_operand_handle,
    .operands_max = 1,
    .exec = check_exec,
};
