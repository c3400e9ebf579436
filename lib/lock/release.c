/* release.c: gives one name back, wherever it is or may be. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lock/ask.h"
#include "lock/lock.h"
#include "os/clock.h"

enum { RELEASED = 1, STILL_HELD = 2 };

static enum rlock_status judge(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run) {
    const bool answered = run->status == RLOCK_OK;
    /* What may still arrive of this try must not be about the next one. */
    instance->given_up = instance->given_up || instance->astray || !answered;
    if (!answered) {
        instance->astray =
            instance->astray || instance->abandoned; /* the connection is gone by now, or may be */
        return run->status;
    }
    const enum rlock_status vote = rlock__ballot_vote(ballot, run, STILL_HELD);
    *instance = (struct rlock__instance){.given_back = vote == RLOCK_OK,
                                         .given_up = instance->given_up,
                                         .tries = instance->tries,
                                         .token = instance->token,
                                         .lease_end_ms = instance->lease_end_ms};
    return vote;
}

/* Nothing is held of what is only waited for. */
static enum rlock_status forget(struct rlock__resource *resource) {
    memset(resource->instances, 0, resource->instance_count * sizeof *resource->instances);
    resource->held = false;
    return RLOCK_OK;
}

/* An attempt without an answer may have re-entered, or not: the script looks for both owners. */
static const char *owner_to_release(const struct rlock__resource *resource,
                                    const struct rlock__instance *instance) {
    if (instance->held)
        return rlock__resource_owner_on(resource, instance);
    return resource->proof_owner != NULL ? resource->proof_owner : resource->lock->owner;
}

/* How the run has ended that it was taken for. */
static void add_run(struct rlock__call *call, const struct rlock_lock *lock) {
    const char *more[] = {lock->once.period_text, lock->once.status_text, lock->once.took_text,
                          lock->shown};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        call->args[call->arg_count++] = more[i];
}

static void ask(struct rlock__ballot *ballot, size_t server) {
    const struct rlock__resource *resource = ballot->resource;
    const struct rlock__instance *instance = &resource->instances[server];
    const char *ours = resource->lock->owner, *owner = owner_to_release(resource, instance);
    struct rlock__call *call =
        rlock__ballot_ask_try(ballot, server, rlock__resource_call(resource, owner));
    if (*ballot->keep_text != '\0')
        rlock__resource_add_kept_keys(resource, call);
    call->args[call->arg_count++] = ballot->keep_text;
    call->args[call->arg_count++] = owner == ours ? "" : ours;
    call->args[call->arg_count++] = instance->astray ? "1" : "";
    if (resource->lock->once.noted)
        add_run(call, resource->lock);
    rlock__call_cut(call);
}

static void prepare(struct rlock__ballot *ballot, struct rlock__resource *resource, int64_t keep_ms,
                    bool places_too) {
    const struct rlock_lock *lock = resource->lock;
    rlock__ballot_begin(ballot, resource, &lock->client->routes, lock->kind->release, judge);
    if (keep_ms > 0)
        (void)snprintf(ballot->keep_text, sizeof ballot->keep_text, "%" PRId64, keep_ms);
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        const bool leaves = places_too && (instance->in_line || rlock__instance_may_stay(instance));
        /* Of a hold a majority must have lasted until now; of a try that was none all must go. */
        ballot->votes[i] = resource->held && !instance->given_back ? RLOCK_LOST : RLOCK_OK;
        if (instance->held || instance->in_doubt || leaves)
            ask(ballot, i);
    }
    ballot->batch.enough = rlock__majority(ballot->batch.count);
    ballot->batch.in_passing = !places_too; /* a try follows, which says that the last is over */
}

enum rlock_status rlock__resource_release(struct rlock__resource *resource, int64_t keep_ms,
                                          bool places_too, const struct rlock__limit *limit) {
    struct rlock__ballot ballot;
    if (resource->lock->kind->release == NULL)
        return forget(resource);
    if (!rlock__ballot_was_ahead(&ballot, resource))
        prepare(&ballot, resource, keep_ms, places_too);
    const enum rlock_status status = rlock__ballot_decide(&ballot, limit);
    if (status == RLOCK_OK || status == RLOCK_LOST)
        resource->held = false;
    return status;
}

/* Those that are to be asked about, the last first, so many at once. */
static void ask_ahead(struct rlock__resource *resources, size_t count, int64_t keep_ms,
                      const struct rlock__limit *limit) {
    for (size_t i = 0; i < count; i++) {
        if (resources[i].due && resources[i].lock->kind->release != NULL &&
            rlock__ballot_ahead(&resources[i]) != NULL)
            prepare(resources[i].ahead, &resources[i], keep_ms, true);
    }
    rlock__ballots_send_ahead(resources, count, true, limit);
}

void rlock__resources_release_ahead(const struct rlock_lock *lock, size_t first, size_t count,
                                    int64_t keep_ms, const struct rlock__limit *limit) {
    for (size_t i = first; i < first + count; i++)
        lock->resources[i].due = !rlock__resource_is_clear(&lock->resources[i]);
    ask_ahead(lock->resources + first, count, keep_ms, limit);
}

static enum rlock_status release_due(const struct rlock_lock *lock, int64_t keep_ms,
                                     const struct rlock__limit *limit) {
    enum rlock_status outcome = RLOCK_OK;
    size_t count;
    for (size_t end = lock->resource_count; end > 0; end -= count) {
        count = rlock__ballots_at_once(lock, lock->resource_count - end);
        if (end < lock->resource_count && rlock_now_ms() >= limit->deadline_ms)
            return RLOCK_AGAIN;
        ask_ahead(lock->resources + end - count, count, keep_ms, limit);
        for (size_t i = end; i > end - count; i--) {
            struct rlock__resource *resource = &lock->resources[i - 1];
            if (resource->due &&
                rlock__resource_release(resource, keep_ms, true, limit) == RLOCK_AGAIN)
                outcome = RLOCK_AGAIN;
        }
    }
    return outcome;
}

bool rlock__resources_release_rest(const struct rlock_lock *lock, int64_t keep_ms,
                                   const struct rlock__limit *limit) {
    bool are_some = false;
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        resource->due = !resource->held && rlock__resource_may_stay(resource);
        are_some = are_some || resource->due;
    }
    if (are_some)
        (void)release_due(lock, keep_ms, limit);
    return are_some;
}

enum rlock_status rlock__resources_leave(const struct rlock_lock *lock,
                                         const struct rlock__resource *but,
                                         const struct rlock__limit *limit) {
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        resource->due = resource != but && !rlock__resource_is_clear(resource);
    }
    return release_due(lock, 0, limit);
}
