/* lock.c: a lock of one or several names: what is known of it, renewal, check, release. */
#include "lock/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lock/ask.h"
#include "os/backoff.h"
#include "os/clock.h"
#include "os/control.h"

enum {
    RETRY_MIN_MS = 10,
    RETRY_MAX_MS = 200,
    STRAGGLER_MS = 50,
    RESTORE_MS = 100 /* for what servers do not hold of what the majority does */
};

static bool has_control(const char *text) {
    while (*text != '\0' && !rlock__is_control(*text))
        text++;
    return *text != '\0';
}

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Exactly {...}: its first closing brace is its last character. */
static bool is_in_braces(const char *name) {
    const char *end = strchr(name, '}');
    return *name == '{' && end != NULL && end[1] == '\0';
}

const char *rlock_name_fault(const char *name) {
    if (name == NULL || *name == '\0')
        return "it is empty: a name has 1 to 512 bytes";
    if (strlen(name) > RLOCK_NAME_MAX)
        return "it is too long: a name has 1 to 512 bytes";
    if (has_control(name))
        return "it has a control character: a name has none";
    if (begins_with(name, "rlock_") || begins_with(name, "redisson_"))
        return "names that begin with rlock_ or redisson_ are those of keys beside other locks: "
               "give "
               "another one";
    if (is_in_braces(name))
        return "it is in braces: Redisson keeps it in the same keys as the name inside them: leave "
               "them out";
    return NULL;
}

enum rlock_status rlock__check_name(struct rlock_client *client, const char *name) {
    const char *fault = rlock_name_fault(name);
    if (fault == NULL)
        return RLOCK_OK;
    rlock__error_set(&client->error, "cannot use the lock's name: %s", fault);
    return RLOCK_INVALID;
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

const struct rlock_run *rlock_last_run(const rlock_lock *lock) {
    return lock->busy.done ? &lock->busy.run : NULL;
}

void rlock_note_run(rlock_lock *lock, int exit_status, int64_t took_ms) {
    lock->once.noted = *lock->once.period_text != '\0';
    (void)snprintf(lock->once.status_text, sizeof lock->once.status_text, "%d", exit_status);
    took_ms = took_ms < 0 ? 0 : rlock__sooner_ms(took_ms, RLOCK_TIME_MAX_MS);
    (void)snprintf(lock->once.took_text, sizeof lock->once.took_text, "%" PRId64, took_ms);
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

void rlock__lock_restore(struct rlock_lock *lock, struct rlock__routes *routes, int cancel_fd) {
    const int64_t most_ms = lock->lease_ms / 10; /* a short lease is due again in a moment */
    const struct rlock__limit limit = {
        rlock_now_ms() + (most_ms < RESTORE_MS ? most_ms : RESTORE_MS), cancel_fd, NULL};
    if (routes->count > 1 && lock->kind->restore != NULL)
        rlock__resources_restore(lock, routes, &limit);
}

enum rlock_status rlock_renew(rlock_lock *lock) {
    const struct rlock__limit limit =
        rlock__client_call_limit(lock->client, rlock_now_ms(), true, RLOCK_FOREVER, -1);
    const enum rlock_status status =
        rlock__lock_renew(lock, &lock->client->routes, &limit, &lock->stuck_at);
    if (status == RLOCK_OK)
        rlock__lock_restore(lock, &lock->client->routes, -1);
    return rlock__final(status);
}

static enum rlock_status check_resource(struct rlock_lock *lock, struct rlock__resource *resource,
                                        int64_t *left_ms) {
    rlock_client *client = lock->client;
    if (!resource->held) { /* there is no owner to ask for */
        rlock__error_set(&client->error, "%s is not held", resource->name);
        return RLOCK_LOST;
    }
    const struct rlock__limit limit =
        rlock__client_call_limit(client, rlock_now_ms(), true, RLOCK_FOREVER, -1);
    const enum rlock_status status = rlock__resource_check(resource, &limit, left_ms);
    return rlock__final(status);
}

enum rlock_status rlock_check(rlock_lock *lock, int64_t *ttl_ms) {
    *ttl_ms = RLOCK_FOREVER;
    if (lock->kind->check == NULL)
        return rlock__client_invalid(lock->client, "this kind of lock can't be looked for");
    for (size_t i = 0; i < lock->resource_count; i++) {
        int64_t left_ms = 0;
        const enum rlock_status status = check_resource(lock, &lock->resources[i], &left_ms);
        if (status != RLOCK_OK) {
            lock->stuck_at = i;
            return status;
        }
        if (left_ms < *ttl_ms)
            *ttl_ms = left_ms;
    }
    return RLOCK_OK;
}

/* Majorities have confirmed all that could be. A server that has not may have lost the request: it
 * is told again, of all names at once, but nobody waits for one that hangs. */
static void release_stragglers(struct rlock_lock *lock, int64_t keep_ms) {
    for (int tries = 2; tries > 0; tries--) {
        const struct rlock__limit limit = {rlock_now_ms() + STRAGGLER_MS, -1, NULL};
        if (!rlock__resources_release_rest(lock, keep_ms, &limit))
            return;
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
        if (status != RLOCK_AGAIN)
            return status;
        in_doubt = in_doubt || rlock__routes_in_doubt(routes);
        const int64_t now = rlock_now_ms();
        if (now >= deadline_ms || (now >= reached_by_ms && !rlock__routes_answered(routes)))
            return RLOCK_UNAVAILABLE;
        const struct rlock__limit pause = {
            now + rlock__backoff(&backoff_ms, RETRY_MIN_MS, RETRY_MAX_MS), -1, NULL};
        (void)rlock__sleep(&pause);
    }
}

enum rlock_status rlock_release(rlock_lock *lock, int64_t keep_ms, int64_t deadline_ms) {
    enum rlock_status worst = RLOCK_OK;
    struct rlock__error why = {""};
    if (keep_ms > RLOCK_TIME_MAX_MS)
        return rlock__client_invalid(lock->client, "a lock stays taken for at most 36525 days");
    /* The last name first: who waits for the first name then finds all of them free. */
    for (size_t i = lock->resource_count; i > 0; i--) {
        struct rlock__resource *resource = &lock->resources[i - 1];
        const size_t count = rlock__ballots_due(lock, lock->resource_count - i);
        if (count > 0) {
            const struct rlock__limit limit =
                rlock__client_call_limit(lock->client, rlock_now_ms(), false,
                                         rlock__half_way_ms(rlock_now_ms(), deadline_ms), -1);
            rlock__resources_release_ahead(lock, i - count, count, keep_ms, &limit);
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
    release_stragglers(lock, keep_ms);
    if (worst != RLOCK_OK)
        lock->client->error = why;
    return worst;
}
