/* doctor_output.c: how the outcome of checks is printed: as lines, or as a JSON array. */
#include "report/doctor_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/out.h"

static const char *const levels[] = {[DOCTOR_OK] = "ok",
                                     [DOCTOR_NOTE] = "note",
                                     [DOCTOR_UNKNOWN] = "unknown",
                                     [DOCTOR_FINDING] = "finding"};

static void print(struct doctor_output *out, const char *text) {
    if (out->failure == 0)
        out->failure = out_stdout(text);
}

/* One object a line: a program that reads the whole gets an array. */
static void write_json(struct doctor_output *out, const char *check, const char *server,
                       const struct verdict *verdict) {
    struct out_page page;
    struct json json = {.stream = out->failure == 0 ? out_page_begin(&page) : NULL};
    if (json.stream == NULL) {
        out->failure = EXIT_SYSTEM;
        return;
    }
    fputs(out->count++ == 0 ? "[" : ",\n ", json.stream);
    json_open(&json, NULL, '{');
    json_text(&json, "check", check);
    json_text(&json, "server", server);
    json_text(&json, "level", levels[verdict->level]);
    json_text(&json, "found", verdict->found);
    json_text(&json, "advice", *verdict->advice != '\0' ? verdict->advice : NULL);
    json_close(&json, '}');
    out->failure = out_page_end(&page);
}

/* A line that names the server stands before what is said of it. */
static void write_text(struct doctor_output *out, const char *check, const char *server,
                       const struct verdict *verdict) {
    char line[sizeof *verdict + 128];
    if (out->server == NULL || strcmp(out->server, server) != 0) {
        snprintf(line, sizeof line, "%s:", server);
        out_make_printable(line);
        print(out, out->count > 0 ? "\n" : "");
        print(out, line);
        print(out, "\n");
        free(out->server);
        out->server = strdup(server);
    }
    snprintf(line, sizeof line, "%-8s %-19s %s%s%s", levels[verdict->level], check, verdict->found,
             *verdict->advice != '\0' ? "; " : "", verdict->advice);
    out_make_printable(line); /* servers' texts come to a terminal here */
    print(out, line);
    print(out, "\n");
    out->count++;
}

void doctor_output_write(void *context, const char *check, const char *server,
                         const struct verdict *verdict) {
    struct doctor_output *out = context;
    if (out->settings->quiet && verdict->level != DOCTOR_FINDING)
        return;
    if (out->settings->json)
        write_json(out, check, server, verdict);
    else
        write_text(out, check, server, verdict);
}

int doctor_output_end(struct doctor_output *out) {
    if (out->settings->json)
        print(out, out->count > 0 ? "]\n" : "[]\n");
    free(out->server);
    out->server = NULL;
    return out->failure;
}
