/* out.c: the only place that prints.
 *
 * A message is made in memory and written by one write(2), so that lines of several processes on
 * one terminal or log do not mix. A line that standard error does not take is dropped: a lock must
 * not be lost because a log is full, or because nobody reads it (a pager, Ctrl-S). */
#include "output/out.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "output/json.h"
#include "output/printable.h"

#define MESSAGE_MAX 3072
#define ERASE       "\r\033[K" /* a live line */

/* An error is the last that is said, or is said when the command is stopped already. */
enum { ERROR_PATIENCE_MS = 1000 };

/* How to speak, set once by out_setup(). File-scope, for a message may come from anywhere. */
static struct {
    bool quiet;
    bool verbose;
    bool as_json;
    bool live_shown;
    FILE *kept; /* see out_keep() */
    bool unwritten;
} out;

static bool write_message(enum out_level level, const char *text, size_t length) {
    return stream_say(text, length, level == OUT_ERROR ? ERROR_PATIENCE_MS : 0);
}

void out_make_printable(char *text) {
    secret_hide(text);
    printable_make(text, "");
}

/* Where somebody types at another job's prompt. */
static bool in_background(void) {
    const pid_t foreground = tcgetpgrp(STDERR_FILENO);
    return foreground > 0 && foreground != getpgrp();
}

static void write_text(enum out_level level, const char *message) {
    char line[sizeof ERASE "rlock: \n" + MESSAGE_MAX];
    const bool to_erase = out.live_shown && !in_background();
    int length = snprintf(line, sizeof line, "%srlock: %s\n", to_erase ? ERASE : "", message);
    out.live_shown = false;
    write_message(level, line, (size_t)length);
}

