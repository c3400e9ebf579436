/* cmd_status.c: rlock status: who holds what, and who waits. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options/opt.h"
#include "output/columns.h"
#include "output/out.h"
#include "report/completion.h"
#include "report/status.h"
#include "report/watch.h"

/* A -q of a config file silences messages; only that of the command line asks for no more than the
 * exit status. */
static bool wants_status_only(const struct settings *settings) {
    return settings->quiet && OPT_IS_GIVEN(settings, quiet);
}

/* There may be nothing to see because it is the wrong server. */
static void say_origin(const struct server *server, const struct settings *settings) {
    char from[OPT_ORIGIN_SIZE], line[2 * OPT_ORIGIN_SIZE];
    const size_t width = status_form_choose(settings).width, taken = strlen("rlock: ");
    if (settings->json || settings->prometheus || width <= taken || OPT_IS_GIVEN(settings, servers))
        return;
    (void)snprintf(line, sizeof line, "%s, from %s", server_shown(server),
                   server_origin(settings, from));
    columns_cut(line, width - taken);
    out_info("%s", line);
}

/* What no server has told is not shown, but where the form says so itself. */
static int show_once(const struct server *server, const struct settings *settings) {
    struct survey survey;
    say_origin(server, settings);
    survey_make(&survey, server, settings, RLOCK_FOREVER);
    const bool shown = survey.answered > 0 || settings->json || settings->prometheus;
    const int failure = shown ? status_print(&survey, settings) : 0;
    const int status = failure != 0 ? failure : survey.failure;
    survey_free(&survey);
    return status;
}

/* Held: one of the names is, on a majority of the servers. */
static int answer_by_status(const struct server *server, const struct settings *settings) {
    struct survey survey;
    survey_make(&survey, server, settings, RLOCK_FOREVER);
    int status = survey.failure;
    for (size_t i = 0; i < survey.count && status == 0; i++) {
        if (survey.views[i]->held && (settings->server_count == 1 ||
                                      survey_count_held(&survey, i) > settings->server_count / 2))
            status = EXIT_CONFLICT;
    }
    survey_free(&survey);
    return status;
}

static int status_exec(struct settings *settings) {
    if (settings->list_names)
        return completion_list_names(settings);
    struct server server;
    int status = server_open(&server, settings);
    if (status == 0 && wants_status_only(settings))
        status = answer_by_status(&server, settings);
    else if (status == 0 && settings->watch_ms > 0)
        status = watch(&server, settings);
    else if (status == 0)
        status = show_once(&server, settings);
    server_close(&server);
    return status;
}

/* What of these stands on the command line is said in another form, or not at all. */
static bool check_forms(const struct settings *settings, struct complaint *why) {
    const char *forms[] = {
        wants_status_only(settings) ? "-q" : NULL,
        settings->prometheus ? "--prometheus" : NULL,
        settings->json ? "--json" : NULL,
        settings->watch_ms > 0 ? "--watch" : NULL,
    };
    static const char *const reasons[] = {"-q prints nothing",
                                          "a file for Prometheus has nothing else in it"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        for (size_t j = i + 1; forms[i] != NULL && j < sizeof forms / sizeof *forms; j++) {
            if (forms[j] != NULL)
                return complain(why, EXIT_USAGE, "%s and %s: %s: give one of the two", forms[i],
                                forms[j], reasons[i]);
        }
    }
    return true;
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
