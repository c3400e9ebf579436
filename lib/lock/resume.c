/* resume.c: takes up a lock that is held already, written down as a handle or handed down as proof.
 */
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

/* As if it had just been taken, but for the lease, of which nothing is known. On which of several
 * servers it is held is not known either: each is asked. False: no memory. */
static bool take_up(struct rlock__resource *resource, const struct rlock_handle_hold *hold) {
    const char *around = resource->proof_owner;
    if (!rlock__resource_identify(resource, hold->id != NULL ? hold->id : ""))
        return false;
    resource->held = true;
    resource->hold = (struct rlock_hold){
        .name = resource->name,
        .owner = around != NULL ? around : resource->lock->owner,
        .token = hold->token,
    };
    for (size_t i = 0; i < resource->instance_count; i++)
        resource->instances[i] = (struct rlock__instance){
            .state = RLOCK__HELD,
            .may_arrive_late = hold->id != NULL && strchr(hold->id, '.') != NULL,
            .tries = resource->instances[i].tries,
            .token = hold->token};
    return true;
}

/* A hold of another owner is one of the owner around it. */
static enum rlock_status make(rlock_lock **out, rlock_client *client,
                              const struct rlock_handle *handle) {
    const char **names = calloc(handle->hold_count, sizeof *names);
    struct rlock_proof *proofs = calloc(handle->hold_count, sizeof *proofs);
    struct rlock_lock_options options = {
        .size = sizeof options,
        .kind = handle->kind,
        .permits = handle->permits,
        .names = names,
        .name_count = handle->hold_count,
        .lease_ms = handle->lease_ms,
        .proofs = proofs,
        .no_command = true, /* what is put back is shown as ours */
    };
    enum rlock_status status = RLOCK_SYSTEM;
    if (names != NULL && proofs != NULL) {
        for (size_t i = 0; i < handle->hold_count; i++) {
            const struct rlock_handle_hold *hold = &handle->holds[i];
            names[i] = hold->name;
            if (strcmp(hold->owner, handle->owner) != 0)
                proofs[options.proof_count++] =
                    (struct rlock_proof){hold->name, hold->owner, hold->token};
        }
        status = rlock__lock_make(out, client, &options, handle->owner);
    }
    free(names);
    free(proofs);
    return status;
}

static enum rlock_status resume(rlock_lock **out, rlock_client *client,
                                const struct rlock_handle *handle) {
    const char *fault = rlock__handle_fault(handle);
    if (fault != NULL)
        return rlock__client_invalid(client, fault);
    if (handle->servers != NULL && count_servers(handle->servers) != client->count)
        return rlock__client_invalid(client,
                                     "the lock lives on another number of servers than are given");
    enum rlock_status status = make(out, client, handle);
    if (status != RLOCK_OK)
        return status;
    rlock_lock *lock = *out;
    bool taken = true;
    for (size_t i = 0; taken && i < handle->hold_count; i++) {
        const struct rlock_handle_hold *hold = &handle->holds[i];
        taken = take_up(rlock__resource_named(lock, hold->name), hold);
    }
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
