/* resource_release.c: gives one name back, wherever it is or may be. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"
#include "lock/vote.h"
#include "os/clock.h"

enum { RELEASED = 1, STILL_HELD = 2, NOT_OURS = 0 };

static enum rlock_status note_release(const struct rlock_lock *lock,
                                      struct rlock__instance *instance, struct rlock__run *run) {
    if (run->status != RLOCK_OK) {
        instance->astray =
            instance->astray || instance->abandoned; /* the connection is gone by now, or may be */
        return run->status;
    }
    *instance = (struct rlock__instance){.given_up = instance->given_up,
                                         .tries = instance->tries,
                                         .token = instance->token,
                                         .lease_end_ms = instance->lease_end_ms};
    if (run->answer.code == NOT_OURS)
        return RLOCK_LOST;
    instance->given_back = run->answer.code == RELEASED || run->answer.code == STILL_HELD;
    return instance->given_back ? RLOCK_OK : rlock__resource_odd_answer(run, lock->kind->release);
}

/* Nothing is held of what is only waited for. */
static enum rlock_status forget(struct rlock__resource *resource) {
    memset(resource->instances, 0, resource->instance_count * sizeof *resource->instances);
    resource->held = false;
    return RLOCK_OK;
}

/* An attempt without an answer may have re-entered, or not: the script looks for both owners. */
static const char *owner_to_release(const struct rlock_lock *lock,
                                    const struct rlock__resource *resource,
                                    const struct rlock__instance *instance) {
    if (instance->held)
        return rlock__resource_owner_on(lock, resource, instance);
    return resource->proof_owner != NULL ? resource->proof_owner : lock->owner;
}

static void prepare(struct rlock_lock *lock, const struct rlock__resource *resource,
                    int64_t keep_ms, bool places_too, struct rlock__inquiry *inquiry) {
    struct rlock__routes *routes = &lock->client->routes;
    inquiry->keep_text[0] = '\0';
    if (keep_ms > 0)
        (void)snprintf(inquiry->keep_text, sizeof inquiry->keep_text, "%" PRId64, keep_ms);
    rlock__inquiry_begin(inquiry, 0);
    for (size_t i = 0; i < routes->count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        const bool leaves = places_too && (instance->in_line || rlock__instance_may_stay(instance));
        if (!instance->held && !instance->in_doubt && !leaves)
            continue;
        const char *owner = owner_to_release(lock, resource, instance);
        struct rlock__call *call = rlock__inquiry_add(inquiry, resource, &routes->at[i], i,
                                                      rlock__resource_call(lock, resource, owner));
        call->args[call->arg_count++] = inquiry->keep_text;
        call->args[call->arg_count++] = owner == lock->owner ? "" : lock->owner;
        call->args[call->arg_count++] = instance->astray ? "1" : "";
        rlock__call_cut(call);
    }
    inquiry->batch.enough = rlock__vote_majority(inquiry->batch.count);
}

enum rlock_status rlock__resource_release(struct rlock_lock *lock, struct rlock__resource *resource,
                                          int64_t keep_ms, bool places_too,
                                          const struct rlock__limit *limit) {
    struct rlock__inquiry inquiry;
    enum rlock_status votes[RLOCK_SERVERS_MAX];
    if (lock->kind->release == NULL)
        return forget(resource);
    /* Of a hold a majority must have lasted until now; of a try that was none all must go. */
    for (size_t i = 0; i < resource->instance_count; i++)
        votes[i] = resource->held && !resource->instances[i].given_back ? RLOCK_LOST : RLOCK_OK;
    if (!rlock__inquiry_was_ahead(&inquiry, resource)) {
        prepare(lock, resource, keep_ms, places_too, &inquiry);
        rlock__inquiry_run(&inquiry, lock->kind->release, limit);
    }
    for (size_t i = 0; i < inquiry.batch.count; i++) {
        struct rlock__instance *instance = &resource->instances[inquiry.instances[i]];
        /* What may still arrive of this try must not be about the next one. */
        instance->given_up =
            instance->given_up || instance->astray || inquiry.runs[i].status != RLOCK_OK;
        votes[inquiry.instances[i]] = note_release(lock, instance, &inquiry.runs[i]);
    }
    rlock__inquiry_end(&inquiry);
    const enum rlock_status status = rlock__vote_count(&lock->client->routes, votes);
    if (status == RLOCK_OK || status == RLOCK_LOST)
        resource->held = false;
    return status;
}

void rlock__resources_release_ahead(struct rlock_lock *lock, size_t first, size_t count,
                                    const struct rlock__resource *but, int64_t keep_ms,
                                    const struct rlock__limit *limit) {
    for (size_t i = 0; lock->kind->release != NULL && i < count; i++) {
        struct rlock__resource *resource = &lock->resources[first + i];
        if (resource == but || rlock__resource_is_clear(resource))
            continue;
        resource->ahead = malloc(sizeof *resource->ahead); /* without memory: one after the other */
        if (resource->ahead != NULL)
            prepare(lock, resource, keep_ms, true, resource->ahead);
    }
    rlock__resources_run_ahead(lock->resources + first, count, true, lock->kind->release, limit);
}
