/* status.h: what `rlock status` has seen, as text. */
#ifndef RLOCK_CMD_STATUS_H
#define RLOCK_CMD_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/survey.h"

struct status_form {
    bool several; /* several servers: each is named */
    bool colours;
    bool all;       /* waiters, however many */
    bool says_none; /* when there are no locks */
    size_t width;
};

/* Tables, one a server. False: no memory. */
bool status_table(FILE *stream, const struct survey *survey, const struct status_form *form);

/* One line: a JSON array as man/status.schema.json has it. */
void status_json(FILE *stream, const struct survey *survey, const struct status_form *form);

#endif
