/* probe.c: what a client's server is like, as facts; of a cluster, each of its masters. */
#include "admin/admin.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/kind.h"
#include "os/clock.h"
#include "os/options.h"
#include "os/random.h"

/* --- facts: names and values ------------------------------------------------------------------ */

/* Without memory there is no such fact. */
void rlock__fact_add(const struct rlock__probe *probe, const char *name, const char *format, ...) {
    rlock_facts *facts = probe->facts;
    struct rlock__fact *larger = realloc(facts->at, (facts->count + 1) * sizeof *larger);
    char *value = NULL;
    va_list arguments;
    if (larger == NULL)
        return;
    facts->at = larger;
    va_start(arguments, format);
    const int length = vasprintf(&value, format, arguments);
    va_end(arguments);
    const struct rlock__fact fact = {probe->server, strdup(name), length >= 0 ? value : NULL};
    if (fact.name != NULL && fact.value != NULL) {
        facts->at[facts->count++] = fact;
        return;
    }
    free(fact.name);
    free(fact.value);
}

void rlock__fact_add_number(const struct rlock__probe *probe, const char *name, int64_t number) {
    rlock__fact_add(probe, name, "%" PRId64, number);
}

size_t rlock_facts_servers(const rlock_facts *facts) {
    return facts->servers;
}

const char *rlock_fact(const rlock_facts *facts, size_t server, const char *name) {
    for (size_t i = 0; i < facts->count; i++) {
        if (facts->at[i].server == server && strcmp(facts->at[i].name, name) == 0)
            return facts->at[i].value;
    }
    return NULL;
}

bool rlock_fact_number(const rlock_facts *facts, size_t server, const char *name, int64_t *out) {
    const char *text = rlock_fact(facts, server, name);
    return text != NULL && rlock__resp_whole(text, out);
}

void rlock_facts_free(rlock_facts *facts) {
    if (facts == NULL)
        return;
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->at[i].name);
        free(facts->at[i].value);
    }
    free(facts->at);
    free(facts);
}

/* --- the probe -------------------------------------------------------------------------------- */

/* Asks the server behind a link. */
static enum rlock_status probe_one(struct rlock__probe *probe, struct rlock__link *link) {
    probe->link = link;
    probe->status = RLOCK_OK;
    probe->server = probe->facts->servers++;
    if (probe->client->sites[0].server.topology == RLOCK__CLUSTER)
        rlock__fact_add(probe, "probe.server", "%s:%s", link->host, link->port);
    else
        rlock__fact_add(probe, "probe.server", "%s", probe->client->shown);
    rlock__probe_server(probe);
    if (probe->status == RLOCK_OK)
        return RLOCK_OK;
    probe->client->error = *link->error;
    rlock__fact_add(probe, "probe.error", "%s", link->error->text);
    return rlock__final(probe->status);
}

/* The server; or the masters of a cluster one after the other, of which one that fails is a
 * finding, as long as one answers. */
static enum rlock_status probe_all(struct rlock__probe *probe) {
    struct rlock__route *route = &probe->client->routes.at[0];
    const struct rlock__limit limit = rlock__probe_limit(probe);
    enum rlock_status status, last = RLOCK_OK;
    struct rlock__link *link;
    size_t node = 0, answered = 0;
    while ((status = rlock__route_node(route, &node, &limit, &link)) == RLOCK_OK && link != NULL) {
        last = probe_one(probe, link);
        answered += last == RLOCK_OK;
        node++;
    }
    if (answered > 0)
        return RLOCK_OK;
    if (last != RLOCK_OK)
        return last;
    if (status == RLOCK_OK) /* a cluster without slots says so */
        status = rlock__route_find(route, "", &limit, &link);
    probe->client->error = route->error;
    return rlock__final(status);
}

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
        rlock__fact_add(probe, status == RLOCK_DENIED ? "probe.cycle_denied" : "probe.cycle_error",
                        "%s", probe->client->error.text);
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

/* Takes a lock of its own and gives it back, to see that it works and how long it takes. Nothing
 * stays of it, not even its token. */
static void probe_cycle(struct rlock__probe *probe) {
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
        rlock__fact_add_number(probe, "probe.cycle_us", took_us);
    forget_token(probe, name);
    free(name);
}

/* Redis 6.0, which cannot be asked for rights, tells by refusing the keys. */
static void note_names(const struct rlock__probe *probe) {
    const char *why = rlock_fact(probe->facts, 0, "probe.cycle_denied");
    if (why != NULL && strstr(why, "one of the keys") != NULL &&
        rlock_fact(probe->facts, 0, "rights.names") == NULL)
        rlock__fact_add(probe, "rights.names", "limited");
}

enum rlock_status rlock_probe(rlock_client *client, const struct rlock_probe_options *given,
                              rlock_facts **out) {
    struct rlock_probe_options options;
    struct rlock__probe probe = {.client = client, .options = &options};
    *out = NULL;
    enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_probe_options, cancel_fd, &options, given, &client->error);
    if (status != RLOCK_OK)
        return status;
    if (client->count > 1)
        return rlock__client_invalid(client, "one server is probed at a time");
    if (options.name == NULL)
        return rlock__client_invalid(client, "a lock's name is missing");
    probe.facts = *out = calloc(1, sizeof **out);
    status = probe.facts != NULL ? probe_all(&probe) : RLOCK_SYSTEM;
    if (status != RLOCK_OK)
        return status;
    probe.status = RLOCK_OK;
    probe.server = 0;
    if (client->sites[0].server.topology == RLOCK__SENTINEL)
        rlock__probe_sentinels(&probe);
    rlock__probe_rights(&probe);
    probe_cycle(&probe);
    note_names(&probe);
    const char *why = rlock_fact(probe.facts, 0, "rights.unknown");
    if (why != NULL && rlock_fact(probe.facts, 0, "probe.cycle_error") != NULL)
        rlock__fact_add(&probe, "scripts.error", "%s", why);
    return RLOCK_OK;
}
