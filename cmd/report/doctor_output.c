/* doctor_output.c: how the outcome of checks is printed: a line each, wrapped on a terminal, or as
 * a JSON array. */
#include "report/doctor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/json.h"
#include "output/out.h"
#include "output/printable.h"
#include "report/status.h"

enum { INDENT = 29, ADVICE_SIZE = 1024 };

static const char *const levels[] = {[DOCTOR_OK] = "ok",
                                     [DOCTOR_NOTE] = "note",
                                     [DOCTOR_UNKNOWN] = "unknown",
                                     [DOCTOR_FINDING] = "finding"};

static const char no_file[] =
    "(it has no file: what CONFIG SET sets is lost when the server restarts)";

static bool has_no_file(const struct verdict *verdict) {
    return verdict->file != NULL && *verdict->file == '\0';
}

/* On one line, for a pipe and JSON. CONFIG SET alone is lost when the server restarts. */
static void describe_advice(char text[ADVICE_SIZE], const struct verdict *verdict) {
    const char *file = verdict->file != NULL ? verdict->file : "redis.conf";
    *text = '\0';
    if (verdict->setting != NULL && has_no_file(verdict))
        (void)snprintf(text, ADVICE_SIZE, "start it with a redis.conf that has %s %s",
                       verdict->setting, no_file);
    else if (verdict->setting != NULL)
        (void)snprintf(text, ADVICE_SIZE,
                       "CONFIG SET %s and CONFIG REWRITE, which keeps it in %.200s",
                       verdict->setting, file);
    const size_t used = strlen(text);
    (void)snprintf(text + used, ADVICE_SIZE - used, "%s%s",
                   used > 0 && *verdict->advice != '\0' ? "; " : "", verdict->advice);
}

/* One object a line: a program that reads the whole gets an array. */
static void write_json(const struct doctor_output *out, FILE *stream,
                       const struct verdict *verdict) {
    struct json json = {.stream = stream};
    char advice[ADVICE_SIZE];
    describe_advice(advice, verdict);
    fputs(out->count == 0 ? "[" : ",\n ", stream);
    json_open(&json, NULL, '{');
    json_text(&json, "check", verdict->check);
    json_text(&json, "server", verdict->server);
    json_text(&json, "level", levels[verdict->level]);
    json_words(&json, "found", verdict->found);
    json_text(&json, "advice", *advice != '\0' ? advice : NULL);
    json_close(&json, '}');
}

/* --- lines ------------------------------------------------------------------------------------ */

/* On a terminal: what to paste has lines of its own, which are never broken. */
static void write_for_people(FILE *stream, const struct verdict *verdict, size_t width) {
    columns_wrap(stream, verdict->found, INDENT, width);
    if (verdict->setting != NULL && has_no_file(verdict)) {
        fprintf(stream, "\n%*s", INDENT, "");
        columns_wrap(stream, "start it with a redis.conf that has this line", INDENT, width);
        fprintf(stream, "\n%*s%s\n%*s", INDENT, "", verdict->setting, INDENT, "");
        columns_wrap(stream, no_file, INDENT, width);
    } else if (verdict->setting != NULL)
        fprintf(stream, "\n%*sCONFIG SET %s\n%*sCONFIG REWRITE", INDENT, "", verdict->setting,
                INDENT, "");
    if (*verdict->advice != '\0') {
        fprintf(stream, "\n%*s", INDENT, "");
        columns_wrap(stream, verdict->advice, INDENT, width);
    }
    if (*verdict->paste != '\0')
        fprintf(stream, "\n%*s%s", INDENT, "", verdict->paste);
}

/* A line that names the server stands before what is said of it. */
static void write_server(struct doctor_output *out, FILE *stream, const char *server) {
    char line[sizeof out->server];
    (void)snprintf(line, sizeof line, "%s", server);
    out_make_printable(line); /* before the colon, which would make a port look like a password */
    if (strcmp(out->server, line) == 0)
        return;
    fprintf(stream, "%s%s:\n", out->count > 0 ? "\n" : "", line);
    memcpy(out->server, line, sizeof line);
}

/* A server's texts come to a terminal here. */
static void write_text(struct doctor_output *out, FILE *stream, struct verdict *verdict) {
    char advice[ADVICE_SIZE];
    out_make_printable(verdict->found);
    out_make_printable(verdict->advice);
    out_make_printable(verdict->paste);
    write_server(out, stream, verdict->server);
    fprintf(stream, "%-8s %-19s ", levels[verdict->level], verdict->check);
    if (isatty(STDOUT_FILENO)) {
        write_for_people(stream, verdict, status_form_choose(out->settings).width);
    } else {
        describe_advice(advice, verdict);
        out_make_printable(advice);
        fprintf(stream, "%s%s%s", verdict->found, *advice != '\0' ? "; " : "", advice);
    }
    fputc('\n', stream);
}

void doctor_output_write(struct doctor_output *out, struct verdict *verdict) {
    struct out_page page;
    if (out->settings->quiet && verdict->level != DOCTOR_FINDING)
        return;
    FILE *stream = out->failure == 0 ? out_page_begin(&page) : NULL;
    if (stream == NULL) {
        out->failure = EXIT_SYSTEM;
        return;
    }
    if (out->settings->look.json)
        write_json(out, stream, verdict);
    else
        write_text(out, stream, verdict);
    out->failure = out_page_end(&page);
    out->count++;
}

int doctor_output_end(struct doctor_output *out) {
    if (out->settings->look.json && out->failure == 0)
        out->failure = out_stdout(out->count > 0 ? "]\n" : "[]\n");
    return out->failure;
}
