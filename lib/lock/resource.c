/* resource.c: one name of a lock: what goes into each script about it, and what may stand of it. */
#include "lock/resource.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"

bool rlock__resource_in_line(const struct rlock__resource *resource) {
    for (size_t i = 0; i < resource->instance_count; i++) {
        if (resource->instances[i].in_line)
            return true;
    }
    return false;
}

bool rlock__instance_may_stay(const struct rlock__instance *instance) {
    return instance->held || instance->in_doubt || instance->abandoned || instance->astray;
}

bool rlock__resource_may_stay(const struct rlock__resource *resource) {
    for (size_t i = 0; i < resource->instance_count; i++) {
        if (rlock__instance_may_stay(&resource->instances[i]))
            return true;
    }
    return false;
}

bool rlock__resource_is_clear(const struct rlock__resource *resource) {
    return !rlock__resource_may_stay(resource) && !rlock__resource_in_line(resource);
}

static void add_keys(struct rlock__call *call, char *const *keys) {
    for (; *keys != NULL; keys++)
        call->keys[call->key_count++] = *keys;
}

/* Scripts know the last ones by their places from the end. */
static void add_last_keys(const struct rlock__resource *resource, struct rlock__call *call) {
    add_keys(call, resource->lease_keys);
    if (resource->record != NULL)
        call->keys[call->key_count++] = resource->record;
    call->keys[call->key_count++] = resource->tombstone;
}

/* What every script gets first: keys, owner, lease, hold id, permits, channel. */
struct rlock__call rlock__resource_call(const struct rlock__resource *resource, const char *owner) {
    const struct rlock_lock *lock = resource->lock;
    struct rlock__call call = {
        .arg_count = 6,
        .args = {owner, lock->lease_text, resource->hold_id, lock->permits_text, resource->publish,
                 "0"},
    };
    rlock__call_add_keys(&call, resource->keys);
    add_last_keys(resource, &call);
    return call;
}

/* Each key costs the server time. */
struct rlock__call rlock__resource_call_to_acquire(const struct rlock__resource *resource) {
    const struct rlock_lock *lock = resource->lock;
    struct rlock__call call = rlock__resource_call(resource, lock->owner);
    call.checks = true;
    if (lock->kind->keys_to_take > 0) {
        call.key_count = lock->kind->keys_to_take;
        add_last_keys(resource, &call);
    }
    return call;
}

/* The first key of an owner who has read holds is there, whichever of them has ended. */
static void add_lease_key(const struct rlock__resource *resource, const char *owner,
                          struct rlock__call *call) {
    if (strcmp(owner, resource->lock->owner) == 0)
        call->keys[call->key_count++] = resource->lease_keys[0];
    else if (resource->proof_owner != NULL && strcmp(owner, resource->proof_owner) == 0)
        call->keys[call->key_count++] = resource->lease_keys[1];
}

/* In place of the others the lock itself: scripts know their keys by their numbers. */
struct rlock__call rlock__resource_call_held(const struct rlock__resource *resource,
                                             const char *owner) {
    struct rlock__call call = rlock__resource_call(resource, owner);
    const unsigned stand = resource->lock->kind->stand;
    call.key_count = 0;
    for (size_t i = 0; stand >> i != 0; i++)
        call.keys[call.key_count++] = resource->keys[stand >> i & 1 ? i : 0];
    if (resource->lock->kind->leases_reads)
        add_lease_key(resource, owner, &call);
    return call;
}

void rlock__resource_add_kept_keys(const struct rlock__resource *resource,
                                   struct rlock__call *call) {
    const char *tombstone = call->keys[--call->key_count];
    add_keys(call, resource->kept_keys);
    call->keys[call->key_count++] = tombstone;
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

static bool add_lease_keys(struct rlock__resource *resource, const char *owner, int most) {
    char **leases = resource->lease_keys, **kept = resource->kept_keys, *nobody;
    while (*leases != NULL)
        leases++;
    while (*kept != NULL)
        kept++;
    for (int i = 1; i <= most; i++, leases++) {
        if ((*leases = rlock__kind_lease_key(resource->name, owner, i)) == NULL)
            return false;
    }
    if (asprintf(&nobody, "%s#kept", owner) < 0)
        return false;
    *kept = rlock__kind_lease_key(resource->name, nobody, 1);
    free(nobody);
    return *kept != NULL;
}

bool rlock__resource_name_leases(struct rlock__resource *resource) {
    const char *around = resource->proof_owner;
    rlock__resource_forget_leases(resource);
    return !resource->lock->kind->leases_reads ||
           (add_lease_keys(resource, resource->lock->owner, 1) &&
            (around == NULL || add_lease_keys(resource, around, RLOCK__PROOF_LEASES)));
}

static void forget(char **keys) {
    for (; *keys != NULL; keys++) {
        free(*keys);
        *keys = NULL;
    }
}

void rlock__resource_forget_leases(struct rlock__resource *resource) {
    forget(resource->lease_keys);
    forget(resource->kept_keys);
}

const char *rlock__resource_try_id(char text[RLOCK__TRY_SIZE],
                                   const struct rlock__resource *resource, unsigned tries) {
    (void)snprintf(text, RLOCK__TRY_SIZE, "%s.%u", resource->hold_id, tries + 1);
    return text;
}

const char *rlock__resource_id(char text[RLOCK__TRY_SIZE], const struct rlock__resource *resource) {
    bool astray = false;
    unsigned most = 0;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        astray = astray || instance->astray || instance->abandoned || instance->tries > 0;
        most = instance->tries > most ? instance->tries : most;
    }
    return astray ? rlock__resource_try_id(text, resource, most) : resource->hold_id;
}

/* The owner under which an instance has it. */
const char *rlock__resource_owner_on(const struct rlock__resource *resource,
                                     const struct rlock__instance *instance) {
    return instance->reentered ? resource->proof_owner : resource->lock->owner;
}

void rlock__instance_note_doubt(struct rlock__instance *instance, const struct rlock__run *run,
                                enum rlock_status vote) {
    if (run->status == RLOCK_OK && vote != RLOCK_UNAVAILABLE)
        instance->in_doubt = instance->abandoned = false;
    else if (run->unanswered || run->unconfirmed || (vote == RLOCK_UNAVAILABLE && !run->refused))
        instance->in_doubt = true;
    instance->abandoned = instance->abandoned || run->abandoned;
    instance->astray = instance->astray || (run->unanswered && !run->abandoned);
}
