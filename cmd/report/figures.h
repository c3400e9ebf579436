/* figures.h: what can be said of a lock in numbers. To add one: its function and a row in
 * figures.c, and its item in rlock-status(1), which tests/cli/inspect/prometheus.bats compares. */
#ifndef RLOCK_CMD_FIGURES_H
#define RLOCK_CMD_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "rlock_admin.h"

struct figure {
    const char *name, *help;
    bool (*read)(const rlock_view *view, int64_t *out); /* false: there is none of this lock */
    bool is_ms; /* milliseconds, which are written as seconds */
};

enum { FIGURES = 17 };
extern const struct figure figures[FIGURES];

#endif
