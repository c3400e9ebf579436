/* resource.c: one name of a lock: builds its script calls, and tracks what we may have left on each
 * server. */
#include "lock/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- one name on one server ------------------------------------------------------------------- */

/* An answer that will not change. A script that has met such an error may have taken it before. */
static bool is_final(enum rlock_status vote) {
    return vote == RLOCK_UNAVAILABLE || vote == RLOCK_DENIED || vote == RLOCK_WRONG_KIND;
}

/* An error that the server has against all requests just now (LOADING, BUSY, NOREPLICAS) says
 * nothing of one that was sent before. */
enum rlock__outcome rlock__outcome_of(const struct rlock__run *run, enum rlock_status vote) {
    if (run->status == RLOCK_OK && vote != RLOCK_UNAVAILABLE)
        return vote == RLOCK_OK ? RLOCK__YES : RLOCK__NO;
    if (run->unanswered && !run->abandoned)
        return RLOCK__NO_ANSWER;
    if (run->unconfirmed || (is_final(vote) && !run->refused))
        return RLOCK__UNSURE;
    return run->abandoned ? RLOCK__PENDING : RLOCK__NOT_DONE;
}

static enum rlock__state answered_state(const struct rlock__instance *instance,
                                        enum rlock__request_kind request,
                                        enum rlock__outcome outcome) {
    if (outcome == RLOCK__NO) /* a release alone leaves the line */
        return request != RLOCK__RELEASE && instance->state == RLOCK__IN_LINE ? RLOCK__IN_LINE
                                                                              : RLOCK__NOTHING;
    return request == RLOCK__RELEASE ? RLOCK__GIVEN_BACK : RLOCK__HELD;
}

static void note_answer(struct rlock__instance *instance, enum rlock__request_kind request,
                        enum rlock__outcome outcome) {
    if (request == RLOCK__RELEASE) {
        /* The try is over. What may still arrive of it must not be about the next one. */
        instance->tries += instance->may_arrive_late || instance->unanswered == RLOCK__LEAVING;
        instance->may_arrive_late = false;
        /* What was granted in vain goes back, and we to our place; else we leave the line. */
        if (!rlock__instance_in_doubt(instance))
            instance->ticket = 0;
    }
    instance->state = answered_state(instance, request, outcome);
    /* A renewal knows whether it was taken, not whether it was given back. */
    if (request != RLOCK__RENEW || instance->unanswered == RLOCK__OUTCOME_UNKNOWN)
        instance->unanswered = RLOCK__ANSWERED;
}

static void note_silence(struct rlock__instance *instance, enum rlock__request_kind request,
                         enum rlock__outcome outcome) {
    /* The keeper has other connections, and the one that a release went over may be gone by now:
     * what is pending on this one may come behind what is asked next. */
    if (request != RLOCK__TAKE && instance->unanswered == RLOCK__REPLY_PENDING)
        instance->may_arrive_late = true;
    if (request == RLOCK__TAKE && instance->state == RLOCK__HELD) { /* by a try before this */
        instance->state = RLOCK__NOTHING;
        instance->unanswered = RLOCK__OUTCOME_UNKNOWN;
    }
    if (outcome == RLOCK__NOT_DONE || request == RLOCK__RENEW)
        return;
    if (request == RLOCK__RELEASE) {
        instance->unanswered = RLOCK__LEAVING;
        return;
    }
    const bool pending = outcome == RLOCK__PENDING;
    if (outcome == RLOCK__NO_ANSWER || (pending && request == RLOCK__RESTORE))
        instance->may_arrive_late = true;
    if (!pending && instance->unanswered < RLOCK__OUTCOME_UNKNOWN)
        instance->unanswered = RLOCK__OUTCOME_UNKNOWN;
    else if (pending && instance->unanswered == RLOCK__ANSWERED)
        instance->unanswered = RLOCK__REPLY_PENDING;
}

void rlock__instance_after(struct rlock__instance *instance, enum rlock__request_kind request,
                           enum rlock__outcome outcome) {
    if (outcome <= RLOCK__NO)
        note_answer(instance, request, outcome);
    else
        note_silence(instance, request, outcome);
}

void rlock__instance_begin_try(struct rlock__instance *instance) {
    if (instance->state == RLOCK__GIVEN_BACK)
        instance->state = RLOCK__NOTHING;
    if (instance->unanswered != RLOCK__LEAVING)
        return;
    instance->tries++;
    instance->unanswered = RLOCK__OUTCOME_UNKNOWN;
}

bool rlock__instance_in_doubt(const struct rlock__instance *instance) {
    return instance->unanswered >= RLOCK__OUTCOME_UNKNOWN;
}

bool rlock__instance_may_stay(const struct rlock__instance *instance) {
    return instance->state == RLOCK__HELD || instance->unanswered != RLOCK__ANSWERED ||
           instance->may_arrive_late;
}

