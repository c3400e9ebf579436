/* busy.h: why a name was not granted: who holds it, or that its run is done, as servers say. */
#ifndef RLOCK_BUSY_H
#define RLOCK_BUSY_H

#include "lock/resource.h"

struct rlock__ballot;

/* It is held by others, or not to be taken: what the servers say of that. */
struct rlock__busy {
    struct rlock__resource *resource; /* NULL: it is not */
    int64_t hint_ms;                  /* when that hold expires; -1: never */
    int64_t place;    /* in line, from 1; before we stand in it: what ours would be */
    int64_t again_ms; /* how long we may sleep at most; 0: not said */
    bool split;       /* of several servers no majority is anybody's */
    struct rlock_holder holder;
    bool done; /* it is not taken because of this run */
    struct rlock_run run;
    rlock__reply *reply; /* what their texts are in; the owner of this frees it */
};

/* What a ballot that was counted as RLOCK_BUSY says: the holder whom most of the servers name.
 * Takes the reply, whose text the holder borrows. */
struct rlock__busy rlock__busy_by_most(struct rlock__ballot *ballot);

/* What one that was counted as RLOCK_DONE says. Takes the reply, too. */
struct rlock__busy rlock__busy_by_done(struct rlock__ballot *ballot);

/* It was granted, but others took each token that we wanted: no reply is in it. */
struct rlock__busy rlock__busy_by_rivals(struct rlock__resource *resource);

#endif
