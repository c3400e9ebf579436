/* probe_cycle.c: a lock of its own is taken and given back, to see that it works and how long it
 * takes. Nothing stays of it, not even its token. */
#include <stdio.h>
#include <stdlib.h>

#include "admin/probe.h"
#include "lock/kind.h"
#include "os/clock.h"
#include "os/random.h"

enum { CYCLES = 3, LEASE_MS = 10000, RELEASE_MS = 5000 };

static enum rlock_status cycle(struct rlock__probe *probe, const char *name, int64_t *took_us) {
    const char *const names[] = {name};
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    struct rlock_wait wait = RLOCK_WAIT_INIT;
    rlock_lock *lock;
    options.names = names;
    options.name_count = 1;
    options.lease_ms = LEASE_MS;
    wait.deadline_ms = 0;
    enum rlock_status status = rlock_lock_new(&lock, probe->client, &options);
    const int64_t begun_us = rlock__now_us();
    if (status == RLOCK_OK)
        status = rlock_acquire(lock, &wait);
    if (status == RLOCK_OK)
        status = rlock_release(lock, 0, rlock_now_ms() + RELEASE_MS);
    const int64_t us = rlock__now_us() - begun_us;
    if (status == RLOCK_OK && us < *took_us)
        *took_us = us;
    else if (status != RLOCK_OK)
        rlock__fact_add(probe->facts, "probe.cycle_error", "%s", probe->client->error.text);
    rlock_lock_free(lock);
    return status;
}

/* Fencing needs the token of a name for ever; nobody will ever use this name again. */
static void forget_token(struct rlock__probe *probe, const char *name) {
    struct rlock__route *route = &probe->client->routes.at[0];
    char *key = rlock__kind_key("redisson_lock_token:{*}", name);
    const char *words[] = {"DEL", key};
    struct rlock__probe there = *probe;
    const struct rlock__limit limit = rlock__probe_limit(probe);
    if (key != NULL && rlock__route_find(route, key, &limit, &there.link) == RLOCK_OK)
        rlock__reply_free(rlock__probe_ask(&there, 2, words));
    free(key);
}

void rlock__probe_cycle(struct rlock__probe *probe) {
    char id[RLOCK__ID_SIZE], *name = NULL;
    enum rlock_status status = RLOCK_OK;
    int64_t took_us = INT64_MAX;
    if (!rlock__random_id(id) ||
        asprintf(&name, "%.400s-doctor-%s", probe->options->name, id) < 0) {
        probe->status = RLOCK_SYSTEM;
        return;
    }
    for (int i = 0; i < CYCLES && status == RLOCK_OK; i++)
        status = cycle(probe, name, &took_us);
    if (status == RLOCK_OK)
        rlock__fact_add_number(probe->facts, "probe.cycle_us", took_us);
    forget_token(probe, name);
    free(name);
}
