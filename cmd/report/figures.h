/* figures.h: what can be said of a lock in numbers. To add one: a field, its row in figures.c, and
 * its item in rlock-status(1), which tests/cli/inspect/prometheus.bats compares. */
#ifndef RLOCK_CMD_FIGURES_H
#define RLOCK_CMD_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rlock_admin.h"

#define FIGURE_NONE INT64_MIN /* there is none of this lock, or it is unknown */

struct figures {
    int64_t held, holders, readers, kept, waiting;
    int64_t since_ms, held_ms, waited_ms, ttl_ms;
    int64_t permits, available, remaining, token;
    int64_t ended_ms, took_ms, exit_status, succeeded_ms; /* of the last run that is known */
    int64_t skips;
};

struct figures figures_of(const rlock_view *view);

struct figure {
    const char *name, *help;
    size_t field; /* of struct figures */
    bool is_ms;   /* milliseconds, which are written as seconds */
};

enum { FIGURES = 18 };
extern const struct figure figure_rows[FIGURES];

#endif
