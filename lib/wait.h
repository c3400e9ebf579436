/* wait.h: listens for the message that a lock was given back. */
#ifndef RLOCK_WAIT_H
#define RLOCK_WAIT_H

#include "client.h"

struct rlock__part;

/* What was heard. */
struct rlock__news {
    bool woken;       /* on our own channel: "it was given back, it is your turn" */
    bool released;    /* on everybody's channel: "it was given back" */
    int64_t first_ms; /* "you are first, the hold ends in so many ms"; -1: not heard */
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

struct rlock__listener {
    struct rlock__routes routes; /* count 0: not made yet */
    struct rlock__ear *ears;     /* one for each server */
    struct rlock__part *part;    /* what it listens for; NULL: nothing */
    bool shared;                 /* subscribed to everybody's channel as well */
    struct rlock__news heard;    /* while it subscribed */
};

/* Listens on the part's own channel, and on everybody's when `shared`; returns when the server has
 * confirmed it, of several servers a majority: only then is a try worth its answer, for no message
 * is missed any more. The other servers follow while rlock__hear() waits.
 * RLOCK_OK. RLOCK_AGAIN: no connection, *listener hears nothing. Else final. */
__attribute__((nonnull)) enum rlock_status rlock__listen(struct rlock__listener *listener,
                                                         const struct rlock_client *client,
                                                         struct rlock__part *part, bool shared,
                                                         const struct rlock__limit *limit);

/* Stops listening on everybody's channel. A failure shows at the next rlock__hear(). */
void rlock__listen_alone(struct rlock__listener *listener);

/* True: the lock has been asked for elsewhere since: what listens there listens in vain. The next
 * rlock__listen() finds out anew where to. */
bool rlock__listens_elsewhere(struct rlock__listener *listener, const struct rlock__routes *routes);

/* Waits for news. RLOCK_OK: *news has it, and no more is waiting to be read. RLOCK_AGAIN: the
 * deadline. RLOCK_UNAVAILABLE: a connection died, and with it the majority that listens (of one
 * server: *listener hears nothing). RLOCK_CANCELLED. */
enum rlock_status rlock__hear(struct rlock__listener *listener, const struct rlock__limit *limit,
                              struct rlock__news *news);

/* Ends listening and closes the connections. */
void rlock__listen_no_more(struct rlock__listener *listener);

void rlock__listener_free(struct rlock__listener *listener);

#endif
