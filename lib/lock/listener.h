/* listener.h: listens for the message that a lock was given back: a subscription on each server. */
#ifndef RLOCK_LISTENER_H
#define RLOCK_LISTENER_H

#include "redis/client.h"

struct rlock__resource;

/* --- subscription.c: one server ----------------------------------------------------------------
 */

enum { RLOCK__BY_SIZE = 256 };

/* What was heard. */
struct rlock__news {
    bool woken;              /* on our own channel: "it was given back, it is your turn" */
    bool released;           /* on the common channel: "it was given back" */
    bool heartbeat;          /* "you are at the front: come every few seconds" */
    int64_t first_ms;        /* "you are first, the hold ends in so many ms"; -1: not heard */
    bool broken;             /* "it was taken away from you" */
    bool preempted;          /* "a waiter asks you to end" */
    bool stopped;            /* "the command that ran under it has stopped" */
    char by[RLOCK__BY_SIZE]; /* which user broke it, or which waiter asks; "": not told */
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

/* --- listener.c: all of them -------------------------------------------------------------------
 */

struct rlock__listener {
    struct rlock__error *error;                /* its owner's */
    struct rlock__routes routes;               /* count 0: not made yet */
    struct rlock__subscription *subscriptions; /* one for each server */
    struct rlock__resource *resource;          /* what it listens for; NULL: nothing */
    bool on_common;                            /* subscribed to the common channel, too */
    struct rlock__news heard;                  /* while it subscribed */
    int beside_fd;       /* rlock__hear() ends when it is readable, too; 0: none */
    const char *channel; /* the one to listen on in place of the resource's; NULL: none */
};

/* Makes the ways to the client's servers from what the client knows of them, if there are none yet;
 * listener->error must be set. The first rlock__listen() does so by itself; before listening in
 * another thread, call this in the client's. False: no memory. */
bool rlock__listener_make(struct rlock__listener *listener, const struct rlock_client *client);

/* Listens on the resource's own channel, and on the common one when `on_common`; returns when the
 * server has confirmed it, of several servers a majority: only then is a try worth its answer, for
 * no message is missed any more. The other servers follow while rlock__hear() waits. RLOCK_OK.
 * RLOCK_AGAIN: no connection, *listener hears nothing. Else final. */
__attribute__((nonnull)) enum rlock_status
rlock__listen(struct rlock__listener *listener, const struct rlock_client *client,
              struct rlock__resource *resource, bool on_common, const struct rlock__limit *limit);

/* True: the lock has been asked for elsewhere since: what listens there listens in vain. The next
 * rlock__listen() finds out anew where to. */
bool rlock__listens_elsewhere(struct rlock__listener *listener, const struct rlock__routes *routes);

/* Waits for news. RLOCK_OK: *news has it, and no more is waiting to be read; or none has come until
 * the deadline, or beside_fd. RLOCK_UNAVAILABLE: a connection died, and with it the majority that
 * listens (of one server: *listener hears nothing). RLOCK_CANCELLED. */
enum rlock_status rlock__hear(struct rlock__listener *listener, const struct rlock__limit *limit,
                              struct rlock__news *news);
bool rlock__is_news(const struct rlock__news *news);

/* Ends listening and closes the connections. */
void rlock__listen_no_more(struct rlock__listener *listener);

void rlock__listener_free(struct rlock__listener *listener);

#endif
