/* wrap_kind.h: what a wrapping command says of the kind of lock that it takes. */
#ifndef RLOCK_CMD_WRAP_KIND_H
#define RLOCK_CMD_WRAP_KIND_H

#include <stdbool.h>

#include "options/settings.h"

/* What stands behind the name while waiting. */
enum wrap_detail {
    DETAIL_NONE,  /* */
    DETAIL_KIND,  /* (read) */
    DETAIL_PLACE, /* (fair, 2nd of 4) */
    DETAIL_COUNT, /* (latch, 3 to go) */
};

struct wrap_kind {
    const char *name;    /* as it is shown: RLOCK_KIND, the waiting line */
    const char *library; /* librlock's name for it */
    const char *variant; /* of those that librlock knows; NULL: none */
    enum wrap_detail detail;
    const char *command; /* what others are shown where no command runs; NULL: nothing */
    bool passed;         /* and not held: nothing is given back */
};

/* The kinds, with the variants that these settings ask for: of `rlock run` and `rlock acquire run`,
 * and so on. */
struct wrap_kind wrap_kind_run(void);
struct wrap_kind wrap_kind_fair(const struct settings *settings);
struct wrap_kind wrap_kind_read(void);
struct wrap_kind wrap_kind_write(const struct settings *settings);
struct wrap_kind wrap_kind_sem(const struct settings *settings);

#endif
