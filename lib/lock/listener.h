/* listener.h: listens for the message that a lock was given back. */
#ifndef RLOCK_LISTENER_H
#define RLOCK_LISTENER_H

#include "lock/subscription.h"
#include "redis/client.h"

struct rlock__listener {
    struct rlock__error *error;                /* its owner's */
    struct rlock__routes routes;               /* count 0: not made yet */
    struct rlock__subscription *subscriptions; /* one for each server */
    struct rlock__resource *resource;          /* what it listens for; NULL: nothing */
    bool shared;                               /* subscribed to everybody's channel as well */
    struct rlock__news heard;                  /* while it subscribed */
    int beside_fd;       /* rlock__hear() ends when it is readable, too; 0: none */
    const char *channel; /* the one to listen on in place of the resource's; NULL: none */
};

/* Makes the ways to the client's servers from what the client knows of them, if there are none yet;
 * listener->error must be set. The first rlock__listen() does so by itself; who listens in a thread
 * of its own calls this in the client's thread before. False: no memory. */
bool rlock__listener_make(struct rlock__listener *listener, const struct rlock_client *client);

/* Listens on the resource's own channel, and on everybody's when `shared`; returns when the server
 * has confirmed it, of several servers a majority: only then is a try worth its answer, for no
 * message is missed any more. The other servers follow while rlock__hear() waits. RLOCK_OK.
 * RLOCK_AGAIN: no connection, *listener hears nothing. Else final. */
__attribute__((nonnull)) enum rlock_status
rlock__listen(struct rlock__listener *listener, const struct rlock_client *client,
              struct rlock__resource *resource, bool shared, const struct rlock__limit *limit);

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
