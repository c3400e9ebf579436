/* cmd_release.c: rlock release: gives a lock back that is held. */
#include "commands.h"
#include "hold/hold.h"
#include "options/opt.h"

const struct cmd cmd_release = {
    .name = "release",
    .summary = "Give back a lock that is held",
    .synopsis = "HANDLE [options]",
    .options = CMD_RELEASE,
    .operand = &opt_operand_handle,
    .operands_min = 1,
    .operands_max = 1,
    .exec = release_exec,
};
