/* listener.h: listens for the message that a lock was given back: a subscription on each server. */
#ifndef RLOCK_LISTENER_H
#define RLOCK_LISTENER_H

#include "redis/client.h"

struct rlock__resource;

/* --- subscription.c: one server --------------------------------------------------------------- */

enum { RLOCK__BY_SIZE = 256 };

/* What was heard, as bits. */
enum {
    RLOCK__WOKEN = 1 << 0,     /* on our own channel: "it was given back, it is your turn" */
    RLOCK__RELEASED = 1 << 1,  /* on the common channel: "it was given back" */
    RLOCK__HEARTBEAT = 1 << 2, /* "you are at the front: come every few seconds" */
    RLOCK__FIRST = 1 << 3,     /* "you are first, the hold ends in so many ms" */
    RLOCK__BROKEN = 1 << 4,    /* "it was taken away from you" */
    RLOCK__PREEMPTED = 1 << 5, /* "a waiter asks you to end" */
    RLOCK__STOPPED = 1 << 6    /* "the command that ran under it has stopped" */
};
struct rlock__news {
    unsigned what; /* 0: nothing */
    int64_t first_ms;
    char by[RLOCK__BY_SIZE]; /* which user broke it, or which waiter asks; "": not told */
};

/* One server's: a connection of its own, for a subscribed one takes no other commands in RESP2. */
struct rlock__subscription {
    struct rlock__link *link; /* the route's; NULL: closed */
    struct rlock__request request;
    size_t unconfirmed; /* channels; 0: it hears all that it is for */
    bool sharded;
    int64_t again_ms; /* when a closed one is begun anew, while others listen */
};

/* Adds a channel to what it asks for; a confirmation is awaited.
 * RLOCK_OK or RLOCK_SYSTEM. */
enum rlock_status rlock__subscription_add(struct rlock__subscription *subscription,
                                          const char *channel);

/* As far as it goes without waiting: connects, sends, and takes each message into the news of the
 * resource that it is about. RLOCK__IO_WAIT: to be polled. Else it has failed, and the route's
 * error says why. */
enum rlock__io rlock__subscription_step(struct rlock__subscription *subscription,
                                        struct rlock__resource *resources, size_t count);

/* Closes it, for a while. */
void rlock__subscription_close(struct rlock__subscription *subscription,
                               struct rlock__route *route);

/* --- listener.c: all of them ------------------------------------------------------------------ */

/* Which of a resource's channels are subscribed to. */
enum rlock__channels { RLOCK__NO_CHANNEL, RLOCK__OWN_CHANNEL, RLOCK__BOTH_CHANNELS };

/* It listens for some resources of an array. In a cluster that is a single one, for each may live
 * on another node. */
struct rlock__listener {
    struct rlock__routes routes;               /* count 0: not made yet */
    struct rlock__subscription *subscriptions; /* one for each server */
    struct rlock__resource *resources;         /* what it listens for; NULL: nothing */
    size_t resource_count;
    char *channel; /* the one to listen on in place of the resource's, which it owns; NULL: none */
};

/* Makes the ways to the client's servers from what the client knows of them, if there are none yet;
 * error: where to say what went wrong; borrowed. The first rlock__listen() does so by itself, with
 * the client's; before listening in another thread, call this in the client's. False: no memory. */
bool rlock__listener_make(struct rlock__listener *listener, const struct rlock_client *client,
                          struct rlock__error *error);

/* Listens on the channels that the resources want; returns when the server has confirmed it, of
 * several servers a majority: only then is a try worth its answer, for no message is missed any
 * more. The other servers follow while rlock__hear() waits. RLOCK_OK. RLOCK_AGAIN: no connection,
 * *listener hears nothing. Else final. */
__attribute__((nonnull)) enum rlock_status
rlock__listen(struct rlock__listener *listener, struct rlock_client *client,
              struct rlock__resource *resources, size_t count, const struct rlock__limit *limit);

/* True: the lock has been asked for elsewhere since: what listens there listens in vain. The next
 * rlock__listen() finds out anew where to. */
bool rlock__listens_elsewhere(struct rlock__listener *listener, const struct rlock__routes *routes);

/* Waits for news over the listeners that listen; over none, for the rest alone. RLOCK_OK: some
 * resources have news, and no more is waiting to be read; or none has come until the deadline, or
 * until beside_fd was readable; -1: none. RLOCK_UNAVAILABLE: a connection died, and with it the
 * majority that listens (of one server: that listener hears nothing). RLOCK_CANCELLED. */
enum rlock_status rlock__hear(struct rlock__listener *listeners, size_t count, int beside_fd,
                              const struct rlock__limit *limit);

/* The resource's news, which it then has no more. */
struct rlock__news rlock__take_news(struct rlock__resource *resource);

/* Ends listening and closes the connections. What resources have heard, and what they want, is
 * forgotten. */
void rlock__listen_no_more(struct rlock__listener *listener);

void rlock__listener_free(struct rlock__listener *listener);

#endif
