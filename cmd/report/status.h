/* status.h: what `rlock status` has seen, as text. */
#ifndef RLOCK_CMD_STATUS_H
#define RLOCK_CMD_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/leases.h"
#include "report/survey.h"

struct status_form {
    bool several;   /* several servers: each is named */
    bool is_screen; /* that is drawn over, see status_screen() */
    bool colours;
    bool all;              /* waiters, however many */
    bool says_none;        /* when there are no locks */
    size_t width;          /* in columns; SIZE_MAX: no limit */
    size_t lines;          /* of the terminal */
    size_t bar;            /* columns of a lease's bar */
    struct leases *leases; /* to draw bars by; NULL: none are */
};

/* As standard output and the settings call for. */
struct status_form status_form_choose(const struct settings *settings);

/* Writes a survey to standard output in the form that was asked for, as text, JSON or figures.
 * Returns the exit status. */
int status_print(const struct survey *survey, const struct settings *settings);

/* Tables, one a server. False: no memory. */
bool status_table(FILE *stream, const struct survey *survey, const struct status_form *form);

/* The locks of one server, those of the survey from `from` up to `to`, in so many lines, SIZE_MAX
 * for as many as it takes. What is left out is counted in the last one. taken: how many lines it
 * has become. False: no memory. */
bool status_table_part(FILE *stream, const struct survey *survey, size_t from, size_t to,
                       size_t lines, const struct status_form *form, size_t *taken);

/* Where in the survey the locks of the server end that those at `from` are on. */
size_t status_table_end(const struct survey *survey, size_t from);

struct status_moment {
    const char *messages; /* what could not be seen: lines */
    int64_t silent_ms;    /* for how long no server has answered; -1: one does */
    int64_t every_ms;     /* how often it is looked at */
};

/* One screen, drawn over the one before: a title, the messages, and as much of the tables as there
 * is room for. False: no memory. */
bool status_screen(FILE *stream, const struct survey *survey, const struct status_form *form,
                   const struct status_moment *moment);

/* Prometheus's text format: what rlock-status(1) lists. False: no memory. */
bool status_prometheus(FILE *stream, const struct survey *survey);

/* One line: a JSON array as man/status.schema.json has it. */
void status_json(FILE *stream, const struct survey *survey, const struct status_form *form);

#endif
