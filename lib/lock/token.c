/* token.c: the one token of each hold on several servers. */
#include <inttypes.h>
#include <stdio.h>

#include "lock/ask.h"

enum { ROUNDS = 8 };

enum { GRANTED = 1 };

static enum rlock_status judge(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run) {
    if (run->status != RLOCK_OK)
        return run->status;
    if (run->answer.code != GRANTED)
        return RLOCK_BUSY;
    instance->token = ballot->resource->hold.token;
    return RLOCK_OK;
}

static bool is_agreed(const struct rlock__resource *resource) {
    size_t know_it = 0;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        know_it += instance->state == RLOCK__HELD && instance->token == resource->hold.token;
    }
    return know_it >= rlock__majority(resource->instance_count);
}

/* Asks those that have given another; so many of them are enough as are missing. */
static void build(struct rlock__ballot *ballot) {
    const struct rlock__resource *resource = ballot->resource;
    (void)snprintf(ballot->number, sizeof ballot->number, "%" PRId64, resource->hold.token);
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        if (instance->state != RLOCK__HELD)
            continue;
        if (instance->token == resource->hold.token) {
            ballot->batch.enough--;
            continue;
        }
        struct rlock__call call = rlock__resource_call(resource, resource->hold.owner, 0);
        call.args[call.arg_count++] = ballot->number;
        (void)rlock__ballot_ask(ballot, i, call);
    }
}

/* RLOCK_OK: a majority has accepted the token. RLOCK_BUSY: others have it, or a larger one; the
 * next is due. RLOCK_DENIED: a server gives us no right to it. RLOCK_AGAIN: none has said no: they
 * do not answer; or tokens have come to their end. */
static enum rlock_status conclude(struct rlock__ballot *ballot) {
    struct rlock__resource *resource = ballot->resource;
    struct rlock__routes *routes = ballot->ask->routes;
    int64_t known = 0; /* the largest, of servers that have refused ours */
    if (is_agreed(resource))
        return RLOCK_OK;
    for (size_t i = 0; i < ballot->batch.count; i++) {
        const size_t server = ballot->questions[i].server;
        const int64_t token = ballot->batch.runs[i].answer.a;
        if (ballot->votes[server] == RLOCK_DENIED) {
            *routes->error = routes->at[server].error;
            return RLOCK_DENIED;
        }
        if (ballot->votes[server] == RLOCK_BUSY && token > known)
            known = token;
    }
    if (known == 0 || known == INT64_MAX) {
        rlock__error_set(routes->error, "no majority of the servers agrees on a token");
        return RLOCK_AGAIN;
    }
    resource->hold.token = known + 1;
    resource->due = true;
    return RLOCK_BUSY;
}

enum rlock_status rlock__agree_on_tokens(struct rlock_lock *lock,
                                         const struct rlock__limit *limit) {
    static const struct rlock__verb raise = {.build = build, .judge = judge, .conclude = conclude};
    struct rlock__ask ask = rlock__asking(lock, &raise, RLOCK__TOKEN_RAISE, limit);
    enum rlock_status status = RLOCK_BUSY;
    for (size_t i = 0; i < lock->resource_count; i++)
        lock->resources[i].due = !is_agreed(&lock->resources[i]);
    for (int round = 0; round < ROUNDS && status == RLOCK_BUSY; round++)
        status = rlock__ask(&ask);
    lock->stuck_at = ask.stuck_at;
    return status;
}
