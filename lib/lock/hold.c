/* hold.c: what is known of all names while they are held, and done to them: they are renewed, put
 * back on servers that have lost them while a majority keeps them, and looked for. */
#include <inttypes.h>
#include <stdio.h>

#include "lock/ask.h"
#include "os/clock.h"
#include "rlock_handle.h"

enum {
    KEPT = 1,         /* the scripts' code */
    RESTORE_MS = 1000 /* for all names and servers, and at most a tenth of the lease */
};

void rlock__lock_update_lease(struct rlock_lock *lock) {
    int64_t first_ms = RLOCK_FOREVER;
    for (size_t i = 0; i < lock->resource_count; i++) {
        if (lock->resources[i].held)
            first_ms = rlock__sooner_ms(first_ms, rlock__votes_granted(&lock->resources[i]));
    }
    atomic_store(&lock->granted_ms, first_ms);
    if (lock->published != NULL)
        __atomic_store_n(lock->published, rlock_lease_end_ms(lock), __ATOMIC_RELEASE);
}

int64_t rlock_lease_end_ms(const rlock_lock *lock) {
    const int64_t granted_ms = atomic_load(&lock->granted_ms);
    if (granted_ms == 0)
        return 0;
    return lock->kind->renew != NULL ? rlock__lease_end_ms(granted_ms, lock->lease_ms)
                                     : RLOCK_FOREVER;
}

int64_t rlock_renewal_due_ms(const rlock_lock *lock) {
    return lock->kind->renew != NULL ? atomic_load(&lock->granted_ms) + lock->lease_ms / 3
                                     : RLOCK_FOREVER;
}

const struct rlock_hold *rlock_hold_at(const rlock_lock *lock, size_t i) {
    size_t k = 0;
    while (k < lock->resource_count && (!lock->resources[k].held || i-- > 0))
        k++;
    return k < lock->resource_count ? &lock->resources[k].hold : NULL;
}

/* There is nothing to ask about a name that is not held. Of a pool one that is held is enough. */
static enum rlock_status check_held(const struct rlock_lock *lock, struct rlock__error *error,
                                    size_t *stuck_at) {
    const bool has_pool = lock->any > 0 && rlock_hold_at(lock, 0) != NULL;
    for (size_t i = 0; i < lock->resource_count; i++) {
        if (lock->resources[i].held || has_pool)
            continue;
        *stuck_at = i;
        rlock__error_set(error, "%s is not held", lock->resources[i].name);
        return RLOCK_LOST;
    }
    return RLOCK_OK;
}

/* --- renewing --------------------------------------------------------------------------------- */

/* What one server's answer says of our hold there. */
static enum rlock_status judge_renewal(const struct rlock__ballot *ballot,
                                       struct rlock__instance *instance, struct rlock__run *run) {
    const enum rlock_status vote = rlock__ballot_vote(ballot, run, KEPT);
    if (vote != RLOCK_OK && vote != RLOCK_LOST)
        return vote;
    if (vote == RLOCK_LOST && ballot->ask->routes->count == 1) /* the release needs it */
        return vote;
    rlock__instance_after(instance, RLOCK__RENEW, rlock__outcome_of(run, vote));
    if (vote == RLOCK_LOST) /* of several servers this one can give it again */
        instance->token = instance->ticket = instance->granted_ms = 0;
    else
        instance->granted_ms = ballot->ask->sent_ms;
    return vote;
}

static void ask_to_renew(struct rlock__ballot *ballot, size_t server) {
    const struct rlock__instance *instance = &ballot->resource->instances[server];
    struct rlock__call call = rlock__resource_call_held(ballot->resource);
    call.replicated = true;
    ballot->votes[server] = RLOCK_LOST;
    if (rlock__instance_may_stay(instance))
        (void)rlock__ballot_ask_try(ballot, server, call);
}

/* --- restoring -------------------------------------------------------------------------------- */

static enum rlock_status judge_restored(const struct rlock__ballot *ballot,
                                        struct rlock__instance *instance, struct rlock__run *run) {
    const struct rlock__resource *resource = ballot->resource;
    const enum rlock_status vote = run->status != RLOCK_OK    ? run->status
                                   : run->answer.code == KEPT ? RLOCK_OK
                                                              : RLOCK_LOST;
    rlock__instance_after(instance, RLOCK__RESTORE, rlock__outcome_of(run, vote));
    if (vote != RLOCK_OK)
        return vote;
    instance->token = resource->hold.token;
    instance->granted_ms = ballot->ask->sent_ms;
    return vote;
}

static void ask_to_restore(struct rlock__ballot *ballot, size_t server) {
    const struct rlock__resource *resource = ballot->resource;
    const struct rlock_lock *lock = resource->lock;
    struct rlock__instance *instance = &resource->instances[server];
    const bool inner = resource->hold.owner != lock->owner;
    const bool knows_it = instance->state == RLOCK__HELD && instance->token == resource->hold.token;
    if (knows_it || rlock__instance_in_doubt(instance))
        return;
    (void)snprintf(ballot->number, sizeof ballot->number, "%" PRId64, resource->hold.token);
    const char *more[] = {ballot->number, lock->shown, inner ? "1" : "",
                          lock->kind->reads ? "1" : "", NULL};
    struct rlock__call call = rlock__resource_call(resource, resource->hold.owner, RLOCK__TO_TAKE);
    rlock__call_add_args(&call, more);
    call.checks = call.replicated = true;
    rlock__instance_begin_try(instance);
    (void)rlock__ballot_ask_try(ballot, server, call);
    ballot->batch.enough = ballot->batch.count;
}

