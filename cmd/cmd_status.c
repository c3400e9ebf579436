/* cmd_status.c: rlock status: which locks are held, and who waits for them. */
#include "commands.h"
#include "options/opt.h"
#include "output/out.h"
#include "report/completion.h"
#include "report/status.h"
#include "report/watch.h"

/* -q in a config file silences messages; on the command line it asks for the exit status only. */
static bool wants_status_only(const struct settings *settings) {
    return settings->quiet && OPT_IS_GIVEN(settings, quiet);
}

static int status_exec(struct settings *settings) {
    if (settings->list_names)
        return completion_list_names(settings);
    struct server server;
    int status = server_open(&server, settings);
    if (status == 0 && wants_status_only(settings))
        status = show_held(&server, settings);
    else if (status == 0 && settings->watch_ms > 0)
        status = watch(&server, settings);
    else if (status == 0)
        status = show_once(&server, settings);
    server_close(&server);
    return status;
}

static bool check_forms(const struct settings *settings, struct complaint *why) {
    const char *other = settings->json ? "--json" : settings->watch_ms > 0 ? "--watch" : NULL;
    if (wants_status_only(settings) && (settings->prometheus || other != NULL))
        return complain(why, EXIT_USAGE, "-q and %s: -q prints nothing: give one of the two",
                        settings->prometheus ? "--prometheus" : other);
    return !settings->prometheus || other == NULL ||
           complain(why, EXIT_USAGE,
                    "--prometheus and %s: a file for Prometheus has nothing else in it: give one "
                    "of the two",
                    other);
}

static bool status_check(const struct settings *settings, struct complaint *why) {
    if (wants_status_only(settings) && settings->name_count == 0)
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
    .child = CHILD_NONE,
    .operand = &opt_operand_name,
    .operands_max = SIZE_MAX,
    .exec = status_exec,
    .check = status_check,
};
