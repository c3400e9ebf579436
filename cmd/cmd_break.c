/* cmd_break.c: rlock break: takes a lock away from its holders, after asking. */
#include "commands.h"
#include "hold/acquire.h"
#include "options/opt.h"
#include "report/break.h"

static int break_exec(struct settings *settings) {
    char user[ACQUIRE_USER_SIZE];
    acquire_describe_user(user);
    return break_lock(settings, user);
}

const struct cmd cmd_break = {
    .name = "break",
    .summary = "Take a lock away from its holder, after asking",
    .synopsis = "[options] [-n] NAME",
    .options = CMD_BREAK,
    .child = CHILD_NONE,
    .operand = &opt_operand_name,
    .operands_min = 1,
    .operands_max = 1,
    .exec = break_exec,
};
