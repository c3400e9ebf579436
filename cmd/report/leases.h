/* leases.h: how long leases are, as far as it can be seen: the server says what is left of one
 * only. */
#ifndef RLOCK_CMD_LEASES_H
#define RLOCK_CMD_LEASES_H

#include <stdint.h>
#include <stdlib.h>

#include "rlock_admin.h"

/* The holds that have been looked at. Zero it; its memory is leases_free()'s. */
struct leases {
    struct lease {
        uint64_t hold; /* which: a hash */
        int64_t longest_ms;
        unsigned looked; /* in which turn */
    } * at;
    size_t count, room;
    unsigned turn;
};

/* The most that was ever left of that hold, now included: its lease, once it has been renewed or
 * was seen when it was new. */
int64_t leases_longest_ms(struct leases *leases, const rlock_view *view,
                          const struct rlock_view_holder *holder);

/* Forgets those that were not asked about since the last call. */
void leases_turn(struct leases *leases);

void leases_free(struct leases *leases);

#endif
