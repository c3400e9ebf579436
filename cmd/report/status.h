/* status.h: what `rlock status` has seen, as text, JSON, and figures. */
#ifndef RLOCK_CMD_STATUS_H
#define RLOCK_CMD_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/survey.h"

struct status_form {
    bool is_screen; /* it can be drawn over */
    bool colours;
    bool all;     /* waiters, however many */
    size_t width; /* in columns; SIZE_MAX: it is no terminal */
    size_t lines; /* of the terminal */
};

/* As standard output and the settings call for. */
struct status_form status_form_choose(const struct settings *settings);

/* Writes a survey to standard output in the form that was asked for, as text, JSON or figures.
 * Returns the exit status. */
int status_print(const struct survey *survey, const struct settings *settings);

/* Tables, one a server. False: no memory. */
bool status_table(FILE *stream, const struct survey *survey, const struct status_form *form);

/* One line: a JSON array as man/status.schema.json has it. */
void status_json(FILE *stream, const struct survey *survey);

/* watch.c: surveys and prints again and again, until a signal ends it, as it ends any program. A
 * server that goes away is waited for; one that never was there ends it. Returns the exit status.
 */
int watch(const struct server *server);

#endif
