/* status_print.c: in which form a survey is printed, and on what. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output/out.h"
#include "report/status.h"

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
        .several = settings->server_count > 1,
        .is_screen = is_terminal() && !settings->json && !settings->prometheus,
        .colours = is_terminal() && (no_color == NULL || *no_color == '\0'),
        .all = settings->verbosity > 0,
        .says_none = on_terminal,
        .width = on_terminal ? width : SIZE_MAX,
        .lines = window.ws_row > 0 ? window.ws_row : USUAL_HEIGHT,
    };
}

static bool write_form(FILE *stream, const struct survey *survey, const struct settings *settings) {
    const struct status_form form = status_form_choose(settings);
    if (settings->prometheus)
        return status_prometheus(stream, survey);
    if (!settings->json)
        return status_table(stream, survey, &form);
    status_json(stream, survey, &form);
    return true;
}

int status_print(const struct survey *survey, const struct settings *settings) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    bool made = stream != NULL && write_form(stream, survey, settings);
    if (stream != NULL)
        made = fclose(stream) == 0 && made;
    const int status =
        made ? out_stdout(text)
             : out_fail(EXIT_SYSTEM, NULL, NULL, "cannot show what was seen: out of memory");
    free(text);
    return status;
}
