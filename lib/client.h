/* client.h: the inside of a client. */
#ifndef RLOCK_CLIENT_H
#define RLOCK_CLIENT_H

#include "route.h"

struct rlock_client {
    struct rlock__server server;
    char *password;
    int64_t connect_timeout_ms, io_timeout_ms;
    struct rlock__route route; /* takes, renews, gives back */
    struct rlock__error error;
};

/* A further route to the client's server: for listening, for a keeper. */
void rlock__client_route(const struct rlock_client *client, struct rlock__route *route);

/* Notes why an argument is of no use. Returns RLOCK_INVALID. */
enum rlock_status rlock__client_invalid(struct rlock_client *client, const char *why);

/* What a request may take: the client's time-out for one reply, less where the deadline is nearer.
 */
struct rlock__limit rlock__client_limit(const struct rlock_client *client, int64_t deadline_ms,
                                        int cancel_fd);

#endif
