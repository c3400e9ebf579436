/* route.c: the way to the server where a lock lives. */
#include "route.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "refusal.h"

void rlock__route_init(struct rlock__route *route, const struct rlock__server *server,
                       const char *password, int64_t connect_timeout_ms,
                       const struct rlock__route *like) {
    *route = (struct rlock__route){.server = server,
                                   .password = password,
                                   .connect_timeout_ms = connect_timeout_ms,
                                   .look_up_again = true,
                                   .conn = RLOCK__CONN_INIT};
    if (like != NULL && like->addresses.count > 0) {
        route->addresses = like->addresses;
        route->look_up_again = false;
    }
}

void rlock__route_close(struct rlock__route *route) {
    rlock__conn_close(&route->conn);
}

enum rlock_status rlock__route_judge(struct rlock__route *route, const rlock__reply *reply) {
    const char *text = rlock__reply_error(reply);
    if (text == NULL)
        return RLOCK_OK;
    const char *plain;
    const enum rlock_status status = rlock__refusal(text, &plain);
    rlock__error_set(&route->error, "%s", plain);
    return status;
}

/* After a failure the connection is dead, and so is what it may still bring. */
static enum rlock_status dead(struct rlock__route *route, enum rlock_status status) {
    rlock__conn_close(&route->conn);
    return status == RLOCK_UNAVAILABLE ? RLOCK_AGAIN : status;
}

static enum rlock_status exchange(struct rlock__route *route, size_t count,
                                  const struct rlock__arg *args, const struct rlock__limit *limit,
                                  rlock__reply **out) {
    enum rlock_status status = rlock__conn_send(&route->conn, count, args, limit, &route->error);
    if (status == RLOCK_OK) {
        status = rlock__conn_receive(&route->conn, out, limit, &route->error);
        if (status == RLOCK_AGAIN)
            rlock__error_set(&route->error, "no answer in time");
    }
    if (status != RLOCK_OK)
        return dead(route, status);
    route->answered = true;
    return RLOCK_OK;
}

/* One log-in command, whose answer must be +OK: a lock must not be taken as the wrong user or in
 * the wrong database. */
static enum rlock_status log_in_step(struct rlock__route *route, size_t count,
                                     const char *const *words, const struct rlock__limit *limit) {
    struct rlock__arg args[3];
    for (size_t i = 0; i < count; i++)
        args[i] = (struct rlock__arg){words[i], strlen(words[i])};
    rlock__reply *reply = NULL;
    enum rlock_status status = exchange(route, count, args, limit, &reply);
    if (status != RLOCK_OK)
        return status;
    status = rlock__route_judge(route, reply);
    const bool odd = rlock__reply_error(reply) == NULL && !rlock__reply_is_ok(reply);
    rlock__reply_free(reply);
    if (status == RLOCK_OK && !odd)
        return status;
    (void)dead(route, status);
    if (odd)
        rlock__error_set(&route->error, "the server's answer to %s can't be understood", words[0]);
    else if (status == RLOCK_UNAVAILABLE)
        status = RLOCK_DENIED; /* whatever it has against us */
    return odd ? RLOCK_UNAVAILABLE : status;
}

static enum rlock_status log_in(struct rlock__route *route, const struct rlock__limit *limit) {
    const struct rlock__server *server = route->server;
    const char *password = server->password != NULL ? server->password : route->password;
    enum rlock_status status = RLOCK_OK;
    if (password != NULL) {
        const char *words[] = {"AUTH", server->user, password};
        bool named = server->user != NULL;
        if (!named)
            words[1] = password;
        status = log_in_step(route, named ? 3 : 2, words, limit);
    }
    if (status == RLOCK_OK && server->db != 0) {
        char db[16];
        (void)snprintf(db, sizeof db, "%d", server->db);
        const char *words[] = {"SELECT", db};
        status = log_in_step(route, 2, words, limit);
    }
    return status;
}

/* A name that can't be looked up any more keeps the addresses it had. */
static enum rlock_status look_up(struct rlock__route *route, const struct rlock__limit *limit) {
    struct rlock__addresses found = {.count = 0};
    enum rlock_status status = rlock__resolve(&found, route->server, limit, &route->error);
    if (status == RLOCK_OK)
        route->addresses = found;
    else if (status == RLOCK_UNAVAILABLE && route->addresses.count > 0)
        status = RLOCK_OK;
    return status;
}

enum rlock_status rlock__route_connect(struct rlock__route *route,
                                       const struct rlock__limit *limit) {
    if (route->conn.fd >= 0)
        return RLOCK_OK;
    struct rlock__limit bound = *limit;
    int64_t timeout = rlock__after_ms(rlock_now_ms(), route->connect_timeout_ms);
    if (timeout < bound.deadline_ms)
        bound.deadline_ms = timeout;
    enum rlock_status status = route->look_up_again ? look_up(route, &bound) : RLOCK_OK;
    if (status == RLOCK_OK)
        status = rlock__conn_open(&route->conn, &route->addresses, &bound, &route->error);
    route->look_up_again = status != RLOCK_OK;
    if (status != RLOCK_OK)
        return dead(route, status);
    return log_in(route, &bound);
}

enum rlock_status rlock__route_call(struct rlock__route *route, size_t count,
                                    const struct rlock__arg *args, const struct rlock__limit *limit,
                                    rlock__reply **out) {
    enum rlock_status status = rlock__route_connect(route, limit);
    if (status != RLOCK_OK)
        return status;
    route->in_doubt = true;
    status = exchange(route, count, args, limit, out);
    if (status == RLOCK_OK)
        route->in_doubt = false;
    return status;
}
