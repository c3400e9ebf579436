/* probe.c: what a client's server is like; of a cluster, each of its masters. */
#include "admin/probe.h"

#include <stdlib.h>

#include "os/options.h"

/* Asks the server behind a link. */
static enum rlock_status probe_one(struct rlock__probe *probe, rlock_facts *facts,
                                   struct rlock__link *link) {
    probe->link = link;
    probe->status = RLOCK_OK;
    probe->facts = rlock__facts_of_another(facts);
    if (probe->facts == NULL)
        return RLOCK_SYSTEM;
    if (probe->client->sites[0].server.topology == RLOCK__CLUSTER)
        rlock__fact_add(probe->facts, "probe.server", "%s:%s", link->host, link->port);
    else
        rlock__fact_add(probe->facts, "probe.server", "%s", probe->client->shown);
    rlock__probe_server(probe);
    if (probe->status == RLOCK_OK)
        return RLOCK_OK;
    probe->client->error = *link->error;
    rlock__fact_add(probe->facts, "probe.error", "%s", link->error->text);
    return rlock__final(probe->status);
}

/* The masters one after the other; one that fails is a finding, as long as one answers. */
static enum rlock_status probe_cluster(struct rlock__probe *probe, rlock_facts *facts) {
    struct rlock__cluster *cluster = probe->client->routes.at[0].cluster;
    struct rlock__link *link;
    enum rlock_status last = RLOCK_UNAVAILABLE;
    size_t answered = 0;
    for (size_t i = 0; (link = rlock__cluster_master(cluster, i)) != NULL; i++) {
        last = probe_one(probe, facts, link);
        answered += last == RLOCK_OK;
    }
    return answered > 0 ? RLOCK_OK : last;
}

/* Finds the way there; in a cluster, the way to one slot shows them all. */
static enum rlock_status probe_all(struct rlock__probe *probe, rlock_facts *facts) {
    struct rlock__route *route = &probe->client->routes.at[0];
    struct rlock__link *link;
    const struct rlock__limit limit = rlock__probe_limit(probe);
    const enum rlock_status status = rlock__route_find(route, "", &limit, &link);
    const bool found = status == RLOCK_OK || status == RLOCK_AGAIN; /* or nobody serves that slot */
    if (found && route->cluster != NULL && rlock__cluster_master(route->cluster, 0) != NULL)
        return probe_cluster(probe, facts);
    if (status == RLOCK_OK)
        return probe_one(probe, facts, link);
    probe->client->error = route->error;
    return rlock__final(status);
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
    rlock_facts *facts = *out = calloc(1, sizeof *facts);
    if (facts == NULL)
        return RLOCK_SYSTEM;
    status = probe_all(&probe, facts);
    if (status != RLOCK_OK)
        return status;
    probe.status = RLOCK_OK;
    probe.facts = &facts->servers[0];
    if (client->sites[0].server.topology == RLOCK__SENTINEL)
        rlock__probe_sentinels(&probe);
    rlock__probe_rights(&probe);
    rlock__probe_cycle(&probe);
    const char *why = rlock_fact(facts, 0, "rights.unknown");
    if (why != NULL && rlock_fact(facts, 0, "probe.cycle_error") != NULL)
        rlock__fact_add(probe.facts, "scripts.error", "%s", why);
    return RLOCK_OK;
}
