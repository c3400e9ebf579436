/* lock.c: a lock of one or several names: its making, its renewal, its release. */
#include "lock/lock.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/ballot.h"
#include "lock/shown.h"
#include "os/backoff.h"
#include "os/clock.h"
#include "os/control.h"
#include "os/options.h"

enum { RETRY_MIN_MS = 10, RETRY_MAX_MS = 200, STRAGGLER_MS = 50, HOST_SIZE = 256 };

const char *rlock__name_fault(const char *name) {
    if (name == NULL || *name == '\0' || strlen(name) > RLOCK_NAME_MAX)
        return "a lock's name has 1 to 512 bytes";
    for (; *name != '\0'; name++) {
        if (rlock__is_control(*name))
            return "a lock's name has no control characters";
    }
    return NULL;
}

static enum rlock_status check(rlock_client *client, const struct rlock_lock_options *options) {
    const struct rlock__kind *kind = rlock__kind_find(options->kind);
    if (!kind)
        return rlock__client_invalid(client, "there is no such kind of lock");
    if (!rlock__kind_knows(kind, options->variant))
        return rlock__client_invalid(client, "this kind of lock has no such variant");
    if (client->count > 1 && !kind->shareable)
        return rlock__client_invalid(client, "on several servers a lock is run, read or write");
    if (options->permits < 0 || options->permits > RLOCK_TAKE_MAX)
        return rlock__client_invalid(client, "permits taken at once are 1 to 10000");
    if (options->permits_total < 0 || options->permits_total > RLOCK_PERMITS_MAX)
        return rlock__client_invalid(client, "permits in all are 1 to 1000000000");
    if (options->name_count == 0)
        return rlock__client_invalid(client, "a lock needs a name");
    if (options->lease_ms < RLOCK_LEASE_MIN_MS || options->lease_ms > RLOCK_LEASE_MAX_MS)
        return rlock__client_invalid(client, "a lease lasts from 100ms to 7d");
    for (size_t i = 0; i < options->name_count; i++) {
        const char *fault = rlock__name_fault(options->names[i]);
        if (fault != NULL)
            return rlock__client_invalid(client, fault);
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

/* "UUID:PID@HOST": Redisson's form is UUID:ID, and no client reads the ID. And what others are
 * shown. */
static bool introduce(struct rlock_lock *lock, const struct rlock_lock_options *options) {
    char uuid[RLOCK__UUID_SIZE];
    char host[HOST_SIZE] = "";
    if (!rlock__random_uuid(uuid))
        return false;
    (void)gethostname(host, sizeof host - 1);
    for (char *c = host; *c != '\0'; c++) {
        if (*c == ':' || (unsigned char)*c <= ' ')
            *c = '-';
    }
    lock->shown = rlock__shown(host, options->user, options->command, lock->permits_text);
    return asprintf(&lock->owner, "%s:%ld@%s", uuid, (long)getpid(), host) >= 0 &&
           lock->shown != NULL;
}

static bool take_over_proof(struct rlock__resource *resource, bool reenters,
                            const struct rlock_lock_options *options) {
    for (size_t i = 0; reenters && i < options->proof_count; i++) {
        const struct rlock_proof *proof = &options->proofs[i];
        if (strcmp(proof->name, resource->name) != 0)
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

/* Where a lock {x} shares the set of permits with x, its own are known by their first bytes. */
static bool make_id(struct rlock__resource *resource) {
    static const char mark[] = "7b726c7d"; /* "{rl}" */
    const size_t length = strlen(resource->name);
    char id[RLOCK__ID_SIZE];
    if (!rlock__random_id(id))
        return false;
    if (resource->name[0] == '{' && strcspn(resource->name + 1, "{}") + 2 == length)
        memcpy(id, mark, sizeof mark - 1);
    return rlock__resource_identify(resource, id);
}

static bool make_resource(const struct rlock_lock *lock, struct rlock__resource *resource,
                          const char *name, const struct rlock_lock_options *options) {
    resource->lock = lock;
    resource->name = strdup(name);
    resource->instance_count = lock->client->count;
    resource->instances = calloc(resource->instance_count, sizeof *resource->instances);
    resource->channel = rlock__kind_key(lock->kind->channel, name);
    if (resource->name == NULL || resource->instances == NULL || resource->channel == NULL ||
        !make_id(resource) ||
        asprintf(&resource->own_channel, "%s:%s", resource->channel, lock->owner) < 0 ||
        asprintf(&resource->publish, RLOCK__SPUBLISH "%s", resource->channel) < 0)
        return false;
    return rlock__kind_keys(resource->keys, lock->kind->keys, name) &&
           take_over_proof(resource, lock->kind->reenters, options);
}

static bool fill(struct rlock_lock *lock, const struct rlock_lock_options *options) {
    (void)snprintf(lock->lease_text, sizeof lock->lease_text, "%" PRId64, lock->lease_ms);
    (void)snprintf(lock->permits_text, sizeof lock->permits_text, "%" PRId64,
                   options->permits > 0 ? options->permits : 1);
    if (options->permits_total > 0)
        (void)snprintf(lock->total_text, sizeof lock->total_text, "%" PRId64,
                       options->permits_total);
    lock->variant = options->variant != NULL ? lock->kind->variant : "";
    if (!introduce(lock, options))
        return false;
    size_t count = 0;
    const char **names = canonical(options, &count);
    lock->resources = names != NULL ? calloc(count, sizeof *lock->resources) : NULL;
    bool made = lock->resources != NULL;
    for (; made && lock->resource_count < count; lock->resource_count++)
        made = make_resource(lock, &lock->resources[lock->resource_count],
                             names[lock->resource_count], options);
    free(names);
    return made;
}

enum rlock_status rlock_lock_new(rlock_lock **out, rlock_client *client,
                                 const struct rlock_lock_options *given) {
    struct rlock_lock_options options;
    *out = NULL;
    enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_lock_options, proof_count, &options, given, &client->error);
    if (status == RLOCK_OK)
        status = check(client, &options);
    if (status != RLOCK_OK)
        return status;
    rlock_lock *lock = calloc(1, sizeof *lock);
    if (lock != NULL) {
        lock->client = client;
        lock->listener.error = &client->error;
        lock->kind = rlock__kind_find(options.kind);
        lock->lease_ms = options.lease_ms;
    }
    if (lock == NULL || !fill(lock, &options)) {
        rlock_lock_free(lock);
        rlock__error_set(&client->error, "no memory, or no random bytes");
        return RLOCK_SYSTEM;
    }
    *out = lock;
    return RLOCK_OK;
}

static void free_resource(struct rlock__resource *resource) {
    rlock__kind_keys_free(resource->keys);
    free(resource->name);
    free(resource->channel);
    free(resource->own_channel);
    free(resource->publish);
    free(resource->tombstone);
    free(resource->ahead);
    free(resource->proof_owner);
    free(resource->instances);
}

void rlock_lock_free(rlock_lock *lock) {
    if (lock == NULL)
        return;
    rlock__listener_free(&lock->listener);
    rlock__reply_free(lock->busy.reply);
    /* A resource that could not be made whole is not counted: calloc left it safe to free. */
    for (size_t i = 0; lock->resources != NULL && i <= lock->resource_count; i++) {
        if (i < lock->resource_count)
            free_resource(&lock->resources[i]);
    }
    free(lock->resources);
    free(lock->owner);
    free(lock->shown);
    free(lock);
}

void rlock__lock_update_lease_end(struct rlock_lock *lock) {
    int64_t end = RLOCK_FOREVER;
    for (size_t i = 0; i < lock->resource_count; i++) {
        if (lock->resources[i].lease_end_ms < end)
            end = lock->resources[i].lease_end_ms;
    }
    atomic_store(&lock->lease_end_ms, end);
}

int64_t rlock_lease_end_ms(const rlock_lock *lock) {
    return atomic_load(&lock->lease_end_ms);
}

int64_t rlock_renewal_due_ms(const rlock_lock *lock) {
    if (lock->kind->renew == NULL)
        return RLOCK_FOREVER;
    const int64_t began_ms =
        rlock_lease_end_ms(lock) - lock->lease_ms + rlock_drift_ms(lock->lease_ms);
    return began_ms + lock->lease_ms / 3;
}

const struct rlock_hold *rlock_hold_at(const rlock_lock *lock, size_t i) {
    return i < lock->resource_count && lock->resources[i].held ? &lock->resources[i].hold : NULL;
}

const struct rlock_holder *rlock_blocker(const rlock_lock *lock) {
    return lock->busy.resource != NULL ? &lock->busy.holder : NULL;
}

const char *rlock_stuck_at(const rlock_lock *lock) {
    return lock->resources[lock->stuck_at].name;
}

/* Which of two outcomes counts: one that is final before one that may pass. */
static bool is_worse(enum rlock_status status, enum rlock_status than) {
    return than == RLOCK_OK || (than == RLOCK_AGAIN && status != RLOCK_AGAIN);
}

enum rlock_status rlock__lock_renew(struct rlock_lock *lock, struct rlock__routes *routes,
                                    const struct rlock__limit *limit, size_t *stuck_at) {
    enum rlock_status worst = RLOCK_OK;
    struct rlock__error why = {""};
    for (size_t i = 0; i < lock->resource_count; i++) {
        rlock__resources_renew_ahead(lock, i, rlock__ballots_due(lock, i), routes, limit);
        const enum rlock_status status = rlock__resource_renew(&lock->resources[i], routes, limit);
        if (status == RLOCK_OK || !is_worse(status, worst))
            continue;
        worst = status;
        *stuck_at = i;
        why = *routes->error;
    }
    if (worst == RLOCK_OK)
        rlock__lock_update_lease_end(lock);
    else
        *routes->error = why;
    return worst;
}

enum rlock_status rlock_renew(rlock_lock *lock) {
    const struct rlock__limit limit =
        rlock__client_call_limit(lock->client, rlock_now_ms(), true, RLOCK_FOREVER, -1);
    const enum rlock_status status =
        rlock__lock_renew(lock, &lock->client->routes, &limit, &lock->stuck_at);
    return rlock__final(status);
}

/* The majority has confirmed it. A server that has not may have lost the request: it is told again,
 * but nobody waits for one that hangs. */
static void release_stragglers(struct rlock__resource *resource, int64_t keep_ms) {
    for (int tries = 2; tries > 0 && rlock__resource_may_stay(resource); tries--) {
        const struct rlock__limit limit = {rlock_now_ms() + STRAGGLER_MS, -1};
        (void)rlock__resource_release(resource, keep_ms, true, &limit);
    }
}

/* Repeats the same request until it is answered or the deadline has come. */
static enum rlock_status release_resource(struct rlock_lock *lock, struct rlock__resource *resource,
                                          int64_t keep_ms, int64_t deadline_ms) {
    const struct rlock__routes *routes = &lock->client->routes;
    const int64_t began_ms = rlock_now_ms();
    const int64_t reached_by_ms = rlock__after_ms(began_ms, lock->client->connect_timeout_ms);
    int64_t backoff_ms = 0;
    bool in_doubt = false;
    for (;;) {
        const struct rlock__limit limit =
            rlock__client_call_limit(lock->client, began_ms, backoff_ms > 0,
                                     rlock__half_way_ms(rlock_now_ms(), deadline_ms), -1);
        enum rlock_status status = rlock__resource_release(resource, keep_ms, true, &limit);
        /* Not there after a request whose answer was lost: that request has taken it. */
        if (status == RLOCK_LOST && in_doubt)
            return RLOCK_OK;
        if (status == RLOCK_OK)
            release_stragglers(resource, keep_ms);
        if (status != RLOCK_AGAIN)
            return status;
        in_doubt = in_doubt || rlock__routes_in_doubt(routes);
        const int64_t now = rlock_now_ms();
        if (now >= deadline_ms || (now >= reached_by_ms && !rlock__routes_answered(routes)))
            return RLOCK_UNAVAILABLE;
        const struct rlock__limit pause = {
            now + rlock__backoff(&backoff_ms, RETRY_MIN_MS, RETRY_MAX_MS), -1};
        (void)rlock__sleep(&pause);
    }
}

enum rlock_status rlock_release(rlock_lock *lock, int64_t keep_ms, int64_t deadline_ms) {
    enum rlock_status worst = RLOCK_OK;
    struct rlock__error why = {""};
    /* The last name first: who waits for the first name then finds all of them free. */
    for (size_t i = lock->resource_count; i > 0; i--) {
        struct rlock__resource *resource = &lock->resources[i - 1];
        const size_t count = rlock__ballots_due(lock, lock->resource_count - i);
        if (count > 0) {
            const struct rlock__limit limit =
                rlock__client_call_limit(lock->client, rlock_now_ms(), false,
                                         rlock__half_way_ms(rlock_now_ms(), deadline_ms), -1);
            rlock__resources_release_ahead(lock, i - count, count, NULL, keep_ms, &limit);
        }
        if (!resource->held && resource->ahead == NULL)
            continue;
        enum rlock_status status = release_resource(lock, resource, keep_ms, deadline_ms);
        if (status == RLOCK_OK || worst == RLOCK_LOST)
            continue;
        worst = status;
        lock->stuck_at = i - 1;
        if (status == RLOCK_LOST)
            rlock__error_set(&lock->client->error, "%s is not ours any more", resource->name);
        why = lock->client->error;
    }
    if (worst != RLOCK_OK)
        lock->client->error = why;
    return worst;
}
