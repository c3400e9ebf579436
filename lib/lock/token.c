/* token.c: several servers agree on the one token of each hold. */
#include <inttypes.h>
#include <stdio.h>

#include "lock/ask.h"

enum {
    ACCEPTED = 1, /* the script's code */
    ROUNDS = 8
};

static enum rlock_status judge_raised(const struct rlock__ballot *ballot,
                                      struct rlock__instance *instance, struct rlock__run *run) {
    if (run->status != RLOCK_OK)
        return run->status;
    if (run->answer.code != ACCEPTED)
        return RLOCK_BUSY;
    instance->token = ballot->resource->hold.token;
    return RLOCK_OK;
}

/* On how many servers we hold it by its one token, or, if others, by another. */
static size_t count_held_by(const struct rlock__resource *resource, bool others) {
    size_t count = 0;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        const bool by_it = instance->token == resource->hold.token;
        count += instance->state == RLOCK__HELD && by_it != others;
    }
    return count;
}

static bool is_agreed(const struct rlock__resource *resource) {
    return count_held_by(resource, false) >= rlock__majority(resource->instance_count);
}

/* Asks those that have given another; so many of them are enough as are missing. Where none is,
 * they are told all the same: a nested hold re-enters on a majority of all. */
static void ask_to_raise(struct rlock__ballot *ballot, size_t server) {
    const struct rlock__resource *resource = ballot->resource;
    const struct rlock__instance *instance = &resource->instances[server];
    if (instance->state != RLOCK__HELD)
        return;
    if (instance->token == resource->hold.token) {
        ballot->batch.enough -= ballot->batch.enough > 0;
        return;
    }
    (void)snprintf(ballot->number, sizeof ballot->number, "%" PRId64, resource->hold.token);
    struct rlock__call call = rlock__resource_call(resource, resource->hold.owner, 0);
    call.args[call.arg_count++] = ballot->number;
    (void)rlock__ballot_ask(ballot, server, call);
}

/* RLOCK_OK: a majority has accepted the token. RLOCK_BUSY: others have it, or a larger one; the
 * next is due. RLOCK_DENIED: a server gives us no right to it. RLOCK_AGAIN: none has said no: they
 * do not answer; or tokens have come to their end. */
static enum rlock_status conclude_raised(struct rlock__ballot *ballot) {
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

enum rlock_status rlock__agree_on_tokens(struct rlock_lock *lock, const struct rlock__limit *limit,
                                         struct rlock__busy *busy) {
    static const struct rlock__verb raise = {
        .ask = ask_to_raise, .judge = judge_raised, .conclude = conclude_raised};
    struct rlock__ask ask = rlock__asking(lock, &raise, &RLOCK__TOKEN_RAISE, limit);
    enum rlock_status status = RLOCK_BUSY;
    for (size_t i = 0; i < lock->resource_count; i++)
        lock->resources[i].due = count_held_by(&lock->resources[i], true) > 0;
    for (int round = 0; round < ROUNDS && status == RLOCK_BUSY; round++)
        status = rlock__ask(&ask);
    lock->stuck_at = ask.stuck_at;
    struct rlock__resource *resource = &lock->resources[lock->stuck_at];
    if (status == RLOCK_BUSY)
        *busy = rlock__busy_by_rivals(resource);
    if (status != RLOCK_OK) {
        resource->held = false;
        rlock__give_back(lock);
    }
    return status;
}
