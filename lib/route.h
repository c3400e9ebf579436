/* route.h: the way to the server where a lock lives: connected, logged in, connected again. */
#ifndef RLOCK_ROUTE_H
#define RLOCK_ROUTE_H

#include "conn.h"

struct rlock__route {
    const struct rlock__server *server; /* borrowed, like the password */
    const char *password;
    int64_t connect_timeout_ms;
    struct rlock__addresses addresses;
    bool look_up_again; /* the addresses did not work */
    struct rlock__conn conn;
    bool answered; /* the server has said something, ever */
    bool in_doubt; /* a request went out whose answer never came */
    struct rlock__error error;
};

/* A route that connects on first use. If `like` is not NULL its addresses are taken over, so that a
 * name service that has died since does no harm. */
void rlock__route_init(struct rlock__route *route, const struct rlock__server *server,
                       const char *password, int64_t connect_timeout_ms,
                       const struct rlock__route *like);

/* Closes the connection; the route can be used again. */
void rlock__route_close(struct rlock__route *route);

/* Connects and logs in, where that is not done yet.
 * RLOCK_OK. RLOCK_AGAIN: not now. RLOCK_DENIED, RLOCK_UNAVAILABLE: never. RLOCK_CANCELLED,
 * RLOCK_SYSTEM. route->error says why. */
enum rlock_status rlock__route_connect(struct rlock__route *route,
                                       const struct rlock__limit *limit);

/* Sends a command and receives its reply, connecting first where needed. As rlock__route_connect;
 * on RLOCK_OK *out is the caller's, and may be an error reply. */
enum rlock_status rlock__route_call(struct rlock__route *route, size_t count,
                                    const struct rlock__arg *args, const struct rlock__limit *limit,
                                    rlock__reply **out);

/* What a reply says: RLOCK_OK, or as rlock__refusal() when it is an error. */
enum rlock_status rlock__route_judge(struct rlock__route *route, const rlock__reply *reply);

#endif
