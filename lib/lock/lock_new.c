/* lock_new.c: makes a lock of one or several names, and frees it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"
#include "os/options.h"

enum { NUMBER_SIZE = 24 };

/* Scripts are told of it in place of a lease where there is none: longer than any, see sem.lua. */
static const int64_t year_ms = 365 * INT64_C(86400000);

static bool is_within(int64_t number, int64_t least, int64_t most) {
    return number >= least && number <= most;
}

static bool is_too_long(const char *text) {
    return text != NULL && strnlen(text, RLOCK_TEXT_MAX + 1) > RLOCK_TEXT_MAX;
}

/* What does not go with that kind; NULL: all does. */
static const char *misfit(const struct rlock_lock_options *options,
                          const struct rlock__kind *kind) {
    if (options->variant != NULL &&
        (kind->variant == NULL || strcmp(kind->variant, options->variant) != 0))
        return "this kind of lock has no such variant";
    if ((options->once_per_ms != 0 || options->once_key != NULL) && kind->record == NULL)
        return "once_per_ms and once_key are not supported for this kind of lock";
    if ((options->preempt || options->preemptible) && kind->record == NULL)
        return "preemption is not supported for this kind of lock";
    if (options->any != 0 && !kind->pools)
        return "any of several names are taken by run or write";
    if (options->any != 0 && options->preempt)
        return "preempt does not go with any";
    if (options->name_count > 1 && !kind->reenters)
        return "permits and a latch have one name";
    if (options->priority != 0 && !kind->queued)
        return "priority is not supported for this kind of lock";
    return NULL;
}

/* What is beyond the limits in rlock.h; NULL: nothing is. */
static const char *excess(const struct rlock_lock_options *options) {
    if (!is_within(options->permits, 0, RLOCK_TAKE_MAX))
        return "permits taken at once are 1 to 10000";
    if (!is_within(options->permits_total, 0, RLOCK_PERMITS_MAX))
        return "permits in all are 1 to 1000000000";
    if (options->permits_total > 0 && options->permits > options->permits_total)
        return "permits is more than permits_total";
    if (!is_within(options->lease_ms, RLOCK_LEASE_MIN_MS, RLOCK_LEASE_MAX_MS))
        return "a lease lasts from 100ms to 7d";
    if (!is_within(options->once_per_ms, 0, RLOCK_TIME_MAX_MS))
        return "once_per_ms is at most 36525 days";
    if (is_too_long(options->user) || is_too_long(options->command) || is_too_long(options->note))
        return "user, command and note have at most 1024 bytes each";
    if (options->names == NULL || options->name_count < 1 || options->name_count > RLOCK_NAMES_MAX)
        return "a lock has 1 to 10000 names";
    if (options->proofs == NULL && options->proof_count > 0)
        return "proofs is NULL, but proof_count is not 0";
    if (!is_within(options->priority, -RLOCK_PRIORITY_MAX, RLOCK_PRIORITY_MAX))
        return "priority is -1000 to 1000";
    if (options->once_key != NULL && (is_too_long(options->once_key) || *options->once_key == '\0'))
        return "once_key has 1 to 1024 bytes";
    if ((options->once_per_ms > 0 || options->once_key != NULL) && options->name_count > 1)
        return "once_per_ms and once_key need exactly one name";
    return NULL;
}

