/* resource.h: one name of a lock: what is known of it here, on each server. */
#ifndef RLOCK_RESOURCE_H
#define RLOCK_RESOURCE_H

#include "os/random.h"
#include "redis/script.h"
#include "rlock.h"

enum { RLOCK__TRY_SIZE = RLOCK__ID_SIZE + 11 };

/* One name on one server. */
struct rlock__instance {
    bool held;
    bool reentered; /* it is a hold of the owner around us */
    bool in_line;   /* we have a place among the waiters */
    bool in_doubt;  /* a try without an answer may have taken it */
    bool abandoned; /* a try's answer is no longer waited for, over a connection that stands */
    bool astray;    /* a request to take it may still arrive, over one that is gone */
    bool given_back;
    bool given_up;  /* the try is over, and something of it may still come: the next has a number
                       more */
    unsigned tries; /* so many are over: lua/include/try.lua */
    int64_t token;
    int64_t ticket; /* by which we come back to our place in line; 0: none */
    int64_t lease_end_ms;
};

/* One name is asked about on all its servers, or on some. */
struct rlock__inquiry {
    struct rlock__batch batch;
    struct rlock__call calls[RLOCK_SERVERS_MAX];
    struct rlock__run runs[RLOCK_SERVERS_MAX];
    size_t instances[RLOCK_SERVERS_MAX]; /* whose runs these are */
    int64_t sent_ms;
    char keep_text[24], place_text[24], try_id[RLOCK_SERVERS_MAX][RLOCK__TRY_SIZE],
        ticket_text[RLOCK_SERVERS_MAX][24]; /* borrowed */
};

struct rlock__resource {
    char *name;
    char *keys[RLOCK__KEYS_MAX];
    char *channel;     /* everybody's, Redisson's too */
    char *own_channel; /* ours alone while we wait */
    char *publish;     /* what scripts tell by: "SPUBLISH CHANNEL" */
    char *proof_owner; /* NULL: no enclosing hold */
    char proof_token[24];
    char hold_id[RLOCK__ID_SIZE]; /* the attempt's id, which becomes the hold's */
    char *tombstone;              /* key: says which tries are over */
    struct rlock__inquiry
        *ahead;             /* what was answered when several names were asked about at once */
    struct rlock_hold hold; /* name, owner, token while held */
    bool held;              /* on a majority */
    int64_t lease_end_ms;   /* while held: until when on a majority */
    size_t instance_count;
    struct rlock__instance *instances; /* in the order of the client's servers */
};

/* Gives the resource, which has its name, the attempt's id: "ID", or "ID.N" with the number of the
 * try. False: no memory. */
bool rlock__resource_identify(struct rlock__resource *resource, const char *id);

/* What another process needs to give it back: "ID", or "ID.N" where requests may be astray. Returns
 * the text. */
const char *rlock__resource_id(char text[RLOCK__TRY_SIZE], const struct rlock__resource *resource);

/* On some server at least: */
bool rlock__resource_in_line(const struct rlock__resource *resource);
/* Something of ours may stay there until its lease ends, or may still come. */
bool rlock__resource_may_stay(const struct rlock__resource *resource);
bool rlock__instance_may_stay(const struct rlock__instance *instance);

/* True: nothing of ours stands anywhere, as far as is known. */
bool rlock__resource_is_clear(const struct rlock__resource *resource);

#endif
