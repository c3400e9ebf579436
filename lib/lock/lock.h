/* lock.h: the inside of a lock: its resources, one for each name, and what is known of each on each
 * server. */
#ifndef RLOCK_LOCK_H
#define RLOCK_LOCK_H

#include <stdatomic.h>

#include "lock/kind.h"
#include "lock/listener.h"
#include "os/random.h"
#include "redis/client.h"
#include "rlock_report.h"

struct rlock_lock;
struct rlock__ballot;

enum { RLOCK__TRY_SIZE = RLOCK__ID_SIZE + 11 };

/* What stands on the server, by its last answer. */
enum rlock__state {
    RLOCK__NOTHING,
    RLOCK__IN_LINE, /* we have a place among the waiters */
    RLOCK__HELD,    /* by us, or as a hold of the owner around us */
    RLOCK__GIVEN_BACK
};

/* What has become of the requests that may have changed that; of several the last in this list
 * counts. */
enum rlock__unanswered {
    RLOCK__ANSWERED,
    RLOCK__REPLY_PENDING,   /* we do not wait for the reply, but the connection stands: whatever we
                               send over it arrives later */
    RLOCK__OUTCOME_UNKNOWN, /* a try may have taken it */
    RLOCK__LEAVING          /* a release may have given it back */
};

/* One name on one server. rlock__instance_after() changes the first four. */
struct rlock__instance {
    enum rlock__state state;
    enum rlock__unanswered unanswered;
    bool may_arrive_late; /* a request to take it, over a connection that is gone */
    unsigned tries;       /* so many are over: lua/include/try.lua */
    int64_t token;
    int64_t ticket;     /* by which we come back to our place in line; 0: none */
    int64_t granted_ms; /* when the request went out that has begun the lease; 0: none has */
};

/* What is asked about an instance, and what comes of it. */
enum rlock__request_kind { RLOCK__TAKE, RLOCK__RESTORE, RLOCK__RENEW, RLOCK__RELEASE };

enum rlock__outcome {
    RLOCK__YES,
    RLOCK__NO,
    RLOCK__UNSURE,    /* an answer that says neither, or that the replicas did not confirm */
    RLOCK__PENDING,   /* no answer yet, over a connection that stands */
    RLOCK__NO_ANSWER, /* and none will come */
    RLOCK__NOT_DONE   /* refused, or never sent */
};

/* vote: what the judge makes of the answer. */
enum rlock__outcome rlock__outcome_of(const struct rlock__run *run, enum rlock_status vote);

/* Notes what came of a request. */
void rlock__instance_after(struct rlock__instance *instance, enum rlock__request_kind request,
                           enum rlock__outcome outcome);

/* Before a request to take it: after a release without an answer this is another try. */
void rlock__instance_begin_try(struct rlock__instance *instance);

/* A request without an answer may have taken it, or given it back. */
bool rlock__instance_in_doubt(const struct rlock__instance *instance);
/* Something of ours may stay there until its lease ends, or may still come. */
bool rlock__instance_may_stay(const struct rlock__instance *instance);

struct rlock__resource {
    struct rlock_lock *lock;
    char *name;
    char *keys[RLOCK__KEYS_MAX];
    /* Of `read` and `write`, NULL behind the last: of our read holds, and of those of the owner
     * around us; and of what --min-hold keeps of these. `write` has none of its own. */
    char *lease_keys[2 + 1], *kept_keys[2 + 1];
    char *own_channel;   /* ours alone while we wait */
    char *publish;       /* what scripts tell by: "SPUBLISH CHANNEL" */
    const char *channel; /* in it: the common one, Redisson's too */
    char *proof_owner;   /* NULL: no enclosing hold */
    char proof_token[24];
    bool apart; /* of several servers most do not have the hold around it: it is no more */
    char hold_id[RLOCK__ID_SIZE]; /* the attempt's id, which becomes the hold's */
    char *tombstone;              /* key: says which tries are over */
    char *record;                 /* key: says which runs have ended; NULL: that kind has none */
    struct rlock_hold hold; /* name, owner, token: the same on all servers that have granted it */
    bool held;              /* on a majority */
    bool due;               /* the next request is about it: ask.h */
    size_t instance_count;
    struct rlock__instance *instances; /* in the order of the client's servers */

    /* Waiting: */
    bool waited;       /* we wait for it, and stand in its line once we listen */
    bool told_free;    /* and have heard since the last try that it was given back */
    size_t preference; /* of a pool: its place in the order of preference */
    int64_t next_try_ms;
    int64_t place; /* in line, from 1; before we stand in it: what ours would be; -1: not known */
    int64_t told_place;                 /* the last that we were told in this wait; 0: none yet */
    int64_t hint_ms;                    /* when the hold that is in the way expires; -1: never */
    int64_t again_ms;                   /* how long we may sleep at most; 0: not said */
    enum rlock__channels wanted, heard; /* what is listened to, or soon shall be */
    struct rlock__news news;
};

