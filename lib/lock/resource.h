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

/* What stands on the server, by its last answer. */
enum rlock__state {
    RLOCK__NOTHING,
    RLOCK__IN_LINE,   /* we have a place among the waiters */
    RLOCK__HELD,      /* by us */
    RLOCK__REENTERED, /* it is a hold of the owner around us */
    RLOCK__GIVEN_BACK
};

/* What has become of the last requests that may have changed that; of two the later one counts. */
enum rlock__unanswered {
    RLOCK__ANSWERED,
    RLOCK__REPLY_PENDING,   /* nobody waits for the reply, but the connection stands: what is asked
                               over it comes later */
    RLOCK__OUTCOME_UNKNOWN, /* a try may have taken it */
    RLOCK__LEAVING          /* a release may have given it back */
};

/* One name on one server: rlock__instance_after() alone changes the first three. */
struct rlock__instance {
    enum rlock__state state;
    enum rlock__unanswered unanswered;
    bool may_arrive_late; /* a request to take it, over a connection that is gone */
    unsigned tries;       /* so many are over: lua/include/try.lua */
    int64_t token;
    int64_t ticket; /* by which we come back to our place in line; 0: none */
    int64_t lease_end_ms;
};

/* What is asked about an instance, and what comes of it. */
enum rlock__request_kind { RLOCK__TAKE, RLOCK__RESTORE, RLOCK__RENEW, RLOCK__RELEASE };
enum { RLOCK__REQUEST_KINDS = RLOCK__RELEASE + 1 };

enum rlock__outcome {
    RLOCK__YES,
    RLOCK__YES_AROUND, /* yes, under the owner around us */
    RLOCK__NO,
    RLOCK__UNSURE,    /* an answer that says neither, or that the replicas did not confirm */
    RLOCK__PENDING,   /* no answer yet, over a connection that stands */
    RLOCK__NO_ANSWER, /* and none will come */
    RLOCK__NOT_DONE   /* refused, or never sent */
};
enum { RLOCK__OUTCOMES = RLOCK__NOT_DONE + 1 };

/* vote: what the judge makes of the answer. around: a "yes" is of the owner around us. */
enum rlock__outcome rlock__outcome_of(const struct rlock__run *run, enum rlock_status vote,
                                      bool around);

/* Notes what came of a request. */
void rlock__instance_after(struct rlock__instance *instance, enum rlock__request_kind request,
                           enum rlock__outcome outcome);

/* Before a request to take it: after a release without an answer this is another try. */
void rlock__instance_begin_try(struct rlock__instance *instance);

bool rlock__instance_is_held(const struct rlock__instance *instance);
/* A request without an answer may have taken it, or given it back. */
bool rlock__instance_in_doubt(const struct rlock__instance *instance);
/* Something of ours may stay there until its lease ends, or may still come. */
bool rlock__instance_may_stay(const struct rlock__instance *instance);

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

/* The owner under which an instance has it. */
const char *rlock__resource_owner_on(const struct rlock__resource *resource,
                                     const struct rlock__instance *instance);

/* Whether a try stands in line for it when it is busy: for the one that is waited for; a kind that
 * queues stands in all lines. */
bool rlock__resource_lines_up(const struct rlock__resource *resource);

#endif
