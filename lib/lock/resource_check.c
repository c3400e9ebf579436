/* resource_check.c: looks whether one name is still held, by a majority; changes nothing. */
#include <inttypes.h>
#include <stdio.h>

#include "lock/ask.h"
#include "lock/lock.h"

enum { KEPT = 1 };

static enum rlock_status judge(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run) {
    (void)instance;
    return rlock__ballot_vote(ballot, run, KEPT);
}

enum rlock_status rlock__resource_check(struct rlock__resource *resource,
                                        const struct rlock__limit *limit, int64_t *ttl_ms) {
    struct rlock__routes *routes = &resource->lock->client->routes;
    struct rlock__ballot ballot;
    int64_t times[RLOCK_SERVERS_MAX] = {0};
    char token[24];
    (void)snprintf(token, sizeof token, "%" PRId64, resource->hold.token);
    rlock__ballot_begin(&ballot, resource, routes, resource->lock->kind->check, judge);
    struct rlock__call call = rlock__resource_call_held(resource, resource->hold.owner);
    call.args[call.arg_count++] = token;
    for (size_t i = 0; i < routes->count; i++)
        (void)rlock__ballot_ask(&ballot, i, call);
    const enum rlock_status status = rlock__ballot_decide(&ballot, limit);
    for (size_t i = 0; i < routes->count; i++) {
        const int64_t left_ms = ballot.runs[i].answer.a;
        if (ballot.votes[i] == RLOCK_OK)
            times[i] = left_ms < 0 ? RLOCK_FOREVER : left_ms;
    }
    *ttl_ms = rlock__ballot_least(times, routes->count);
    return status;
}
