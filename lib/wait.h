/* wait.h: listens for the message that a lock was given back. */
#ifndef RLOCK_WAIT_H
#define RLOCK_WAIT_H

#include "route.h"

struct rlock__part;

/* What was heard. */
struct rlock__news {
    bool woken;       /* on our own channel: "it was given back, it is your turn" */
    bool released;    /* on everybody's channel: "it was given back" */
    int64_t first_ms; /* "you are first, the hold ends in so many ms"; -1: not heard */
};

/* A connection of its own: a subscribed one takes no other commands in RESP2. */
struct rlock__listener {
    struct rlock__route route;
    struct rlock__part *part; /* what it listens for; NULL: nothing */
    bool shared;              /* subscribed to everybody's channel as well */
    struct rlock__news heard; /* while it subscribed */
};

/* Listens on the part's own channel, and on everybody's when `shared`; returns when the server has
 * confirmed it: only then is a try worth its answer, for no message is missed any more.
 * RLOCK_OK. RLOCK_AGAIN: no connection, *listener hears nothing. Else final. */
__attribute__((nonnull)) enum rlock_status rlock__listen(struct rlock__listener *listener,
                                                         struct rlock__part *part, bool shared,
                                                         const struct rlock__limit *limit);

/* Stops listening on everybody's channel. A failure shows at the next rlock__hear(). */
void rlock__listen_alone(struct rlock__listener *listener, const struct rlock__limit *limit);

/* Waits for news. RLOCK_OK: *news has it, and no more is waiting to be read. RLOCK_AGAIN: the
 * deadline. RLOCK_UNAVAILABLE: the connection died, *listener hears nothing. RLOCK_CANCELLED. */
enum rlock_status rlock__hear(struct rlock__listener *listener, const struct rlock__limit *limit,
                              struct rlock__news *news);

/* Ends listening and closes the connection. */
void rlock__listen_no_more(struct rlock__listener *listener);

#endif
