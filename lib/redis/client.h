/* client.h: the inside of a client. */
#ifndef RLOCK_CLIENT_H
#define RLOCK_CLIENT_H

#include "redis/route.h"

struct rlock_client {
    size_t count; /* of the servers; 1, or an odd number of which a majority decides */
    struct rlock__site *sites;
    struct rlock__tls_config tls;
    char *kept[6]; /* what the options said, copied: password and its file, and TLS's texts */
    char *shown;   /* the servers for messages */
    int64_t connect_timeout_ms, io_timeout_ms;
    int64_t replica_timeout_ms;  /* for what must acknowledge; 0: nothing is asked to */
    struct rlock__routes routes; /* take, renew, give back */
    bool warned;                 /* of what rlock_warning() says */
    struct rlock__error error;
};

/* More ways to the client's servers. error: where to say what went wrong; borrowed. Free them with
 * rlock__routes_free. False: no memory. */
bool rlock__client_routes(const struct rlock_client *client, struct rlock__routes *routes,
                          struct rlock__error *error);

/* Notes why an argument is of no use. Returns RLOCK_INVALID. */
enum rlock_status rlock__client_invalid(struct rlock_client *client, const char *why);

/* The status of what is not tried again: RLOCK_AGAIN becomes RLOCK_UNAVAILABLE. */
enum rlock_status rlock__final(enum rlock_status status);

/* When servers of which too few have ever said anything are given up: all that was begun at
 * began_ms has the time for connecting, and no more: look-up, connection, log-in and the first
 * answer. RLOCK_FOREVER: enough have said something. began_ms RLOCK_FOREVER: what must go on is
 * never given up, and the routes, which may be another thread's, are not looked at. */
int64_t rlock__client_reach_by_ms(const struct rlock_client *client,
                                  const struct rlock__routes *routes, int64_t began_ms);

/* What a request may take: the client's time-out for one reply, less where the deadline is nearer.
 * Of several servers none is waited for longer than is worth it for the others. */
struct rlock__limit rlock__client_limit(const struct rlock_client *client, int64_t deadline_ms,
                                        int cancel_fd);

/* The same where the connection may have to be made first: the time for that comes on top, up to
 * rlock__client_reach_by_ms(). The first try leaves some of that for another one (`again`), for the
 * first answer may have been lost. */
struct rlock__limit rlock__client_call_limit(const struct rlock_client *client, int64_t began_ms,
                                             bool again, int64_t deadline_ms, int cancel_fd);

#endif
