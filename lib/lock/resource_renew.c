/* resource_renew.c: renews all names, each by a majority. */
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
    if (vote == RLOCK_LOST && ballot->ask->routes->count == 1) /* the release needs it */
        return vote;
    const bool around = instance->state == RLOCK__REENTERED;
    rlock__instance_after(instance, RLOCK__RENEW, rlock__outcome_of(run, vote, around));
    if (vote == RLOCK_LOST) /* of several servers this one can give it again */
        instance->token = instance->ticket = instance->lease_end_ms = 0;
    else
        instance->lease_end_ms =
            rlock__lease_end_ms(ballot->ask->sent_ms, ballot->resource->lock->lease_ms);
    return vote;
}

static void build(struct rlock__ballot *ballot) {
    const struct rlock__resource *resource = ballot->resource;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        const char *owner = rlock__resource_owner_on(resource, instance);
        ballot->votes[i] = RLOCK_LOST;
        if (rlock__instance_is_held(instance) || rlock__instance_in_doubt(instance))
            rlock__ballot_ask_try(ballot, i, rlock__resource_call_held(resource, owner))
                ->call.replicated = true;
    }
}

static enum rlock_status conclude(struct rlock__ballot *ballot) {
    const enum rlock_status status = rlock__ballot_count(ballot);
    if (status != RLOCK_LOST)
        ballot->resource->lease_end_ms = rlock__votes_lease_end(ballot->resource);
    return status;
}

enum rlock_status rlock__lock_renew(struct rlock_lock *lock, struct rlock__routes *routes,
                                    const struct rlock__limit *limit, size_t *stuck_at) {
    static const struct rlock__verb renew = {.build = build, .judge = judge, .conclude = conclude};
    struct rlock__ask ask = {.lock = lock,
                             .verb = &renew,
                             .script = lock->kind->renew,
                             .routes = routes,
                             .limit = *limit};
    if (lock->kind->renew == NULL)
        return RLOCK_OK;
    if (rlock__ask_all(&ask) == RLOCK_OK)
        rlock__lock_update_lease_end(lock);
    *stuck_at = ask.stuck_at;
    return ask.status;
}

enum rlock_status rlock_renew(rlock_lock *lock) {
    const struct rlock__limit limit =
        rlock__client_call_limit(lock->client, rlock_now_ms(), true, RLOCK_FOREVER, -1);
    const enum rlock_status status =
        rlock__lock_renew(lock, &lock->client->routes, &limit, &lock->stuck_at);
    if (status == RLOCK_OK)
        rlock__lock_restore(lock, &lock->client->routes, -1);
    return rlock__final(status);
}
