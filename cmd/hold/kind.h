/* kind.h: the kinds of locks that a command can hold, and what is said of each. */
#ifndef RLOCK_CMD_KIND_H
#define RLOCK_CMD_KIND_H

#include <stdbool.h>

#include "options/settings.h"

/* What is shown behind the name while waiting. */
enum kind_detail {
    DETAIL_NONE,  /* */
    DETAIL_KIND,  /* (read) */
    DETAIL_PLACE, /* (fair, 2nd of 4) */
    DETAIL_COUNT, /* (latch, 3 to go) */
};

struct kind {
    const char *name; /* as it is shown: RLOCK_KIND, the waiting line */
    enum kind_detail detail;
    bool passed;  /* and not held: nothing is given back */
    bool counted; /* down, after the command, and neither held nor waited for */
};

extern const struct kind kind_run, kind_fair, kind_read, kind_write, kind_sem, kind_latch,
    kind_latch_down;

/* librlock's name for it, with these settings, and its variant; NULL: none. */
const char *kind_in_library(const struct kind *kind, const struct settings *settings);
const char *kind_variant(const struct settings *settings);

#endif