/* --- one name --------------------------------------------------------------------------------- */

static int by_name(const void *name, const void *resource) {
    return strcmp(name, ((const struct rlock__resource *)resource)->name);
}

struct rlock__resource *rlock__resource_named(const struct rlock_lock *lock, const char *name) {
    return bsearch(name, lock->resources, lock->resource_count, sizeof *lock->resources, by_name);
}

struct rlock__resource *rlock__resource_first_held(const struct rlock_lock *lock) {
    size_t i = 0;
    while (i + 1 < lock->resource_count && !lock->resources[i].held)
        i++;
    return &lock->resources[i];
}

bool rlock__resource_in_line(const struct rlock__resource *resource) {
    for (size_t i = 0; i < resource->instance_count; i++) {
        if (resource->instances[i].state == RLOCK__IN_LINE)
            return true;
    }
    return false;
}

/* A place in line that was left without an answer is no hold. */
bool rlock__resource_may_be_held(const struct rlock__resource *resource) {
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        const bool waited_only = instance->state == RLOCK__IN_LINE &&
                                 instance->unanswered == RLOCK__LEAVING &&
                                 !instance->may_arrive_late;
        if (rlock__instance_may_stay(instance) && !waited_only)
            return true;
    }
    return false;
}

bool rlock__resource_is_clear(const struct rlock__resource *resource) {
    bool clear = !rlock__resource_in_line(resource);
    for (size_t i = 0; i < resource->instance_count; i++)
        clear = clear && !rlock__instance_may_stay(&resource->instances[i]);
    return clear;
}

/* Scripts know the last ones by their places from the end. */
struct rlock__call rlock__resource_call(const struct rlock__resource *resource, const char *owner,
                                        unsigned which) {
    const struct rlock_lock *lock = resource->lock;
    struct rlock__call call = {
        .arg_count = 6,
        .args = {owner, lock->lease_text, resource->hold_id, lock->permits_text, resource->publish,
                 "0"},
    };
    rlock__call_add_keys(&call, resource->keys);
    if ((which & RLOCK__TO_TAKE) != 0 && lock->kind->keys_to_take > 0)
        call.key_count = lock->kind->keys_to_take;
    rlock__call_add_keys(&call, resource->lease_keys);
    if ((which & RLOCK__AND_KEPT) != 0)
        rlock__call_add_keys(&call, resource->kept_keys);
    if ((which & RLOCK__AND_RECORD) != 0 && resource->record != NULL)
        call.keys[call.key_count++] = resource->record;
    call.keys[call.key_count++] = resource->tombstone;
    return call;
}

/* The lease key of an owner with read holds is there, whichever of them has ended. In place of the
 * others the lock itself: scripts know their keys by their numbers. */
struct rlock__call rlock__resource_call_held(const struct rlock__resource *resource) {
    const struct rlock_lock *lock = resource->lock;
    struct rlock__call call = rlock__resource_call(resource, resource->hold.owner, 0);
    const unsigned stand = lock->kind->stand;
    call.key_count = 0;
    for (size_t i = 0; stand >> i != 0; i++)
        call.keys[call.key_count++] = resource->keys[stand >> i & 1 ? i : 0];
    if (lock->kind->reads)
        call.keys[call.key_count++] = resource->lease_keys[resource->hold.owner != lock->owner];
    return call;
}

bool rlock__resource_identify(struct rlock__resource *resource, const char *id) {
    const size_t length = strcspn(id, ".");
    const unsigned number = id[length] == '.' ? (unsigned)strtoul(id + length + 1, NULL, 10) : 1;
    (void)snprintf(resource->hold_id, sizeof resource->hold_id, "%.*s", (int)length, id);
    for (size_t i = 0; i < resource->instance_count; i++)
        resource->instances[i].tries = number - (number > 0);
    free(resource->tombstone);
    resource->tombstone = rlock__kind_tombstone(resource->name, resource->hold_id);
    return resource->tombstone != NULL;
}

const char *rlock__resource_try_id(char text[RLOCK__TRY_SIZE],
                                   const struct rlock__resource *resource, unsigned tries) {
    (void)snprintf(text, RLOCK__TRY_SIZE, "%s.%u", resource->hold_id, tries + 1);
    return text;
}

const char *rlock__resource_id(char text[RLOCK__TRY_SIZE], const struct rlock__resource *resource) {
    bool numbered = false;
    unsigned most = 0;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        numbered = numbered || instance->may_arrive_late ||
                   instance->unanswered == RLOCK__REPLY_PENDING || instance->tries > 0;
        most = instance->tries > most ? instance->tries : most;
    }
    return numbered ? rlock__resource_try_id(text, resource, most) : resource->hold_id;
}
