/* cmd_renew.c: rlock renew: a new lease for a lock that is held. */
#include "commands.h"
#include "hold/hold.h"
#include "options/opt.h"

const struct cmd cmd_renew = {
    .name = "renew",
    .summary = "Extend the lease of a lock that is held",
    .synopsis = "HANDLE [-l D] [options]",
    .options = CMD_RENEW,
    .operand = &opt_operand_handle,
    .operands_min = 1,
    .operands_max = 1,
    .exec = renew_exec,
};
