/* status.c: rlock status once: a survey of the servers, printed in the form that was asked for, or
 * answered by the exit status; and the names alone, for completions. */
#include "report/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "options/opt.h"
#include "output/out.h"
#include "output/printable.h"
#include "report/report.h"

enum { USUAL_WIDTH = 80, USUAL_HEIGHT = 24 }; /* of a terminal that does not say */

static bool is_terminal(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* As wide as the terminal is; elsewhere nothing is cut, for a program may read it. */
struct status_form status_form_choose(const struct settings *settings) {
    const char *no_color = getenv("NO_COLOR");
    const bool on_terminal = isatty(STDOUT_FILENO);
    struct winsize window = {0};
    if (on_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0)
        window = (struct winsize){0};
    const size_t width = window.ws_col > 0 ? window.ws_col : USUAL_WIDTH;
    return (struct status_form){
        .is_screen = is_terminal() && !settings->look.json,
        .colours = is_terminal() && (no_color == NULL || *no_color == '\0'),
        .all = settings->verbose,
        .width = on_terminal ? width : SIZE_MAX,
        .lines = window.ws_row > 0 ? window.ws_row : USUAL_HEIGHT,
    };
}

static bool write_form(FILE *stream, const struct survey *survey, const struct settings *settings) {
    const struct status_form form = status_form_choose(settings);
    if (!settings->look.json)
        return status_table(stream, survey, &form);
    status_json(stream, survey);
    return true;
}

int status_print(const struct survey *survey, const struct settings *settings) {
    struct out_page page;
    FILE *stream = out_page_begin(&page);
    if (stream == NULL)
        return EXIT_SYSTEM;
    if (write_form(stream, survey, settings))
        return out_page_end(&page);
    (void)fclose(stream);
    free(page.text);
    return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot show what was seen: out of memory");
}

/* There may be nothing to see because it is the wrong server. */
static void say_origin(const struct server *server) {
    const struct settings *settings = server->settings;
    char from[OPT_ORIGIN_SIZE], line[2 * OPT_ORIGIN_SIZE];
    const size_t width = status_form_choose(settings).width, taken = strlen("rlock: ");
    if (settings->look.json || width <= taken || OPT_IS_GIVEN(settings, server.urls))
        return;
    (void)snprintf(line, sizeof line, "%s, from %s", server_shown(server),
                   server_origin(settings, from));
    columns_cut(line, width - taken);
    out_info("%s", line);
}

static int show_once(const struct server *server) {
    const struct settings *settings = server->settings;
    struct survey survey;
    say_origin(server);
    survey_make(&survey, server, SURVEY_ALL, RLOCK_FOREVER);
    const bool shown = survey.answered > 0 || survey.count > 0 || settings->look.json;
    const int failure = shown ? status_print(&survey, settings) : 0;
    const int status = failure != 0 ? failure : survey.failure;
    survey_free(&survey);
    return status;
}

static int show_held(const struct server *server) {
    struct survey survey;
    survey_make(&survey, server, SURVEY_HELD, RLOCK_FOREVER);
    const bool held = survey.failure == 0 && survey_find_held(&survey) != NULL;
    const int status = held ? EXIT_CONFLICT : survey.failure;
    survey_free(&survey);
    return status;
}

/* --- names for completions -------------------------------------------------------------------- */

/* Somebody has pressed a key and waits: it is now or not at all. What is listed are the names that
 * may be locks; to look at each would take longer than it is worth. */
enum { PATIENCE_MS = 300 };

/* What is shown as something else can't be completed. */
static bool can_be_shown(const char *name) {
    char shown[RLOCK_NAME_MAX + 1];
    (void)snprintf(shown, sizeof shown, "%s", name);
    printable_make(shown, "");
    return strcmp(shown, name) == 0;
}

static int print(const rlock_scan *scan) {
    struct out_page page;
    FILE *stream = out_page_begin(&page);
    if (stream == NULL)
        return EXIT_SYSTEM;
    const char *name;
    for (size_t i = 0; (name = rlock_scan_name(scan, i)) != NULL; i++) {
        if (can_be_shown(name))
            fprintf(stream, "%s\n", name);
    }
    return out_page_end(&page);
}

static int find_and_print(const struct server *server) {
    const int64_t deadline_ms = rlock_now_ms() + PATIENCE_MS;
    rlock_scan *scan = NULL;
    enum rlock_status status = rlock_scan_new(&scan, server->client, 0);
    if (status == RLOCK_OK)
        status = RLOCK_AGAIN;
    while (status == RLOCK_AGAIN && rlock_now_ms() < deadline_ms)
        status = rlock_scan_step(scan, deadline_ms, -1);
    const int failure = scan != NULL ? print(scan) : EXIT_SYSTEM;
    const int result = failure == 0 && status != RLOCK_OK ? EXIT_UNAVAILABLE : failure;
    rlock_scan_free(scan);
    return result;
}

/* Nobody wants a server to be started for that. */
static int list_names(struct settings *settings) {
    settings->server.connect_timeout_ms = PATIENCE_MS;
    settings->server.io_timeout_ms = PATIENCE_MS;
    struct server server;
    int status = server_name(&server, settings);
    if (status == 0)
        status = find_and_print(&server);
    server_close(&server);
    return status;
}

/* --- the command ------------------------------------------------------------------------------ */

bool status_is_silent(const struct settings *settings) {
    return settings->quiet && OPT_IS_GIVEN(settings, quiet);
}

int status_exec(struct settings *settings) {
    if (settings->look.list_names)
        return list_names(settings);
    struct server server;
    int status = server_open(&server, settings);
    if (status == 0 && status_is_silent(settings))
        status = show_held(&server);
    else if (status == 0 && settings->look.watch_ms > 0)
        status = watch(&server);
    else if (status == 0)
        status = show_once(&server);
    server_close(&server);
    return status;
}