/* A server that has not answered the renewal in time, for a majority had, is asked once more: it
 * may have lost the hold as well. A renewal that arrives late does no harm, other than a hold that
 * is put back. */
static void ask_late(struct rlock__ballot *ballot, size_t server) {
    const struct rlock__instance *instance = &ballot->resource->instances[server];
    if (instance->state == RLOCK__HELD && instance->granted_ms < ballot->ask->since_ms)
        ask_to_renew(ballot, server);
    ballot->batch.enough = ballot->batch.count;
}

/* since_ms: when the renewal began. */
static void restore(struct rlock_lock *lock, struct rlock__routes *routes, int64_t since_ms,
                    int cancel_fd) {
    /* What could not be put back now is wanted after the next renewal, too: nothing is concluded.
     */
    static const struct rlock__verb late = {.ask = ask_late, .judge = judge_renewal},
                                    put_back = {.ask = ask_to_restore, .judge = judge_restored};
    const int64_t most_ms = lock->lease_ms / 10; /* a short lease is due again in a moment */
    const struct rlock__limit limit = {rlock_now_ms() + rlock__sooner_ms(most_ms, RESTORE_MS),
                                       cancel_fd};
    struct rlock__ask ask = rlock__asking(lock, &late, lock->kind->renew, &limit);
    if (routes->count == 1)
        return;
    ask.routes = routes;
    ask.since_ms = since_ms;
    ask.in_passing = true; /* one that has been silent for long is not waited for */
    (void)rlock__ask_held(&ask);
    ask.verb = &put_back;
    ask.script = lock->kind->restore;
    if (rlock_now_ms() < limit.deadline_ms)
        (void)rlock__ask_held(&ask);
}

enum rlock_status rlock__lock_renew(struct rlock_lock *lock, struct rlock__routes *routes,
                                    const struct rlock__limit *limit, int64_t until_ms,
                                    size_t *stuck_at) {
    static const struct rlock__verb renew = {
        .ask = ask_to_renew, .judge = judge_renewal, .conclude = rlock__ballot_count};
    struct rlock__ask ask = rlock__asking(lock, &renew, lock->kind->renew, limit);
    const int64_t since_ms = rlock_now_ms();
    ask.routes = routes;
    ask.until_ms = routes->count == 1 ? until_ms : 0;
    if (lock->kind->renew == NULL)
        return RLOCK_OK;
    if (check_held(lock, routes->error, stuck_at) != RLOCK_OK)
        return RLOCK_LOST;
    if (rlock__ask_held(&ask) == RLOCK_OK) {
        rlock__lock_update_lease(lock);
        if (!lock->told_broken)
            restore(lock, routes, since_ms, limit->cancel_fd);
    }
    *stuck_at = ask.stuck_at;
    return ask.status;
}

enum rlock_status rlock_renew(rlock_lock *lock) {
    const struct rlock__limit limit =
        rlock__client_call_limit(lock->client, rlock_now_ms(), true, RLOCK_FOREVER, -1);
    return rlock__final(rlock__lock_renew(lock, &lock->client->routes, &limit,
                                          rlock_lease_end_ms(lock), &lock->stuck_at));
}

/* --- looking ---------------------------------------------------------------------------------- */

static void ask_whether_held(struct rlock__ballot *ballot, size_t server) {
    const struct rlock__resource *resource = ballot->resource;
    (void)snprintf(ballot->number, sizeof ballot->number, "%" PRId64, resource->hold.token);
    struct rlock__call call = rlock__resource_call_held(resource);
    call.args[call.arg_count++] = ballot->number;
    (void)rlock__ballot_ask(ballot, server, call);
}

static enum rlock_status judge_check(const struct rlock__ballot *ballot,
                                     struct rlock__instance *instance, struct rlock__run *run) {
    (void)instance;
    return rlock__ballot_vote(ballot, run, KEPT);
}

static enum rlock_status conclude_check(struct rlock__ballot *ballot) {
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

enum rlock_status rlock_check(rlock_lock *lock, int64_t *ttl_ms) {
    static const struct rlock__verb check = {.ask = ask_whether_held,
                                             .judge = judge_check,
                                             .conclude = conclude_check,
                                             .in_order = true};
    const struct rlock__limit limit =
        rlock__client_call_limit(lock->client, rlock_now_ms(), true, RLOCK_FOREVER, -1);
    struct rlock__ask ask = rlock__asking(lock, &check, lock->kind->check, &limit);
    ask.ttl_ms = RLOCK_FOREVER;
    *ttl_ms = RLOCK_FOREVER;
    if (lock->kind->check == NULL)
        return rlock__client_invalid(lock->client, "this kind of lock can't be looked for");
    if (check_held(lock, &lock->client->error, &lock->stuck_at) != RLOCK_OK)
        return RLOCK_LOST;
    const enum rlock_status status = rlock__ask_held(&ask);
    *ttl_ms = ask.ttl_ms;
    lock->stuck_at = ask.stuck_at;
    return rlock__final(status);
}
