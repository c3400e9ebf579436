/* resource_renew.c: renews one name, by a majority. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"
#include "lock/vote.h"
#include "os/clock.h"

enum { KEPT = 1, NOT_OURS = 0 };

/* What one server's answer says of our hold there. */
static enum rlock_status note_renewal(const struct rlock_lock *lock,
                                      struct rlock__instance *instance, struct rlock__run *run,
                                      int64_t sent_ms) {
    if (run->status != RLOCK_OK)
        return run->status;
    if (run->answer.code != KEPT && run->answer.code != NOT_OURS)
        return rlock__resource_odd_answer(run, lock->kind->renew);
    const bool kept = run->answer.code == KEPT;
    instance->in_doubt = false;
    if (kept) {
        instance->held = true;
        instance->lease_end_ms = rlock__lease_end_ms(sent_ms, lock->lease_ms);
    } else if (lock->client->count >
               1) { /* it can be had again; of one server it is the release's */
        *instance = (struct rlock__instance){.abandoned = instance->abandoned,
                                             .astray = instance->astray,
                                             .given_up = instance->given_up,
                                             .tries = instance->tries};
    }
    return kept ? RLOCK_OK : RLOCK_LOST;
}

static void prepare(const struct rlock_lock *lock, const struct rlock__resource *resource,
                    struct rlock__routes *routes, struct rlock__inquiry *inquiry) {
    rlock__inquiry_begin(inquiry, rlock__vote_majority(routes->count));
    for (size_t i = 0; i < routes->count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        if (instance->held || instance->in_doubt)
            rlock__inquiry_add(
                inquiry, resource, &routes->at[i], i,
                rlock__resource_call_held(lock, resource,
                                          rlock__resource_owner_on(lock, resource, instance)))
                ->replicated = true;
    }
}

enum rlock_status rlock__resource_renew(const struct rlock_lock *lock,
                                        struct rlock__resource *resource,
                                        struct rlock__routes *routes,
                                        const struct rlock__limit *limit) {
    struct rlock__inquiry inquiry;
    enum rlock_status votes[RLOCK_SERVERS_MAX];
    if (lock->kind->renew == NULL)
        return RLOCK_OK;
    if (!rlock__inquiry_was_ahead(&inquiry, resource)) {
        prepare(lock, resource, routes, &inquiry);
        rlock__inquiry_run(&inquiry, lock->kind->renew, limit);
    }
    for (size_t i = 0; i < routes->count; i++)
        votes[i] = RLOCK_LOST;
    for (size_t i = 0; i < inquiry.batch.count; i++) {
        const size_t instance = inquiry.instances[i];
        votes[instance] =
            note_renewal(lock, &resource->instances[instance], &inquiry.runs[i], inquiry.sent_ms);
    }
    rlock__inquiry_end(&inquiry);
    const enum rlock_status status = rlock__vote_count(routes, votes);
    if (status == RLOCK_OK && routes->count > 1)
        rlock__resource_heal(lock, resource, routes);
    if (status != RLOCK_LOST)
        resource->lease_end_ms = rlock__vote_lease_end(resource);
    return status;
}

void rlock__resources_renew_ahead(const struct rlock_lock *lock, size_t first, size_t count,
                                  struct rlock__routes *routes, const struct rlock__limit *limit) {
    for (size_t i = 0; lock->kind->renew != NULL && i < count; i++) {
        struct rlock__resource *resource = &lock->resources[first + i];
        resource->ahead = malloc(sizeof *resource->ahead); /* without memory: one after the other */
        if (resource->ahead != NULL)
            prepare(lock, resource, routes, resource->ahead);
    }
    rlock__resources_run_ahead(lock->resources + first, count, false, lock->kind->renew, limit);
}
