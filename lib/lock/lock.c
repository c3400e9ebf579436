/* lock.c: which names a lock may have, and what is known of it here. */
#include "lock/ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "os/clock.h"
#include "os/error.h"

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
    if (rlock__has_control(name))
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

void rlock__lock_update_lease(struct rlock_lock *lock) {
    int64_t first_ms = RLOCK_FOREVER;
    for (size_t i = 0; i < lock->resource_count; i++) {
        if (rlock__resource_is_ours(&lock->resources[i]))
            first_ms = rlock__sooner_ms(first_ms, rlock__votes_granted(&lock->resources[i]));
    }
    atomic_store(&lock->granted_ms, first_ms);
}

int64_t rlock_lease_end_ms(const rlock_lock *lock) {
    const int64_t granted_ms = atomic_load(&lock->granted_ms);
    if (granted_ms == 0)
        return 0;
    return lock->kind->renew != NULL ? rlock__lease_end_ms(granted_ms, lock->lease_ms)
                                     : RLOCK_FOREVER;
}

int64_t rlock_renewal_due_ms(const rlock_lock *lock) {
    return lock->kind->renew != NULL ? atomic_load(&lock->granted_ms) + lock->lease_ms / 3
                                     : RLOCK_FOREVER;
}

const struct rlock_hold *rlock_hold_at(const rlock_lock *lock, size_t i) {
    size_t k = 0;
    while (k < lock->resource_count && (!lock->resources[k].held || i-- > 0))
        k++;
    return k < lock->resource_count ? &lock->resources[k].hold : NULL;
}

const struct rlock_holder *rlock_blocker(const rlock_lock *lock) {
    return lock->busy.resource != NULL ? &lock->busy.holder : NULL;
}

const struct rlock_run *rlock_last_run(const rlock_lock *lock) {
    return lock->busy.done ? &lock->busy.run : NULL;
}

void rlock_note_run(rlock_lock *lock, int exit_status, int64_t took_ms) {
    (void)snprintf(lock->once.status_text, sizeof lock->once.status_text, "%d", exit_status);
    took_ms = took_ms < 0 ? 0 : rlock__sooner_ms(took_ms, RLOCK_TIME_MAX_MS);
    (void)snprintf(lock->once.took_text, sizeof lock->once.took_text, "%" PRId64, took_ms);
}

const char *rlock_stuck_at(const rlock_lock *lock) {
    return lock->resources[lock->stuck_at].name;
}
