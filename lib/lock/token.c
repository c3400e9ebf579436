/* token.c: the one token of each hold on several servers. */
#include <inttypes.h>
#include <stdio.h>

#include "lock/ask.h"
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

static bool is_agreed(const struct rlock__resource *resource) {
    size_t know_it = 0;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        know_it += instance->held && instance->token == resource->hold.token;
    }
    return know_it >= rlock__majority(resource->instance_count);
}

/* Asks those that have given another; so many of them are enough as are missing. */
static void prepare(struct rlock__ballot *ballot, struct rlock__resource *resource) {
    struct rlock__routes *routes = &resource->lock->client->routes;
    rlock__ballot_begin(ballot, resource, routes, RLOCK__TOKEN_RAISE, judge);
    (void)snprintf(ballot->token_text, sizeof ballot->token_text, "%" PRId64, resource->hold.token);
    for (size_t i = 0; i < routes->count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        if (!instance->held)
            continue;
        if (instance->token == resource->hold.token) {
            ballot->batch.enough--;
            continue;
        }
        struct rlock__call *call =
            rlock__ballot_ask(ballot, i, rlock__resource_call(resource, resource->hold.owner));
        call->args[call->arg_count++] = ballot->token_text;
    }
}

/* RLOCK_OK: a majority has accepted the token. RLOCK_BUSY: others have it, or a larger one; the
 * next is tried. RLOCK_DENIED: one has no right for us. RLOCK_AGAIN: nobody has said no: they do
 * not answer; or tokens have come to their end. */
static enum rlock_status propose(struct rlock__resource *resource,
                                 const struct rlock__limit *limit) {
    struct rlock__routes *routes = &resource->lock->client->routes;
    struct rlock__ballot ballot;
    int64_t known = 0;
    if (is_agreed(resource))
        return RLOCK_OK;
    if (!rlock__ballot_was_ahead(&ballot, resource))
        prepare(&ballot, resource);
    rlock__ballot_run(&ballot, limit);
    rlock__ballot_end(&ballot);
    if (is_agreed(resource))
        return RLOCK_OK;
    for (size_t i = 0; i < ballot.batch.count; i++) {
        const enum rlock_status vote = ballot.votes[ballot.asked[i]];
        if (vote == RLOCK_BUSY && ballot.runs[i].answer.a > known)
            known = ballot.runs[i].answer.a;
        if (vote == RLOCK_DENIED) {
            *routes->error = ballot.runs[i].route->error;
            return vote;
        }
    }
    if (known == 0 || known == INT64_MAX) {
        rlock__error_set(routes->error, "no majority of the servers agrees on a token");
        return RLOCK_AGAIN;
    }
    resource->hold.token = known + 1;
    return RLOCK_BUSY;
}

static void ask_ahead(struct rlock__resource *resources, size_t count,
                      const struct rlock__limit *limit) {
    for (size_t i = 0; i < count; i++) {
        if (!is_agreed(&resources[i]) && rlock__ballot_ahead(&resources[i]) != NULL)
            prepare(resources[i].ahead, &resources[i]);
    }
    rlock__ballots_send_ahead(resources, count, false, limit);
}

/* One round. RLOCK_BUSY: some need another. */
static enum rlock_status propose_all(const struct rlock_lock *lock,
                                     const struct rlock__limit *limit, size_t *stuck_at) {
    enum rlock_status worst = RLOCK_OK;
    size_t count;
    for (size_t i = 0; (count = rlock__ballots_at_once(lock, i)) > 0; i += count) {
        ask_ahead(lock->resources + i, count, limit);
        for (size_t k = i; k < i + count; k++) {
            const enum rlock_status status = propose(&lock->resources[k], limit);
            if (status == RLOCK_OK || (worst != RLOCK_OK && worst != RLOCK_BUSY))
                continue;
            if (worst == RLOCK_OK || status != RLOCK_BUSY)
                *stuck_at = k;
            worst = status;
        }
    }
    return worst;
}

enum rlock_status rlock__resources_agree_on_tokens(const struct rlock_lock *lock,
                                                   const struct rlock__limit *limit,
                                                   size_t *stuck_at) {
    enum rlock_status status = RLOCK_OK;
    for (int round = 0; round < ROUNDS; round++) {
        status = propose_all(lock, limit, stuck_at);
        if (status != RLOCK_BUSY)
            break;
    }
    return status;
}
