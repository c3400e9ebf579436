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

/* Renews all names over routes of the caller's. RLOCK_OK, RLOCK_LOST, RLOCK_AGAIN, or final;
 * *stuck_at: which one; routes->error says why. */
enum rlock_status rlock__lock_renew(struct rlock_lock *lock, struct rlock__routes *routes,
                                    const struct rlock__limit *limit, size_t *stuck_at);

/* After a renewal: puts the holds back that some of the servers have lost, in a moment for all of
 * them; cancel_fd: that ends it sooner, -1: none. */
void rlock__lock_restore(struct rlock_lock *lock, struct rlock__routes *routes, int cancel_fd);

/* Publishes the earliest lease end of the resources. */
void rlock__lock_update_lease_end(struct rlock_lock *lock);

#endif