static void add_members(struct json *json, enum out_level level, const char *event,
                        const struct out_field *fields, size_t field_count, const char *message) {
    static const char *const levels[] = {[OUT_ERROR] = "error",
                                         [OUT_WARNING] = "warning",
                                         [OUT_INFO] = "info",
                                         [OUT_DEBUG] = "debug"};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_instant(json, "time", (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    json_text(json, "level", levels[level]);
    json_text(json, "event", event);
    json_text(json, "message", message);
    for (const struct out_field *field = fields; field < fields + field_count; field++) {
        const bool is_text = !field->is_number && field->text != NULL;
        if (field->is_number && field->number >= 0)
            json_number(json, field->name, field->number);
        else if (is_text && strcmp(field->name, "name") == 0) /* the lock's, to the letter */
            json_text(json, field->name, field->text);
        else if (is_text)
            json_words(json, field->name, field->text);
    }
}

/* Yours to free; NULL: no memory. */
static char *make_json(enum out_level level, const char *event, const struct out_field *fields,
                       size_t field_count, const char *message) {
    char *line = NULL;
    size_t length;
    struct json json = {.stream = open_memstream(&line, &length)};
    if (json.stream == NULL)
        return NULL;
    json_open(&json, NULL, '{');
    add_members(&json, level, event, fields, field_count, message);
    json_close(&json, '}');
    fputc('\n', json.stream);
    if (fclose(json.stream) == 0)
        return line;
    free(line);
    return NULL;
}

/* Takes at least so many bytes from a text's end, and no part of a character. */
static void shorten(char *text, size_t by) {
    const size_t length = strlen(text);
    size_t end = length > by ? length - by : 0;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    text[end] = '\0';
}

/* A pipe takes a line of PIPE_BUF bytes as a whole: of a longer one the message is shortened, which
 * says what the other members do. */
static void write_json(enum out_level level, const char *event, const struct out_field *fields,
                       size_t field_count, char *message) {
    char *line = make_json(level, event, fields, field_count, message);
    if (line != NULL && strlen(line) > PIPE_BUF) {
        shorten(message, strlen(line) - PIPE_BUF);
        free(line);
        line = make_json(level, event, fields, field_count, message);
    }
    if (line != NULL)
        write_message(level, line, strlen(line));
    free(line);
}

static void __attribute__((format(printf, 5, 0)))
say(enum out_level level, const char *event, const struct out_field *fields, size_t field_count,
    const char *format, va_list arguments) {
    bool is_event = event != NULL && out.as_json;
    if (level != OUT_ERROR && out.quiet)
        return;
    if (level == OUT_DEBUG && !out.verbose && !is_event)
        return;
    const int error = errno; /* callers say why after they say what */
    char message[MESSAGE_MAX];
    vsnprintf(message, sizeof message, format, arguments);
    if (out.kept != NULL)
        fprintf(out.kept, "%s\n", message);
    if (out.as_json && !out.unwritten) {
        secret_hide(message);
        write_json(level, event != NULL ? event : "message", fields, field_count, message);
    } else if (!out.unwritten) {
        out_make_printable(message);
        write_text(level, message);
    }
    errno = error;
}

void out_event(enum out_level level, const char *event, const struct out_field *fields,
               size_t field_count, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(level, event, fields, field_count, format, arguments);
    va_end(arguments);
}

int out_fail(int status, const char *name, const char *server, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(OUT_ERROR, "failed",
        OUT_FIELDS(OUT_TEXT("name", name), OUT_TEXT("server", server),
                   OUT_NUMBER("exit_status", status)),
        format, arguments);
    va_end(arguments);
    return status;
}

bool out_tells(void) {
    return !out.quiet && (out.verbose || out.as_json);
}

bool out_is_json(void) {
    return out.as_json;
}

void out_setup(bool quiet, bool verbose, bool as_json) {
    out.quiet = quiet;
    out.verbose = verbose;
    out.as_json = out.as_json || as_json;
}

void out_keep(FILE *stream, bool written_too) {
    out.kept = stream;
    out.unwritten = !written_too;
}

static void __attribute__((format(printf, 2, 0)))
format_message(char message[MESSAGE_MAX], const char *format, va_list arguments) {
    vsnprintf(message, MESSAGE_MAX, format, arguments);
    out_make_printable(message);
}

void out_ask(const char *format, ...) {
    char message[MESSAGE_MAX], line[MESSAGE_MAX + 32];
    va_list arguments;
    va_start(arguments, format);
    format_message(message, format, arguments);
    va_end(arguments);
    int length = snprintf(line, sizeof line, "rlock: %s", message);
    write_message(OUT_ERROR, line, (size_t)length);
}

void out_ask_end(void) {
    write_message(OUT_ERROR, "\n", 1);
}

/* --- the live line --------------------------------------------------------------------------- */

bool out_can_live(void) {
    const char *terminal =
        getenv("TERM"); /* unset is no word against it: all it takes is \r and ESC[K */
    return !out.quiet && !out.as_json && (terminal == NULL || strcmp(terminal, "dumb") != 0) &&
           isatty(STDERR_FILENO);
}

/* How long a live line may be, so that it and the "^C" that a terminal adds do not wrap: only one
 * line can be erased. Asked for each time, for a window may have changed its size. */
static size_t live_columns(void) {
    enum { UNKNOWN = 80, SPARE = sizeof "^C" };
    struct winsize window = {0};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return UNKNOWN - SPARE;
    return window.ws_col > SPARE ? window.ws_col - SPARE : 0;
}

void out_live(const char *format, ...) {
    if (!out_can_live() || in_background())
        return;
    char message[MESSAGE_MAX], line[MESSAGE_MAX + 32];
    va_list arguments;
    va_start(arguments, format);
    format_message(message, format, arguments);
    va_end(arguments);
    (void)snprintf(line, sizeof line, ERASE "rlock: %s", message);
    columns_cut(line + strlen(ERASE), live_columns());
    out.live_shown = write_message(OUT_INFO, line, strlen(line));
}

void out_live_end(void) {
    if (out.live_shown && !in_background())
        write_message(OUT_INFO, ERASE, strlen(ERASE));
    out.live_shown = false;
}

/* --- help, version, lists -------------------------------------------------------------------- */

int out_stdout(const char *text) {
    char *shown = strdup(text);
    if (shown != NULL)
        printable_make(shown, "\n\t\033"); /* what others wrote has lost these before */
    size_t done = 0;
    const bool written = shown != NULL && stream_write(shown, strlen(shown), &done, -1);
    if (!written)
        out_error("cannot write to standard output: %s", strerror(errno));
    free(shown);
    return written ? 0 : EXIT_SYSTEM;
}

static int say_no_memory(void) {
    return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot write to standard output: out of memory");
}

FILE *out_page_begin(struct out_page *page) {
    page->stream = open_memstream(&page->text, &page->size);
    if (page->stream == NULL)
        (void)say_no_memory();
    return page->stream;
}

int out_page_end(struct out_page *page) {
    const int status = fclose(page->stream) == 0 ? out_stdout(page->text) : say_no_memory();
    free(page->text);
    return status;
}
