/* resource.h: one name of a lock: what is known of it here, on each server. */
#ifndef RLOCK_RESOURCE_H
#define RLOCK_RESOURCE_H

#include "os/random.h"
#include "redis/script.h"
#include "rlock.h"

struct rlock_lock;

enum {
    RLOCK__TRY_SIZE = RLOCK__ID_SIZE + 11,
    RLOCK__PROOF_LEASES = 4 /* read holds of the owner around us whose keys are told beforehand */
};

/* One name on one server. */
struct rlock__instance {
    bool held;
    bool reentered; /* it is a hold of the owner around us */
    bool in_line;   /* we have a place among the waiters */
    bool in_doubt;  /* a try without an answer may have taken it */
    bool abandoned; /* a try's answer is no longer waited for, over a connection that stands */
    bool astray;    /* a request to take it may still arrive, over one that is gone */
    bool leaving;   /* a request to give it back has had no answer */
    bool given_back;
    bool given_up;  /* the try is over, and something of it may still come: the next has a number
                       more */
    unsigned tries; /* so many are over: lua/include/try.lua */
    int64_t token;
    int64_t ticket; /* by which we come back to our place in line; 0: none */
    int64_t lease_end_ms;
};

struct rlock__resource {
    const struct rlock_lock *lock;
    char *name;
    char *keys[RLOCK__KEYS_MAX];
    /* Of `read` and `write`, NULL behind the last: of read holds that are ours, or the owner's
     * around us; and of what --min-hold keeps of these. */
    char *lease_keys[1 + RLOCK__PROOF_LEASES + 1], *kept_keys[2 + 1];
    char *channel;     /* everybody's, Redisson's too */
    char *own_channel; /* ours alone while we wait */
    char *publish;     /* what scripts tell by: "SPUBLISH CHANNEL" */
    char *proof_owner; /* NULL: no enclosing hold */
    char proof_token[24];
    bool apart; /* of several servers most do not have the hold around it: it is no more */
    char hold_id[RLOCK__ID_SIZE]; /* the attempt's id, which becomes the hold's */
    char *tombstone;              /* key: says which tries are over */
    char *record;                 /* key: says which runs have ended; NULL: nobody wants to know */
    struct rlock_hold hold;       /* name, owner, token while held */
    bool held;                    /* on a majority */
    bool due;                     /* the next request is about it: ask.h */
    int64_t lease_end_ms;         /* while held: until when on a majority */
    size_t instance_count;
    struct rlock__instance *instances; /* in the order of the client's servers */
};

/* Gives the resource, which has its name, the attempt's id: "ID", or "ID.N" with the number of the
 * try. False: no memory. */
bool rlock__resource_identify(struct rlock__resource *resource, const char *id);

/* Makes lease_keys and kept_keys, by the owners as they are now. False: no memory. */
bool rlock__resource_name_leases(struct rlock__resource *resource);
void rlock__resource_forget_leases(struct rlock__resource *resource);

/* What another process needs to give it back: "ID", or "ID.N" where requests may be astray. Returns
 * the text. */
const char *rlock__resource_id(char text[RLOCK__TRY_SIZE], const struct rlock__resource *resource);

/* The number of a try, so many being over: "ID.N". Returns the text. */
const char *rlock__resource_try_id(char text[RLOCK__TRY_SIZE],
                                   const struct rlock__resource *resource, unsigned tries);

/* On some server at least: */
bool rlock__resource_in_line(const struct rlock__resource *resource);
/* Something of ours may stay there until its lease ends, or may still come. */
bool rlock__resource_may_stay(const struct rlock__resource *resource);
bool rlock__instance_may_stay(const struct rlock__instance *instance);

/* True: nothing of ours stands anywhere, as far as is known. */
bool rlock__resource_is_clear(const struct rlock__resource *resource);

/* What every script gets first, the owner being `owner`. It borrows its texts. */
struct rlock__call rlock__resource_call(const struct rlock__resource *resource, const char *owner);

/* The same to take it: with the keys alone that this needs. */
struct rlock__call rlock__resource_call_to_acquire(const struct rlock__resource *resource);

/* The same about what is held: with the keys alone that stand then, which may be none but the lock.
 */
struct rlock__call rlock__resource_call_held(const struct rlock__resource *resource,
                                             const char *owner);

/* Adds to a call to give it back the keys of what stays. */
void rlock__resource_add_kept_keys(const struct rlock__resource *resource,
                                   struct rlock__call *call);

/* Doubt belongs to the try: only an answer of a script about this very try ends it. An error that
 * the server has against all requests just now (LOADING, BUSY, NOREPLICAS) says nothing of one that
 * was sent before. */
void rlock__instance_note_doubt(struct rlock__instance *instance, const struct rlock__run *run,
                                enum rlock_status vote);

/* The owner under which an instance has it. */
const char *rlock__resource_owner_on(const struct rlock__resource *resource,
                                     const struct rlock__instance *instance);

/* Whether a try stands in line for it when it is busy: for the one that is waited for; a kind that
 * queues stands in all lines. */
bool rlock__resource_lines_up(const struct rlock__resource *resource);

#endif