static enum rlock_status check(rlock_client *client, const struct rlock_lock_options *options) {
    const struct rlock__kind *kind = rlock__kind_find(options->kind);
    if (!kind)
        return rlock__client_invalid(client, "there is no such kind of lock");
    if (client->count > 1 && kind->restore == NULL)
        return rlock__client_invalid(client, "on several servers a lock is run, read or write");
    const char *fault = misfit(options, kind);
    fault = fault != NULL ? fault : excess(options);
    if (fault == NULL && client->sites[0].fsync && options->lease_ms < RLOCK_FSYNC_LEASE_MIN_MS)
        fault =
            "with fsync a lease lasts 6s or longer: a renewal, after a third of it, waits up to "
            "2s for the disk";
    if (fault != NULL)
        return rlock__client_invalid(client, fault);
    for (size_t i = 0; i < options->name_count; i++) {
        const enum rlock_status status = rlock__check_name(client, options->names[i]);
        if (status != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in canonical order, doubles left out. The caller frees the array, not the names. */
static const char **canonical(const struct rlock_lock_options *options, size_t *count) {
    const char **names = malloc(options->name_count * sizeof *names);
    if (names == NULL)
        return NULL;
    memcpy(names, options->names, options->name_count * sizeof *names);
    qsort(names, options->name_count, sizeof *names, by_bytes);
    size_t n = 1;
    for (size_t i = 1; i < options->name_count; i++) {
        if (strcmp(names[i], names[n - 1]) != 0)
            names[n++] = names[i];
    }
    *count = n;
    return names;
}

/* A pool's size, where all else is right. All of the names are no pool. */
static enum rlock_status check_pool(rlock_client *client, struct rlock_lock_options *options,
                                    size_t count) {
    if (client->count > 1)
        return rlock__client_invalid(client, "any of several names are taken on one server alone");
    if (!is_within(options->any, 1, (int64_t)count))
        return rlock__client_invalid(client, "any is from 1 to the number of names");
    if (count > RLOCK_CLUSTER_POOL_MAX && client->routes.at[0].cluster != NULL)
        return rlock__client_invalid(client, "in a cluster any of at most 64 names are taken");
    if (options->any == (int64_t)count)
        options->any = 0;
    return RLOCK_OK;
}

static bool take_over_proof(struct rlock__resource *resource, bool reenters,
                            const struct rlock_lock_options *options) {
    for (size_t i = 0; reenters && i < options->proof_count; i++) {
        const struct rlock_proof *proof = &options->proofs[i];
        if (proof->name == NULL || proof->owner == NULL || strcmp(proof->name, resource->name) != 0)
            continue;
        free(resource->proof_owner); /* the innermost hold of the name is the last */
        resource->proof_owner = strdup(proof->owner);
        (void)snprintf(resource->proof_token, sizeof resource->proof_token, "%" PRId64,
                       proof->token);
        if (resource->proof_owner == NULL)
            return false;
    }
    return true;
}

/* Makes lease_keys and kept_keys. False: no memory. */
static bool name_leases(struct rlock__resource *resource) {
    const struct rlock__kind *kind = resource->lock->kind;
    const char *const owners[] = {kind->reads ? resource->lock->owner : NULL,
                                  kind->shares ? resource->proof_owner : NULL};
    bool made = true;
    for (size_t i = 0, n = 0; made && i < sizeof owners / sizeof owners[0]; i++) {
        if (owners[i] == NULL)
            continue;
        resource->lease_keys[n] = rlock__kind_lease_key(resource->name, owners[i], false);
        resource->kept_keys[n] = rlock__kind_lease_key(resource->name, owners[i], true);
        made = resource->lease_keys[n] != NULL && resource->kept_keys[n] != NULL;
        n++;
    }
    return made;
}

static bool make_resource(struct rlock_lock *lock, struct rlock__resource *resource,
                          const char *name, const struct rlock_lock_options *options) {
    char id[RLOCK__ID_SIZE];
    resource->lock = lock;
    resource->name = strdup(name);
    resource->instance_count = lock->client->count;
    resource->instances = calloc(resource->instance_count, sizeof *resource->instances);
    resource->publish = rlock__kind_key(lock->kind->publish, name);
    if (resource->name == NULL || resource->instances == NULL || resource->publish == NULL ||
        !rlock__random_id(id) || !rlock__resource_identify(resource, id))
        return false;
    resource->channel = resource->publish + strlen(RLOCK__SPUBLISH);
    if (asprintf(&resource->own_channel, "%s:%s", resource->channel, lock->owner) < 0) {
        resource->own_channel = NULL;
        return false;
    }
    if (lock->kind->record != NULL)
        resource->record = rlock__kind_key(lock->kind->record, name);
    return (resource->record != NULL || lock->kind->record == NULL) &&
           rlock__kind_keys(resource->keys, lock->kind->keys, name) &&
           take_over_proof(resource, lock->kind->reenters, options) && name_leases(resource);
}

/* "" for 0. */
static void write_number(char text[NUMBER_SIZE], int64_t number) {
    (void)snprintf(text, NUMBER_SIZE, "%.0" PRId64, number);
}

static bool fill(struct rlock_lock *lock, const struct rlock_lock_options *options,
                 const char *const *names, size_t count, const char *owner) {
    write_number(lock->lease_text, lock->kind->renew != NULL ? lock->lease_ms : year_ms);
    write_number(lock->permits_text, options->permits > 0 ? options->permits : 1);
    write_number(lock->total_text, options->permits_total);
    write_number(lock->priority_text, options->priority);
    write_number(lock->once.period_text, options->once_per_ms);
    if (options->once_key != NULL && (lock->once.key = strdup(options->once_key)) == NULL)
        return false;
    lock->once.wanted = options->once_per_ms > 0 || options->once_key != NULL;
    lock->variant = options->variant != NULL ? lock->kind->variant : "";
    lock->resources = calloc(count, sizeof *lock->resources);
    bool made = rlock__introduce(lock, options, owner) && lock->resources != NULL;
    for (; made && lock->resource_count < count; lock->resource_count++)
        made = make_resource(lock, &lock->resources[lock->resource_count],
                             names[lock->resource_count], options);
    return made && rlock__pool_make(lock, options);
}

/* NULL: no memory, or no random bytes. */
static rlock_lock *make(rlock_client *client, const struct rlock_lock_options *options,
                        const char *const *names, size_t count, const char *owner) {
    rlock_lock *lock = calloc(1, sizeof *lock);
    if (lock == NULL)
        return NULL;
    lock->client = client;
    lock->kind = rlock__kind_find(options->kind);
    lock->lease_ms = options->lease_ms;
    if (fill(lock, options, names, count, owner))
        return lock;
    rlock_lock_free(lock);
    return NULL;
}

enum rlock_status rlock__lock_make(rlock_lock **out, rlock_client *client,
                                   struct rlock_lock_options *options, const char *owner) {
    enum rlock_status status = check(client, options);
    if (status != RLOCK_OK)
        return status;
    size_t count = 0;
    const char **names = canonical(options, &count);
    if (names != NULL && options->any != 0)
        status = check_pool(client, options, count);
    if (status == RLOCK_OK) {
        *out = names != NULL ? make(client, options, names, count, owner) : NULL;
        if (*out == NULL) {
            status = RLOCK_SYSTEM;
            rlock__error_set(&client->error, "no memory, or no random bytes");
        }
    }
    free(names);
    return status;
}

enum rlock_status rlock_lock_new(rlock_lock **out, rlock_client *client,
                                 const struct rlock_lock_options *given) {
    struct rlock_lock_options options;
    *out = NULL;
    const enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_lock_options, proof_count, &options, given, &client->error);
    return status == RLOCK_OK ? rlock__lock_make(out, client, &options, NULL) : status;
}

static void free_resource(struct rlock__resource *resource) {
    rlock__kind_keys_free(resource->keys);
    rlock__kind_keys_free(resource->lease_keys);
    rlock__kind_keys_free(resource->kept_keys);
    free(resource->name);
    free(resource->own_channel);
    free(resource->publish);
    free(resource->tombstone);
    free(resource->record);
    free(resource->proof_owner);
    free(resource->instances);
}

void rlock_lock_free(rlock_lock *lock) {
    if (lock == NULL)
        return;
    for (size_t i = 0; lock->listeners != NULL && i < lock->listener_count; i++)
        rlock__listener_free(&lock->listeners[i]);
    free(lock->listeners);
    free(lock->preferred);
    rlock__reply_free(lock->busy.reply);
    for (size_t i = 0; i < lock->resource_count; i++) /* also one that could not be made whole */
        free_resource(&lock->resources[i]);
    free(lock->resources);
    free(lock->owner);
    free(lock->shown);
    free(lock->preempts_as);
    free(lock->once.key);
    free(lock);
}
