/* resource_renew.c: renews one name, by a majority. */
#include "lock/ask.h"
#include "lock/lock.h"
#include "os/clock.h"

enum { KEPT = 1 };

/* What one server's answer says of our hold there. */
static enum rlock_status judge(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run) {
    const enum rlock_status vote = rlock__ballot_vote(ballot, run, KEPT);
    if (vote != RLOCK_OK && vote != RLOCK_LOST)
        return vote;
    instance->in_doubt = false;
    if (vote == RLOCK_OK) {
        instance->held = true;
        instance->lease_end_ms =
            rlock__lease_end_ms(ballot->sent_ms, ballot->resource->lock->lease_ms);
    } else if (ballot->routes->count > 1) { /* it can be had again; of one the release needs it */
        *instance = (struct rlock__instance){.abandoned = instance->abandoned,
                                             .astray = instance->astray,
                                             .given_up = instance->given_up,
                                             .tries = instance->tries};
    }
    return vote;
}

static void prepare(struct rlock__ballot *ballot, struct rlock__resource *resource,
                    struct rlock__routes *routes) {
    rlock__ballot_begin(ballot, resource, routes, resource->lock->kind->renew, judge);
    for (size_t i = 0; i < routes->count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        const char *owner = rlock__resource_owner_on(resource, instance);
        ballot->votes[i] = RLOCK_LOST;
        if (instance->held || instance->in_doubt)
            rlock__ballot_ask_try(ballot, i, rlock__resource_call_held(resource, owner))
                ->replicated = true;
    }
}

enum rlock_status rlock__resource_renew(struct rlock__resource *resource,
                                        struct rlock__routes *routes,
                                        const struct rlock__limit *limit) {
    struct rlock__ballot ballot;
    if (resource->lock->kind->renew == NULL)
        return RLOCK_OK;
    if (!rlock__ballot_was_ahead(&ballot, resource))
        prepare(&ballot, resource, routes);
    const enum rlock_status status = rlock__ballot_decide(&ballot, limit);
    if (status != RLOCK_LOST)
        resource->lease_end_ms = rlock__ballot_lease_end(resource);
    return status;
}

void rlock__resources_renew_ahead(const struct rlock_lock *lock, size_t first, size_t count,
                                  struct rlock__routes *routes, const struct rlock__limit *limit) {
    for (size_t i = first; lock->kind->renew != NULL && i < first + count; i++) {
        struct rlock__ballot *ballot = rlock__ballot_ahead(&lock->resources[i]);
        if (ballot != NULL)
            prepare(ballot, &lock->resources[i], routes);
    }
    rlock__ballots_send_ahead(lock->resources + first, count, false, limit);
}
