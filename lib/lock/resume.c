/* resume.c: takes up a lock that is held already, written down as a handle or handed down as proof.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"
#include "os/options.h"
#include "rlock_handle.h"

static size_t count_servers(const char *servers) {
    size_t count = 0;
    while (*(servers += strspn(servers, " ")) != '\0') {
        servers += strcspn(servers, " ");
        count++;
    }
    return count;
}

static const struct rlock_handle_hold *find(const struct rlock_handle *handle, const char *name) {
    for (size_t i = 0; i < handle->hold_count; i++) {
        if (strcmp(handle->holds[i].name, name) == 0)
            return &handle->holds[i];
    }
    return NULL;
}

/* As if it had just been taken, but for the lease, of which nothing is known. On which of several
 * servers it is held is not known either: each is asked. */
static bool take_up(const struct rlock_lock *lock, struct rlock__resource *resource,
                    const struct rlock_handle_hold *hold) {
    const bool inner = strcmp(hold->owner, lock->owner) != 0;
    free(resource->proof_owner);
    resource->proof_owner = inner ? strdup(hold->owner) : NULL;
    if (inner && resource->proof_owner == NULL)
        return false;
    if (inner)
        (void)snprintf(resource->proof_token, sizeof resource->proof_token, "%" PRId64,
                       hold->token);
    if (!rlock__resource_identify(resource, hold->id != NULL ? hold->id : "") ||
        !rlock__resource_name_leases(resource))
        return false;
    resource->held = true;
    resource->hold = (struct rlock_hold){
        .name = resource->name,
        .owner = inner ? resource->proof_owner : lock->owner,
        .token = hold->token,
    };
    for (size_t i = 0; i < resource->instance_count; i++)
        resource->instances[i] = (struct rlock__instance){
            .state = inner ? RLOCK__REENTERED : RLOCK__HELD,
            .may_arrive_late = hold->id != NULL && strchr(hold->id, '.') != NULL,
            .tries = resource->instances[i].tries,
            .token = hold->token};
    return true;
}

static enum rlock_status make(rlock_lock **out, rlock_client *client,
                              const struct rlock_handle *handle) {
    const char **names = calloc(handle->hold_count, sizeof *names);
    for (size_t i = 0; names != NULL && i < handle->hold_count; i++)
        names[i] = handle->holds[i].name;
    const struct rlock_lock_options options = {
        .size = sizeof options,
        .kind = handle->kind,
        .permits = handle->permits,
        .names = names,
        .name_count = handle->hold_count,
        .lease_ms = handle->lease_ms,
    };
    const enum rlock_status status =
        names != NULL ? rlock_lock_new(out, client, &options) : RLOCK_SYSTEM;
    free(names);
    return status;
}

static bool has_owners(const struct rlock_handle *handle) {
    bool all = handle->owner != NULL;
    for (size_t i = 0; i < handle->hold_count; i++)
        all = all && handle->holds[i].owner != NULL;
    return all;
}

static enum rlock_status resume(rlock_lock **out, rlock_client *client,
                                const struct rlock_handle *handle) {
    if (handle->hold_count == 0)
        return rlock__client_invalid(client, "a handle needs a hold");
    if (!has_owners(handle))
        return rlock__client_invalid(client, "a handle needs an owner");
    if (handle->servers != NULL && count_servers(handle->servers) != client->count)
        return rlock__client_invalid(client,
                                     "the lock lives on another number of servers than are given");
    enum rlock_status status = make(out, client, handle);
    if (status != RLOCK_OK)
        return status;
    rlock_lock *lock = *out;
    free(lock->owner);
    lock->owner = strdup(handle->owner);
    bool taken = lock->owner != NULL;
    for (size_t i = 0; taken && i < lock->resource_count; i++)
        taken = take_up(lock, &lock->resources[i], find(handle, lock->resources[i].name));
    if (taken)
        return RLOCK_OK;
    rlock_lock_free(lock);
    *out = NULL;
    rlock__error_set(&client->error, "no memory");
    return RLOCK_SYSTEM;
}

enum rlock_status rlock_lock_resume(rlock_lock **out, rlock_client *client,
                                    const struct rlock_handle *given) {
    struct rlock_handle handle;
    *out = NULL;
    const enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_handle, hold_count, &handle, given, &client->error);
    return status == RLOCK_OK ? resume(out, client, &handle) : status;
}
