/* status_screen.c: what `rlock status --watch` draws on a terminal: as much as there is room for.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/columns.h"
#include "output/duration.h"
#include "output/out.h"
#include "report/status.h"

enum { LINE_MAX_BYTES = 2048 };

#define BOLD "1"
#define RED  "31"

/* A line, cut to the terminal's width, in a style if there are colours. */
static void write_line(FILE *stream, const struct status_form *form, const char *style,
                       const char *text) {
    char line[LINE_MAX_BYTES];
    (void)snprintf(line, sizeof line, "%s", text);
    out_make_printable(line);
    columns_cut(line, form->width);
    if (form->colours && *line != '\0')
        fprintf(stream, "\033[%sm%s\033[0m\n", style, line);
    else
        fprintf(stream, "%s\n", line);
}

/* "3 locks, 2 held, 12 waiting" */
static void count_locks(char text[128], const struct survey *survey, size_t from, size_t to) {
    size_t held = 0, waiting = 0;
    for (size_t i = from; i < to; i++) {
        held += survey->views[i]->held;
        waiting += survey->views[i]->waiter_count;
    }
    (void)snprintf(text, 128, "%zu lock%s, %zu held, %zu waiting", to - from,
                   to - from == 1 ? "" : "s", held, waiting);
}

/* "redis://host: 3 locks, 2 held, 12 waiting": of a line that is too long the URL is cut. */
static void describe_server(char line[LINE_MAX_BYTES], const struct status_form *form,
                            const char *url, const char *said) {
    char shown[LINE_MAX_BYTES / 2];
    const size_t wanted = columns_of(said) + strlen(": ");
    (void)snprintf(shown, sizeof shown, "%s", url);
    if (columns_of(shown) + wanted > form->width) {
        columns_cut(shown, form->width > wanted + 3 ? form->width - wanted - 3 : 0);
        (void)snprintf(shown + strlen(shown), 4, "...");
    }
    (void)snprintf(line, LINE_MAX_BYTES, "%s: %s", shown, said);
}

/* On the left what there is, on the right when it was looked at. */
static void write_title(FILE *stream, const struct survey *survey, const struct status_form *form,
                        const struct status_moment *moment) {
    char counts[128], every[DURATION_TEXT_SIZE], clock[16] = "", line[LINE_MAX_BYTES], right[96];
    const time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local) != NULL)
        (void)strftime(clock, sizeof clock, "%H:%M:%S", &local);
    (void)snprintf(right, sizeof right, "every %s, %s", duration_format(every, moment->every_ms),
                   clock);
    count_locks(counts, survey, 0, survey->count);
    if (moment->silent_ms >= 0)
        (void)snprintf(line, sizeof line, "no answer for %s",
                       duration_format_seconds(every, moment->silent_ms));
    else if (form->several)
        (void)snprintf(line, sizeof line, "%zu of %zu servers answer", survey->answered,
                       survey->server_count);
    else
        describe_server(line, form, survey->servers[0].url, counts);
    const size_t taken = columns_of(line), wanted = columns_of(right);
    if (taken + 2 + wanted <= form->width)
        (void)snprintf(line + strlen(line), sizeof line - strlen(line), "%*s%s",
                       (int)(form->width - taken - wanted), "", right);
    write_line(stream, form, moment->silent_ms >= 0 ? RED : BOLD, line);
}

/* What went wrong, a line each. Returns how many. */
static size_t write_messages(FILE *stream, const struct status_form *form, const char *messages) {
    size_t count = 0;
    char line[LINE_MAX_BYTES];
    for (const char *end; (end = strchr(messages, '\n')) != NULL; messages = end + 1, count++) {
        (void)snprintf(line, sizeof line, "%.*s", (int)(end - messages), messages);
        write_line(stream, form, RED, line);
    }
    return count;
}

/* Of several servers each has its own lines, and as many of them as there are left for it. */
static bool write_servers(FILE *stream, const struct survey *survey, const struct status_form *form,
                          size_t lines) {
    bool written = true;
    for (size_t i = 0, from = 0, to; written && i < survey->server_count; i++, from = to) {
        const struct survey_server *server = &survey->servers[i];
        const size_t share = lines / (survey->server_count - i);
        char counts[128], line[LINE_MAX_BYTES];
        to = from;
        if (from < survey->count && strcmp(survey->views[from]->server, server->url) == 0)
            to = status_table_end(survey, from);
        count_locks(counts, survey, from, to);
        describe_server(line, form, server->url, server->answered ? counts : "no answer");
        if (form->several && share > 0)
            write_line(stream, form, server->answered ? BOLD : RED, line);
        const size_t left = form->several && share > 0 ? share - 1 : share;
        size_t taken = 0;
        if (to > from && left > 1)
            written = status_table_part(stream, survey, from, to, left, form, &taken);
        lines -= taken + (share - left);
    }
    return written;
}

/* Below the title and the messages; what is old is said to be. */
static bool write_below(FILE *stream, const struct survey *survey, const struct status_form *form,
                        const struct status_moment *moment, size_t lines) {
    char line[96], age[DURATION_TEXT_SIZE];
    struct status_form plain = *form;
    if (moment->silent_ms >= 0 && lines > 0) {
        (void)snprintf(line, sizeof line,
                       "seen %s ago:", duration_format_seconds(age, moment->silent_ms));
        write_line(stream, form, BOLD, line);
        plain.colours = false;
        lines--;
    }
    if (survey->count == 0 && lines > 0)
        write_line(stream, form, BOLD, "no locks");
    return survey->count == 0 || write_servers(stream, survey, &plain, lines);
}

/* Draws over what is there, line by line, and takes away what is left of it below: no moment at
 * which the screen is empty. The last line is the cursor's. */
static void write_over(FILE *stream, const char *text, size_t lines) {
    fputs("\033[H", stream);
    for (const char *end; lines > 1 && (end = strchr(text, '\n')) != NULL; text = end + 1, lines--)
        fprintf(stream, "%.*s\033[K\n", (int)(end - text), text);
    fputs("\033[J", stream);
}

bool status_screen(FILE *stream, const struct survey *survey, const struct status_form *form,
                   const struct status_moment *moment) {
    char *text = NULL;
    size_t size;
    FILE *lines = open_memstream(&text, &size);
    if (lines == NULL)
        return false;
    write_title(lines, survey, form, moment);
    const size_t above = 2 + write_messages(lines, form, moment->messages); /* and the cursor's */
    bool made =
        write_below(lines, survey, form, moment, form->lines > above ? form->lines - above : 0);
    made = fclose(lines) == 0 && made;
    if (made)
        write_over(stream, text, form->lines);
    free(text);
    return made;
}
