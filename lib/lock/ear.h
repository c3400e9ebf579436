/* ear.h: one server's subscriptions for who waits. */
#ifndef RLOCK_EAR_H
#define RLOCK_EAR_H

#include "redis/route.h"

struct rlock__part;

enum { RLOCK__BY_SIZE = 128 };

/* What was heard. */
struct rlock__news {
    bool woken;              /* on our own channel: "it was given back, it is your turn" */
    bool released;           /* on everybody's channel: "it was given back" */
    bool beat;               /* "you are at the front: come every few seconds" */
    int64_t first_ms;        /* "you are first, the hold ends in so many ms"; -1: not heard */
    bool broken;             /* "it was taken away from you" */
    char by[RLOCK__BY_SIZE]; /* by whom; "": not told */
};

enum rlock__ear_state { RLOCK__DEAF, RLOCK__CONNECTING_EAR, RLOCK__SUBSCRIBING, RLOCK__LISTENING };

/* One server's: a connection of its own, for a subscribed one takes no other commands in RESP2. */
struct rlock__ear {
    enum rlock__ear_state state;
    struct rlock__link *link; /* the route's, while not deaf */
    struct rlock__request request;
    size_t unconfirmed; /* subscriptions */
    bool sharded;
    int64_t again_ms; /* when a deaf one tries again, while others hear */
};

/* Adds the subscription to a channel to what the ear sends, with a confirmation to be awaited.
 * RLOCK_OK or RLOCK_SYSTEM. */
enum rlock_status rlock__ear_subscribe(struct rlock__ear *ear, const char *channel);

/* As far as it goes without waiting: connects, sends, and takes each message about the part into
 * *news. RLOCK_AGAIN: to be polled. Else it has failed: ear->link->error says why. */
enum rlock_status rlock__ear_step(struct rlock__ear *ear, const struct rlock__part *part,
                                  struct rlock__news *news);

/* Deaf from now on, and for a while. */
void rlock__ear_close(struct rlock__ear *ear, struct rlock__route *route);

#endif
