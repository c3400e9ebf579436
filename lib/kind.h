/* kind.h: what the kinds of locks are, as data. */
#ifndef RLOCK_KIND_H
#define RLOCK_KIND_H

#include "script.h"

struct rlock__kind {
    const char *name;
    const struct rlock__script *acquire, *renew, *release;
    /* How the keys and the channel are named, `*` standing for the lock's name. The braces make
     * one cluster slot of them all; a name that has braces itself is put in without ours. */
    const char *keys[RLOCK__KEYS_MAX];
    size_t line; /* which of the keys is the list of waiters */
    const char *channel;
};

/* NULL: there is no such kind. */
const struct rlock__kind *rlock__kind_find(const char *name);

/* The key that a pattern names for a lock. The caller frees it; NULL: no memory. */
char *rlock__kind_key(const char *pattern, const char *lock_name);

#endif
