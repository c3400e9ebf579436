/* subscription.h: a waiter's subscription to its channels on one server. */
#ifndef RLOCK_SUBSCRIPTION_H
#define RLOCK_SUBSCRIPTION_H

#include "redis/route.h"

struct rlock__resource;

enum { RLOCK__BY_SIZE = 128 };

/* What was heard. */
struct rlock__news {
    bool woken;              /* on our own channel: "it was given back, it is your turn" */
    bool released;           /* on everybody's channel: "it was given back" */
    bool heartbeat;          /* "you are at the front: come every few seconds" */
    int64_t first_ms;        /* "you are first, the hold ends in so many ms"; -1: not heard */
    bool broken;             /* "it was taken away from you" */
    bool preempted;          /* "somebody who waits asks you to end" */
    char by[RLOCK__BY_SIZE]; /* by whom, or who that is; "": not told */
};

enum rlock__subscription_state {
    RLOCK__SUBSCRIPTION_CLOSED,
    RLOCK__SUBSCRIPTION_CONNECTING,
    RLOCK__SUBSCRIPTION_REQUESTED,
    RLOCK__SUBSCRIPTION_CONFIRMED
};

/* One server's: a connection of its own, for a subscribed one takes no other commands in RESP2. */
struct rlock__subscription {
    enum rlock__subscription_state state;
    struct rlock__link *link; /* the route's, unless closed */
    struct rlock__request request;
    size_t unconfirmed; /* channels */
    bool sharded;
    int64_t again_ms; /* when a closed one is begun anew, while others listen */
};

/* Adds a channel to what it asks for; a confirmation is awaited.
 * RLOCK_OK or RLOCK_SYSTEM. */
enum rlock_status rlock__subscription_add(struct rlock__subscription *subscription,
                                          const char *channel);

/* As far as it goes without waiting: connects, sends, and takes each message about the resource
 * into *news. RLOCK__IO_WAIT: to be polled. Else it has failed, and the route's error says why.
 */
enum rlock__io rlock__subscription_step(struct rlock__subscription *subscription,
                                        const struct rlock__resource *resource,
                                        struct rlock__news *news);

/* Closes it, for a while. */
void rlock__subscription_close(struct rlock__subscription *subscription,
                               struct rlock__route *route);

#endif
