/* cmd_status.c: rlock status: who holds what, and who waits. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "options/opt.h"
#include "output/out.h"
#include "report/completion.h"
#include "report/status.h"

enum { USUAL_WIDTH = 80 }; /* of a terminal that does not say */

/* A -q of a config file silences messages; only that of the command line asks for no more than the
 * exit status. */
static bool wants_status_only(const struct settings *settings) {
    return settings->quiet && settings->origins[SETTING_QUIET].source == SOURCE_OPTION;
}

static bool is_terminal(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* As wide as the terminal is; elsewhere nothing is cut, for a program may read it. */
static size_t choose_width(void) {
    struct winsize window = {0};
    if (!isatty(STDOUT_FILENO))
        return SIZE_MAX;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col
                                                                               : USUAL_WIDTH;
}

static struct status_form choose_form(const struct settings *settings) {
    const char *no_color = getenv("NO_COLOR");
    return (struct status_form){
        .several = settings->server_count > 1,
        .colours = is_terminal() && (no_color == NULL || *no_color == '\0'),
        .all = settings->verbosity > 0,
        .says_none = isatty(STDOUT_FILENO),
        .width = choose_width(),
    };
}

/* As many lines as the terminal has room for, and the cursor's own: what scrolls can't be drawn
 * over. Above them stand messages, of which each may take some. */
static void cut_lines(char *text, size_t messages) {
    enum { EACH = 3 };
    struct winsize window = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0)
        return;
    const size_t taken = EACH * messages + 1;
    const bool no_room = window.ws_row <= taken;
    for (size_t rows = no_room ? 1 : window.ws_row - taken; *text != '\0'; text++) {
        if (*text == '\n' && --rows == 0) {
            text[no_room ? 0 : 1] = '\0';
            return;
        }
    }
}

/* Returns the exit status. */
static int print(const struct survey *survey, const struct settings *settings, const char *before) {
    const struct status_form form = choose_form(settings);
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    bool made = stream != NULL;
    if (made) {
        fputs(survey->said > 0 ? "" : before, stream);
        if (settings->json)
            status_json(stream, survey, &form);
        else
            made = status_table(stream, survey, &form);
        made = fclose(stream) == 0 && made;
    }
    if (!made)
        out_error("cannot show what was seen: out of memory");
    if (made && *before != '\0')
        cut_lines(text, survey->said);
    const int status = made ? out_stdout(text) : EXIT_SYSTEM;
    free(text);
    return status;
}

static int show_once(const struct server *server, const struct settings *settings,
                     const char *before, bool *answered) {
    struct survey survey;
    survey_make(&survey, server, settings, before);
    *answered = survey.answered > 0;
    const bool nothing = !*answered && !settings->json;
    const int failure = nothing ? 0 : print(&survey, settings, before);
    const int status = failure != 0 ? failure : survey.failure;
    survey_free(&survey);
    return status;
}

/* Until a signal ends it, as it ends any program. A server that goes away is reported, and may come
 * back; one that never was there ends it. */
static int watch(const struct server *server, const struct settings *settings) {
    const char *redraw = is_terminal() && !settings->json ? "\033[H\033[2J" : "";
    const struct timespec pause = {.tv_sec = (time_t)(settings->watch_ms / 1000),
                                   .tv_nsec = (long)(settings->watch_ms % 1000) * 1000000};
    bool answered, ever = false;
    for (;;) {
        const int status = show_once(server, settings, redraw, &answered);
        ever = ever || answered;
        if (!ever || status == EXIT_SYSTEM)
            return status;
        (void)nanosleep(&pause, NULL);
    }
}

/* On how many of the servers the lock of the i-th view is held. */
static size_t count_held(const struct survey *survey, size_t i) {
    size_t held = 0;
    for (size_t j = 0; j < survey->count; j++)
        held +=
            survey->views[j]->held && strcmp(survey->views[j]->name, survey->views[i]->name) == 0;
    return held;
}

/* Held: one of the names is, on a majority of the servers. */
static int answer_by_status(const struct server *server, const struct settings *settings) {
    struct survey survey;
    survey_make(&survey, server, settings, "");
    int status = survey.failure;
    for (size_t i = 0; i < survey.count && status == 0; i++) {
        if (survey.views[i]->held &&
            (settings->server_count == 1 || count_held(&survey, i) > settings->server_count / 2))
            status = EXIT_CONFLICT;
    }
    survey_free(&survey);
    return status;
}

static int status_exec(struct settings *settings) {
    if (settings->list_names)
        return completion_list_names(settings);
    struct server server;
    bool answered;
    int status = server_open(&server, settings);
    if (status == 0 && wants_status_only(settings))
        status = answer_by_status(&server, settings);
    else if (status == 0 && settings->watch_ms > 0)
        status = watch(&server, settings);
    else if (status == 0)
        status = show_once(&server, settings, "", &answered);
    server_close(&server);
    return status;
}

static bool status_check(const struct settings *settings, struct complaint *why) {
    if (!wants_status_only(settings))
        return true;
    if (settings->name_count == 0)
        return complain(why, EXIT_USAGE,
                        "missing NAME: -q tells by the exit status whether a name "
                        "is held: give it, as in 'rlock status -q NAME'");
    if (settings->json || settings->watch_ms > 0)
        return complain(why, EXIT_USAGE, "-q and --%s: -q prints nothing: give one of the two",
                        settings->json ? "json" : "watch");
    return true;
}

const struct cmd cmd_status = {
    .name = "status",
    .summary = "Show who holds what, and who waits",
    .synopsis = "[options] [NAME|PATTERN...]",
    .options = CMD_STATUS,
    .child = CHILD_NONE,
    .operand = &opt_operand_name,
    .operands_max = SIZE_MAX,
    .exec = status_exec,
    .check = status_check,
};
