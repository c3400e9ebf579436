/* resource_restore.c: puts holds back on servers that have lost them, while a majority keeps them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lock/ask.h"
#include "lock/lock.h"
#include "os/clock.h"

enum {
    KEPT = 1,
    RESTORE_MS = 100 /* for all names and servers */
};

static enum rlock_status vote_of(const struct rlock__run *run) {
    if (run->status != RLOCK_OK)
        return run->status;
    return run->answer.code == KEPT ? RLOCK_OK : RLOCK_LOST;
}

static enum rlock_status judge(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run) {
    const struct rlock__resource *resource = ballot->resource;
    const enum rlock_status vote = vote_of(run);
    const bool around = strcmp(resource->hold.owner, resource->lock->owner) != 0;
    rlock__instance_after(instance, RLOCK__RESTORE, rlock__outcome_of(run, vote, around));
    if (vote != RLOCK_OK)
        return vote;
    instance->token = resource->hold.token;
    instance->lease_end_ms = rlock__lease_end_ms(ballot->ask->sent_ms, resource->lock->lease_ms);
    return vote;
}

static bool is_wanted(const struct rlock__resource *resource,
                      const struct rlock__instance *instance) {
    return !rlock__instance_in_doubt(instance) &&
           (!rlock__instance_is_held(instance) || instance->token != resource->hold.token);
}

static void ask(struct rlock__ballot *ballot, size_t server, const char *token) {
    const struct rlock__resource *resource = ballot->resource;
    const struct rlock_lock *lock = resource->lock;
    struct rlock__instance *instance = &ballot->resource->instances[server];
    const bool inner = strcmp(resource->hold.owner, lock->owner) != 0;
    struct rlock__call call = rlock__resource_call_to_acquire(resource);
    rlock__instance_begin_try(instance);
    call.args[0] = resource->hold.owner;
    call.checks = false;
    call.replicated = true;
    const char *more[] = {token, lock->shown, inner ? "1" : "",
                          lock->kind->leases_reads ? "1" : ""};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        call.args[call.arg_count++] = more[i];
    (void)rlock__ballot_ask_try(ballot, server, call);
}

static void build(struct rlock__ballot *ballot) {
    const struct rlock__resource *resource = ballot->resource;
    (void)snprintf(ballot->number, sizeof ballot->number, "%" PRId64, resource->hold.token);
    for (size_t i = 0; i < resource->instance_count; i++) {
        if (is_wanted(resource, &resource->instances[i]))
            ask(ballot, i, ballot->number);
    }
    ballot->batch.enough = ballot->batch.count;
}

/* What could not be put back now is wanted after the next renewal, too. */
static enum rlock_status conclude(struct rlock__ballot *ballot) {
    (void)ballot;
    return RLOCK_OK;
}

void rlock__lock_restore(struct rlock_lock *lock, struct rlock__routes *routes, int cancel_fd) {
    static const struct rlock__verb restore = {
        .build = build, .judge = judge, .conclude = conclude};
    const int64_t most_ms = lock->lease_ms / 10; /* a short lease is due again in a moment */
    struct rlock__ask ask = {
        .lock = lock,
        .verb = &restore,
        .script = lock->kind->restore,
        .routes = routes,
        .limit = {rlock_now_ms() + rlock__sooner_ms(most_ms, RESTORE_MS), cancel_fd, NULL}};
    if (routes->count > 1 && lock->kind->restore != NULL)
        (void)rlock__ask_all(&ask);
}
