/* resource_restore.c: puts a hold back on servers that have lost it, while a majority keeps it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lock/ask.h"
#include "lock/lock.h"
#include "os/clock.h"

enum { KEPT = 1 };

static enum rlock_status vote_of(const struct rlock__run *run) {
    if (run->status != RLOCK_OK)
        return run->status;
    return run->answer.code == KEPT ? RLOCK_OK : RLOCK_LOST;
}

/* Over the keeper's connections: it is given back over others, which an answer may overtake. */
static enum rlock_status judge(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run) {
    const struct rlock__resource *resource = ballot->resource;
    const enum rlock_status vote = vote_of(run);
    rlock__instance_note_doubt(instance, run, vote);
    instance->astray = instance->astray || instance->abandoned;
    instance->held = vote == RLOCK_OK || (instance->held && vote != RLOCK_LOST);
    if (vote != RLOCK_OK)
        return vote;
    instance->given_back = false;
    instance->reentered = strcmp(resource->hold.owner, resource->lock->owner) != 0;
    instance->token = resource->hold.token;
    instance->lease_end_ms = rlock__lease_end_ms(ballot->sent_ms, resource->lock->lease_ms);
    return vote;
}

static bool is_wanted(const struct rlock__resource *resource,
                      const struct rlock__instance *instance) {
    return !instance->in_doubt && (!instance->held || instance->token != resource->hold.token);
}

static void ask(struct rlock__ballot *ballot, size_t server, const char *token) {
    const struct rlock__resource *resource = ballot->resource;
    const struct rlock_lock *lock = resource->lock;
    struct rlock__instance *instance = &ballot->resource->instances[server];
    const bool inner = strcmp(resource->hold.owner, lock->owner) != 0;
    struct rlock__call call = rlock__resource_call_to_acquire(resource);
    instance->tries += instance->given_up;
    instance->given_up = false;
    call.args[0] = resource->hold.owner;
    call.checks = false;
    call.replicated = true;
    const char *more[] = {token, lock->shown, inner ? "1" : "",
                          lock->kind->leases_reads ? "1" : ""};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        call.args[call.arg_count++] = more[i];
    (void)rlock__ballot_ask_try(ballot, server, call);
}

/* NULL: nothing is missing, or no memory: the next renewal comes. */
static void prepare(struct rlock__resource *resource, struct rlock__routes *routes) {
    const struct rlock__script *script = resource->lock->kind->restore;
    size_t wanted = 0;
    for (size_t i = 0; i < routes->count; i++)
        wanted += is_wanted(resource, &resource->instances[i]);
    struct rlock__ballot *ballot = wanted > 0 ? rlock__ballot_ahead(resource) : NULL;
    if (ballot == NULL)
        return;
    rlock__ballot_begin(ballot, resource, routes, script, judge);
    (void)snprintf(ballot->token_text, sizeof ballot->token_text, "%" PRId64, resource->hold.token);
    for (size_t i = 0; i < routes->count; i++) {
        if (is_wanted(resource, &resource->instances[i]))
            ask(ballot, i, ballot->token_text);
    }
    ballot->batch.enough = ballot->batch.count;
}

void rlock__resources_restore(const struct rlock_lock *lock, struct rlock__routes *routes,
                              const struct rlock__limit *limit) {
    size_t count;
    for (size_t i = 0; (count = rlock__ballots_at_once(lock, i)) > 0; i += count) {
        for (size_t k = i; k < i + count; k++)
            prepare(&lock->resources[k], routes);
        rlock__ballots_send_ahead(lock->resources + i, count, false, limit);
        for (size_t k = i; k < i + count; k++)
            rlock__resource_note(&lock->resources[k]);
    }
}
