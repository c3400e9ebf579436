/* cmd_status.c: rlock status: locks, their holders and their waiters. */
#include "commands.h"
#include "options/opt.h"
#include "output/out.h"
#include "report/report.h"

static bool check_forms(const struct settings *settings, struct complaint *why) {
    const char *other = settings->look.json           ? "--json"
                        : settings->look.watch_ms > 0 ? "--watch"
                                                      : NULL;
    if (status_is_silent(settings) && (settings->look.prometheus || other != NULL))
        return complain(why, EXIT_USAGE, "-q and %s: -q prints nothing: give one of the two",
                        settings->look.prometheus ? "--prometheus" : other);
    return !settings->look.prometheus || other == NULL ||
           complain(why, EXIT_USAGE,
                    "--prometheus and %s: a file for Prometheus has nothing else in it: give one "
                    "of the two",
                    other);
}

static bool status_check(const struct settings *settings, struct complaint *why) {
    if (status_is_silent(settings) && settings->name_count == 0)
        return complain(why, EXIT_USAGE,
                        "missing NAME: -q tells by the exit status whether a name "
                        "is held: give it, as in 'rlock status -q NAME'");
    return check_forms(settings, why);
}

const struct cmd cmd_status = {
    .name = "status",
    .summary = "Show who holds what, and who waits",
    .synopsis = "[options] [-n] [NAME|PATTERN...]",
    .options = CMD_STATUS,
    .operand = &opt_operand_name,
    .operands_max = SIZE_MAX,
    .exec = status_exec,
    .check = status_check,
};