/* It is held by others, or not to be taken: what the servers say of that. */
struct rlock__busy {
    struct rlock__resource *resource; /* NULL: it is not */
    bool split;                       /* of several servers no majority is anybody's */
    struct rlock_holder holder;
    bool done; /* it is not taken because of this run */
    struct rlock_run run;
    rlock__reply *reply; /* what their texts are in; the owner of this frees it */
};

struct rlock_lock {
    rlock_client *client;
    const struct rlock__kind *kind;
    int64_t lease_ms;
    char lease_text[24], permits_text[24], total_text[24];
    const char *variant;    /* the kind's, or "" */
    char priority_text[24]; /* ""; not 0 */
    struct {                /* of runs */
        char period_text[24], status_text[16], took_text[24];
        char *key;
        bool wanted; /* only if none has succeeded within the period, or with the key */
    } once;
    char *owner;
    char *shown;       /* what others are shown of us */
    char *preempts_as; /* the name by which we ask holders to end; NULL: we do not */
    bool preemptible;
    size_t resource_count;
    struct rlock__resource *resources;  /* in canonical order */
    size_t any;                         /* a pool: so many of them are taken; 0: all */
    struct rlock__resource **preferred; /* of a pool: in the order of preference */
    _Atomic int64_t granted_ms; /* of the name whose lease ends first; the keeper moves it */
    bool told_broken;   /* the keeper was, just now: it looks what is left, and puts nothing back */
    int64_t *published; /* a keeper's: where the lease's end is stored; NULL: nowhere */

    /* Waiting: */
    int64_t started_ms;   /* of the first try; 0: none yet */
    char waited_text[24]; /* ms since then; "": of no matter */
    int64_t backoff_ms;   /* after tries without an answer: rlock__backoff() */
    unsigned tries;
    unsigned splits;         /* in a row; of a pool tries that got too few */
    bool may_queue;          /* a try may stand in line: we are ready to wait */
    struct rlock__busy busy; /* as the last try said that had the time for an answer */
    int64_t busy_in_ms;      /* how long that answer took; 0: it was no such answer */
    size_t stuck_at;         /* the resource at which the last try ended; 0 also after a grant */
    size_t listener_count;
    struct rlock__listener *listeners; /* one; of a pool in a cluster one for each name */
};

/* --- resource.c: one name --------------------------------------------------------------------- */

/* The lock's resource of that name, which is one of its own. */
struct rlock__resource *rlock__resource_named(const struct rlock_lock *lock, const char *name);

/* Gives the resource, which has its name, the attempt's id: "ID", or "ID.N" with the number of the
 * try. False: no memory. */
bool rlock__resource_identify(struct rlock__resource *resource, const char *id);

/* What another process needs to give it back: "ID", or "ID.N" where requests may arrive late.
 * Returns the text. */
const char *rlock__resource_id(char text[RLOCK__TRY_SIZE], const struct rlock__resource *resource);

/* The number of a try, so many being over: "ID.N". Returns the text. */
const char *rlock__resource_try_id(char text[RLOCK__TRY_SIZE],
                                   const struct rlock__resource *resource, unsigned tries);

/* On some server at least: */
bool rlock__resource_in_line(const struct rlock__resource *resource);
/* A hold of ours may stay there until its lease ends, or may still come. */
bool rlock__resource_may_be_held(const struct rlock__resource *resource);

/* True: nothing of ours stands anywhere, as far as is known. */
bool rlock__resource_is_clear(const struct rlock__resource *resource);

/* What every script gets first: keys, owner, lease, hold id, permits, channel. It borrows its
 * texts. which: bits; each key costs the server time. */
enum {
    RLOCK__TO_TAKE = 1,   /* with the keys alone that taking it needs */
    RLOCK__AND_KEPT = 2,  /* with those of what --min-hold keeps */
    RLOCK__AND_RECORD = 4 /* with the record of runs, where that kind has one */
};
struct rlock__call rlock__resource_call(const struct rlock__resource *resource, const char *owner,
                                        unsigned which);

/* The same about what is held: with the keys alone that stand then, which may be none but the lock.
 */
struct rlock__call rlock__resource_call_held(const struct rlock__resource *resource);

/* Whether a try stands in line for it when it is busy: for what we listen for; a kind that queues
 * stands in all lines. */
bool rlock__resource_may_queue(const struct rlock__resource *resource);

/* The first one that is held; if there is none, the last of all. What concerns the lock as a whole
 * is heard and said over its node: that of a name which is not held may hang without our noticing.
 */
struct rlock__resource *rlock__resource_first_held(const struct rlock_lock *lock);

/* --- handle.c --------------------------------------------------------------------------------- */

struct rlock_handle;
/* What cannot be in its holds, or for an owner; NULL: all may be. */
const char *rlock__handle_fault(const struct rlock_handle *handle);

/* --- lock_new.c ------------------------------------------------------------------------------- */

/* As rlock_lock_new(), of options that are whole. owner: the one that took it before; NULL: a new
 * one. */
