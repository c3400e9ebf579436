/* lock.h: the inside of a lock: its resources, one for each name. */
#ifndef RLOCK_LOCK_H
#define RLOCK_LOCK_H

#include <stdatomic.h>

#include "lock/busy.h"
#include "lock/kind.h"
#include "lock/listener.h"
#include "lock/resource.h"
#include "redis/client.h"

struct rlock_lock {
    rlock_client *client;
    const struct rlock__kind *kind;
    int64_t lease_ms;
    char lease_text[24], permits_text[24], total_text[24];
    const char *variant; /* the kind's, or "" */
    struct {             /* of --once-per */
        char period_text[24], status_text[16], took_text[24];
        bool noted; /* the run has ended: the release says how */
    } once;
    char *owner;
    char *shown;       /* what others are shown of us: shown.h */
    char *preempts_as; /* who a holder is told asks it to end; NULL: nobody does */
    bool preemptible;
    size_t resource_count;
    struct rlock__resource *resources; /* in canonical order */
    _Atomic int64_t lease_end_ms; /* of the resource whose lease ends first; the keeper moves it */

    /* Waiting: */
    int64_t started_ms; /* of the first try; 0: none yet */
    int64_t next_try_ms;
    int64_t backoff_ms; /* after tries without an answer: backoff.h */
    unsigned tries;
    unsigned splits;         /* in a row */
    bool stands;             /* a try may stand in line: we are ready to wait */
    struct rlock__busy busy; /* as the last try said */
    size_t stuck_at;         /* the resource at which the last try ended; 0 also after a grant */
    struct rlock__listener listener;
};

/* --- lock.c ---------------------------------------------------------------------------------- */

/* RLOCK_OK, or RLOCK_INVALID: what is wrong with the name is the client's error. */
enum rlock_status rlock__check_name(struct rlock_client *client, const char *name);

/* --- the verbs, on all names: take.c, token.c, resource_renew.c, release.c... -------------------
 */

/* Takes all names or none. RLOCK_OK: held. RLOCK_BUSY: *busy says by whom. RLOCK_AGAIN: no answer,
 * or one that may pass. Else final. *stuck_at: which is the first name that was not granted; of
 * others something may be held on the servers: rlock__leave(). */
enum rlock_status rlock__take(struct rlock_lock *lock, const struct rlock__limit *limit,
                              struct rlock__busy *busy, size_t *stuck_at);

/* A hold's token is the largest that was given. Before anybody learns it a majority has accepted
 * it, so that every later holder's is larger, whichever majority gives that; where several readers
 * want the same one, all but one go on to the next. RLOCK_OK, RLOCK_DENIED or RLOCK_AGAIN.
 * RLOCK_BUSY: there are so many of them that each was taken: back off. *stuck_at: of which name. */
enum rlock_status rlock__agree_on_tokens(struct rlock_lock *lock, const struct rlock__limit *limit,
                                         size_t *stuck_at);

/* Gives back at once what was given by too few, or may have been: of one name, NULL: of all that
 * are not held. Places in line stay. */
void rlock__give_back(struct rlock_lock *lock, const struct rlock__resource *only);

/* Tells the servers of all names but one (NULL: of all) that we hold nothing and wait for nothing,
 * as far as that can be told by end_ms. */
void rlock__leave(struct rlock_lock *lock, const struct rlock__resource *but, int64_t end_ms,
                  int cancel_fd);

/* Renews all names over routes of the caller's. RLOCK_OK, RLOCK_LOST, RLOCK_AGAIN, or final;
 * *stuck_at: which one; routes->error says why. */
enum rlock_status rlock__lock_renew(struct rlock_lock *lock, struct rlock__routes *routes,
                                    const struct rlock__limit *limit, size_t *stuck_at);

/* After a renewal, in a moment for all names: a server that has lost a hold, or never gave it, or
 * knows it by another token, is given it again while a majority keeps it: a long command outlives
 * servers that restart one after the other. Nobody else can have had the lock meanwhile.
 * cancel_fd: ends it sooner, -1: none. */
void rlock__lock_restore(struct rlock_lock *lock, struct rlock__routes *routes, int cancel_fd);

/* Publishes the earliest lease end of the resources. */
void rlock__lock_update_lease_end(struct rlock_lock *lock);

#endif
