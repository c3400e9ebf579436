/* token.c: the one token of a hold on several servers. */
#include <inttypes.h>
#include <stdio.h>

#include "lock/ballot.h"
#include "lock/lock.h"

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

/* Asks those that have given another. Returns how many have given this one. */
static size_t ask_others(struct rlock__ballot *ballot, const char *token) {
    struct rlock__resource *resource = ballot->resource;
    size_t know_it = 0;
    for (size_t i = 0; i < ballot->routes->count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        const char *owner = rlock__resource_owner_on(resource, instance);
        if (!instance->held)
            continue;
        if (instance->token == resource->hold.token) {
            know_it++;
            continue;
        }
        struct rlock__call *call =
            rlock__ballot_ask(ballot, i, rlock__resource_call(resource, owner));
        call->args[call->arg_count++] = token;
    }
    return know_it;
}

enum rlock_status rlock__resource_propose_token(struct rlock__resource *resource,
                                                struct rlock__routes *routes,
                                                const struct rlock__limit *limit, int64_t *known) {
    struct rlock__ballot ballot;
    const size_t majority = rlock__majority(routes->count);
    enum rlock_status failure = RLOCK_AGAIN;
    char token[24];
    *known = 0;
    (void)snprintf(token, sizeof token, "%" PRId64, resource->hold.token);
    rlock__ballot_begin(&ballot, resource, routes, RLOCK__TOKEN_RAISE, judge);
    size_t know_it = ask_others(&ballot, token);
    if (know_it >= majority)
        return RLOCK_OK;
    ballot.batch.enough = majority - know_it;
    rlock__ballot_run(&ballot, limit);
    rlock__ballot_end(&ballot);
    for (size_t i = 0; i < ballot.batch.count; i++) {
        const enum rlock_status vote = ballot.votes[ballot.asked[i]];
        know_it += vote == RLOCK_OK;
        if (vote == RLOCK_BUSY && ballot.runs[i].answer.a > *known)
            *known = ballot.runs[i].answer.a;
        if (vote == RLOCK_DENIED) {
            failure = vote;
            *routes->error = ballot.runs[i].route->error;
        }
    }
    return know_it >= majority ? RLOCK_OK : failure;
}

enum rlock_status rlock__resource_agree_on_token(struct rlock__resource *resource,
                                                 const struct rlock__limit *limit) {
    struct rlock__routes *routes = &resource->lock->client->routes;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t known;
        const enum rlock_status status =
            rlock__resource_propose_token(resource, routes, limit, &known);
        if (status != RLOCK_AGAIN)
            return status;
        /* Nobody has said no: they do not answer; or tokens have come to their end. */
        if (known == 0 || known == INT64_MAX) {
            rlock__error_set(routes->error, "no majority of the servers agrees on a token");
            return RLOCK_AGAIN;
        }
        resource->hold.token = known + 1;
    }
    return RLOCK_BUSY;
}
