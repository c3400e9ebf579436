/* show.c: rlock status once: a survey of the servers, printed, or answered by the exit status. */
#include <stdio.h>
#include <string.h>

#include "options/opt.h"
#include "output/columns.h"
#include "output/out.h"
#include "report/status.h"

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

int show_once(const struct server *server, const struct settings *settings) {
    struct survey survey;
    say_origin(server, settings);
    survey_make(&survey, server, settings, RLOCK_FOREVER);
    const bool shown = survey.answered > 0 || settings->json || settings->prometheus;
    const int failure = shown ? status_print(&survey, settings) : 0;
    const int status = failure != 0 ? failure : survey.failure;
    survey_free(&survey);
    return status;
}

int show_held(const struct server *server, const struct settings *settings) {
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
