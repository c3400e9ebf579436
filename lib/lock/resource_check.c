/* resource_check.c: looks whether all names are still held, each by a majority; changes nothing. */
#include <inttypes.h>
#include <stdio.h>

#include "lock/ask.h"
#include "lock/lock.h"
#include "os/clock.h"

enum { KEPT = 1 };

static void build(struct rlock__ballot *ballot) {
    const struct rlock__resource *resource = ballot->resource;
    (void)snprintf(ballot->number, sizeof ballot->number, "%" PRId64, resource->hold.token);
    struct rlock__call call = rlock__resource_call_held(resource, resource->hold.owner);
    call.args[call.arg_count++] = ballot->number;
    for (size_t i = 0; i < resource->instance_count; i++)
        (void)rlock__ballot_ask(ballot, i, call);
}

static enum rlock_status judge(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run) {
    (void)instance;
    return rlock__ballot_vote(ballot, run, KEPT);
}

static enum rlock_status conclude(struct rlock__ballot *ballot) {
    struct rlock__ask *ask = ballot->ask;
    int64_t times[RLOCK_SERVERS_MAX] = {0};
    for (size_t i = 0; i < ballot->batch.count; i++) { /* all servers are asked, in their order */
        const int64_t left_ms = ballot->batch.runs[i].answer.a;
        if (ballot->votes[i] == RLOCK_OK)
            times[i] = left_ms < 0 ? RLOCK_FOREVER : left_ms;
    }
    ask->ttl_ms = rlock__sooner_ms(ask->ttl_ms, rlock__votes_least(times, ballot->batch.count));
    return rlock__ballot_count(ballot);
}

/* Without an owner there is nothing to ask about. */
static enum rlock_status check_held(struct rlock_lock *lock) {
    for (size_t i = 0; i < lock->resource_count; i++) {
        if (lock->resources[i].held)
            continue;
        lock->stuck_at = i;
        rlock__error_set(&lock->client->error, "%s is not held", lock->resources[i].name);
        return RLOCK_LOST;
    }
    return RLOCK_OK;
}

enum rlock_status rlock_check(rlock_lock *lock, int64_t *ttl_ms) {
    static const struct rlock__verb check = {
        .build = build, .judge = judge, .conclude = conclude, .in_order = true};
    struct rlock__ask ask = {.lock = lock,
                             .verb = &check,
                             .script = lock->kind->check,
                             .routes = &lock->client->routes,
                             .ttl_ms = RLOCK_FOREVER};
    *ttl_ms = RLOCK_FOREVER;
    if (lock->kind->check == NULL)
        return rlock__client_invalid(lock->client, "this kind of lock can't be looked for");
    enum rlock_status status = check_held(lock);
    if (status != RLOCK_OK)
        return status;
    ask.limit = rlock__client_call_limit(lock->client, rlock_now_ms(), true, RLOCK_FOREVER, -1);
    status = rlock__ask_all(&ask);
    *ttl_ms = ask.ttl_ms;
    if (status != RLOCK_OK)
        lock->stuck_at = ask.stuck_at;
    return rlock__final(status);
}