enum rlock_status rlock__lock_make(rlock_lock **out, rlock_client *client,
                                   struct rlock_lock_options *options, const char *owner);

/* --- the verbs, on all names: take.c, hold.c, release.c --------------------------------------- */

/* Takes all names or none, within the limit; while the answers of a single server come, up to
 * until_ms, 0: the limit stands. RLOCK_OK: held. RLOCK_BUSY: *busy says which holder has it.
 * RLOCK_AGAIN: no answer, or one that may pass. Else final. lock->stuck_at: which is the first name
 * that was not granted; of others something may be held on the servers: rlock__leave(). */
enum rlock_status rlock__take(struct rlock_lock *lock, const struct rlock__limit *limit,
                              int64_t until_ms, struct rlock__busy *busy);

/* Gives back at once what was given by too few, or may have been, of the names that are not held.
 * Places in line stay. */
void rlock__give_back(struct rlock_lock *lock);

/* Tells the servers that we hold nothing and wait for nothing of the names that are neither waited
 * for nor, of a pool, held; all: of no name at all. As far as that can be told by end_ms. The
 * client's error stays. */
void rlock__leave(struct rlock_lock *lock, bool all, int64_t end_ms, int cancel_fd);

/* Renews all names over routes of the caller's, within the limit; while the answers of a single
 * server come, up to until_ms. RLOCK_OK, RLOCK_LOST, RLOCK_AGAIN, or final;
 * *stuck_at: which one; routes->error says why. After RLOCK_OK, in a moment for all names: a server
 * that has lost a hold, or never gave it, or knows it by another token, is given it again while a
 * majority keeps it: a long command outlives servers that restart one after the other. No other
 * client can have had the lock meanwhile. */
enum rlock_status rlock__lock_renew(struct rlock_lock *lock, struct rlock__routes *routes,
                                    const struct rlock__limit *limit, int64_t until_ms,
                                    size_t *stuck_at);

/* Publishes the earliest lease of the names. */
void rlock__lock_update_lease(struct rlock_lock *lock);

/* --- votes.c ---------------------------------------------------------------------------------- */

/* What a ballot that was counted as RLOCK_BUSY says: the holder that most of the servers name.
 * Takes the reply, into whose text the result points. */
struct rlock__busy rlock__busy_by_most(struct rlock__ballot *ballot);

/* What one that was counted as RLOCK_DONE says. Takes the reply, too. */
struct rlock__busy rlock__busy_by_done(struct rlock__ballot *ballot);

/* It was granted, but others took each token that we wanted: no reply is in it. */
struct rlock__busy rlock__busy_by_rivals(struct rlock__resource *resource);

/* --- pool.c ----------------------------------------------------------------------------------- */

/* Makes `preferred`, and what waiting for several names at once needs. The names may still be in
 * the order in which they were given. False: no memory. */
bool rlock__pool_make(struct rlock_lock *lock, const struct rlock_lock_options *options);

/* Takes `any` of the names or none: what is waited for and is due; then, until it has enough, of
 * the others in the order of preference. What is in the way becomes waited for.
 * Returns as rlock__take() does; what it holds too much, or too little for, is to be left. */
enum rlock_status rlock__take_any(struct rlock_lock *lock, const struct rlock__limit *limit,
                                  int64_t until_ms, struct rlock__busy *busy);

/* --- sleep.c ---------------------------------------------------------------------------------- */

/* Sleeps until it is time to try again, or the limit. RLOCK_OK, RLOCK_CANCELLED, or final. */
enum rlock_status rlock__sleep_until_try(struct rlock_lock *lock, const struct rlock__limit *limit);

/* By when a try, or a subscription, should have its answer. */
int64_t rlock__prompt_ms(const struct rlock_lock *lock, int64_t deadline_ms);

/* Of all names that are waited for, the earliest; 0: none is. */
int64_t rlock__next_try_ms(const struct rlock_lock *lock);

/* So often at least a waiter that must be heard of tries again: lua/include/waiting.lua. */
enum { RLOCK__HEARTBEAT_MS = 2500 };

/* After "busy": when the server wants us again, or when the hold expires; soon, at random, where of
 * several servers no client has a majority. */
void rlock__retry_after_busy(const struct rlock__busy *busy);

/* After no answer: a pause that doubles, of which a random half is taken. Returns its end. */
int64_t rlock__retry_after_failure(struct rlock_lock *lock);

/* --- shown.c ---------------------------------------------------------------------------------- */

/* Makes the lock's owner, and what others are shown of it. owner: the one that took it before;
 * NULL: a new one. False: no memory, or no random bytes. */
bool rlock__introduce(struct rlock_lock *lock, const struct rlock_lock_options *options,
                      const char *owner);

/* What others are shown of a holder or waiter: the members of a JSON object, without its braces;
 * scripts store it as it comes. What the options leave out is "", a note left out. Yours to free;
 * NULL: no memory. */
char *rlock__shown(const struct rlock_lock_options *options, const char *host, const char *permits);

#endif
