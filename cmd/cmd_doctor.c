/* cmd_doctor.c: rlock doctor: what makes locks unsafe or slow, a line each, with what to do. */
#include "commands.h"
#include "options/opt.h"
#include "report/report.h"

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "Find what makes locks unsafe or slow, and say what to do",
    .synopsis = "[options] [-n] [NAME]",
    .options = CMD_DOCTOR,
    .operand = &opt_operand_name,
    .operands_max = 1,
    .exec = doctor_exec,
};
