/* part.h: one name of a lock: what is known of it here. */
#ifndef RLOCK_PART_H
#define RLOCK_PART_H

#include "random.h"
#include "rlock.h"
#include "script.h"

struct rlock__part {
    char *name;
    char *keys[RLOCK__KEYS_MAX];
    char *channel;     /* everybody's, Redisson's too */
    char *own_channel; /* ours alone while we wait */
    char *publish;     /* what scripts tell by: "PUBLISH CHANNEL" */
    char *proof_owner; /* NULL: no enclosing hold */
    char proof_token[24];
    char hold_id[RLOCK__ID_SIZE]; /* the attempt's id, which becomes the hold's */
    struct rlock_hold hold;       /* name, owner, token while held */
    bool held;
    bool in_line;         /* we have a place among the waiters */
    bool in_doubt;        /* an attempt without an answer may have taken it */
    int64_t lease_end_ms; /* while held */
};

#endif
