/* route.c: the way to where a lock lives. */
#include "redis/route.h"

#include <stdlib.h>
#include <string.h>

#include "os/clock.h"

enum {
    FRESH_MS = 1000, /* what a Sentinel said is not asked again for so long */
    GLANCE_MS = 300, /* for asking it again, while there is a master that answers */
};

bool rlock__route_init(struct rlock__route *route, const struct rlock__site *site,
                       const struct rlock__route *like) {
    const struct rlock__server *server = &site->server;
    *route = (struct rlock__route){.site = site};
    struct rlock__host place = {"", ""}; /* of a master: not known yet */
    if (server->topology == RLOCK__SINGLE)
        place = server->path != NULL ? (struct rlock__host){server->path, ""} : server->hosts[0];
    if (like != NULL)
        rlock__link_like(&route->link, &like->link, &site->access, &route->error);
    else
        rlock__link_init(&route->link, place.name, place.port, &site->access, &route->error);
    if (server->topology == RLOCK__CLUSTER) {
        route->cluster =
            rlock__cluster_new(site, like != NULL ? like->cluster : NULL, &route->error);
        return route->cluster != NULL;
    }
    if (like != NULL) {
        route->sentinel = like->sentinel;
        route->located_ms = like->located_ms;
        route->astray = like->astray;
        route->no_role = like->no_role;
        return rlock__replicas_copy(&route->replicas, &like->replicas);
    }
    return true;
}

void rlock__route_close(struct rlock__route *route) {
    rlock__link_close(&route->link);
    if (route->cluster != NULL)
        rlock__cluster_close(route->cluster);
}

void rlock__route_free(struct rlock__route *route) {
    if (route->site == NULL)
        return;
    rlock__link_close(&route->link);
    rlock__cluster_free(route->cluster);
    rlock__replicas_free(&route->replicas);
}

static void next_sentinel(struct rlock__route *route) {
    const struct rlock__server *server = &route->site->server;
    if (server->topology == RLOCK__SENTINEL)
        route->sentinel = (route->sentinel + 1) % server->host_count;
}

void rlock__route_doubt(struct rlock__route *route) {
    route->astray = true;
    route->link.look_up_again = true;
    next_sentinel(route); /* it may know better */
    if (route->cluster != NULL)
        rlock__cluster_doubt(route->cluster);
}

/* To find out where to go is a part of connecting. */
static struct rlock__limit bound_by_connecting(const struct rlock__route *route,
                                               const struct rlock__limit *limit) {
    const int64_t end_ms = rlock__after_ms(rlock_now_ms(), route->site->access.connect_timeout_ms);
    return (struct rlock__limit){rlock__sooner_ms(limit->deadline_ms, end_ms), limit->cancel_fd};
}

/* Whether what a Sentinel said still counts. Not while the old master is on its way to becoming a
 * replica, or one is down: by the next request it may be one that has been promoted. */
static bool is_fresh(const struct rlock__route *route, int64_t now_ms) {
    return !route->astray && now_ms < route->located_ms + FRESH_MS &&
           !rlock__replicas_some_replaced(&route->replicas) &&
           !rlock__replicas_some_gone(&route->replicas);
}

/* Asks the Sentinels, also while we are connected: a master that they have replaced goes on
 * answering for a while. When none of them says anything the last one known is as good as any; what
 * is written there counts only when a replica has it. */
static enum rlock_status locate(struct rlock__route *route, const struct rlock__limit *limit) {
    const int64_t now = rlock_now_ms();
    const bool known = route->located_ms != 0;
    struct rlock__limit bound = bound_by_connecting(route, limit);
    if (known && is_fresh(route, now))
        return RLOCK_OK;
    if (known && !route->astray) {
        const int64_t quarter_ms = rlock__share_ms(now, bound.deadline_ms, 4);
        bound.deadline_ms = rlock__sooner_ms(quarter_ms, now + GLANCE_MS);
    }
    struct rlock__master master;
    const enum rlock_status status =
        rlock__sentinel_ask(route->site, &bound, &route->sentinel, &master, &route->error);
    if (status == RLOCK_OK) {
        rlock__link_move(&route->link, master.host, master.port);
        rlock__replicas_free(&route->replicas);
        route->replicas = master.replicas;
        route->astray = false;
    } else if ((status != RLOCK_AGAIN && status != RLOCK_UNAVAILABLE) || !known) {
        return status; /* Sentinels that forget a name may be told it again */
    } else {
        next_sentinel(route); /* this one may have taken all the time of one check */
    }
    route->located_ms = rlock_now_ms();
    return RLOCK_OK;
}

enum rlock_status rlock__route_find(struct rlock__route *route, const char *key,
                                    const struct rlock__limit *limit, struct rlock__link **out) {
    const struct rlock__limit bound = bound_by_connecting(route, limit);
    *out = &route->link;
    switch (route->site->server.topology) {
    case RLOCK__SINGLE: break;
    case RLOCK__SENTINEL: return locate(route, limit);
    case RLOCK__CLUSTER: return rlock__cluster_find(route->cluster, rlock__slot(key), &bound, out);
    }
    return RLOCK_OK;
}

enum rlock_status rlock__route_node(struct rlock__route *route, size_t *node,
                                    const struct rlock__limit *limit, struct rlock__link **out) {
    const struct rlock__limit bound = bound_by_connecting(route, limit);
    if (route->cluster != NULL)
        return rlock__cluster_node(route->cluster, node, &bound, out);
    *out = NULL;
    return *node == 0 ? rlock__route_find(route, "", limit, out) : RLOCK_OK;
}

const struct rlock__link *rlock__route_used(const struct rlock__route *route, const char *key) {
    const struct rlock__link *link = route->cluster != NULL
                                         ? rlock__cluster_serving(route->cluster, rlock__slot(key))
                                         : &route->link;
    return link != NULL && link->ready_ms > 0 ? link : NULL;
}

const struct rlock__replicas *rlock__route_named(const struct rlock__route *route) {
    return route->site->replicas == RLOCK_REPLICAS_AUTO &&
                   route->site->server.topology == RLOCK__SENTINEL && !route->no_role
               ? &route->replicas
               : NULL;
}

int rlock__route_replicas(const struct rlock__route *route, const struct rlock__link *link) {
    if (route->site->replicas != RLOCK_REPLICAS_AUTO)
        return route->site->replicas;
    return route->cluster != NULL ? link->has_replica && !link->lacks_wait
                                  : (int)rlock__replicas_wanted(&route->replicas, route->no_role);
}

bool rlock__route_without_wait(struct rlock__route *route, struct rlock__link *link) {
    if (route->site->fsync || route->site->replicas != RLOCK_REPLICAS_AUTO ||
        route->cluster == NULL)
        return false;
    link->lacks_wait = route->without_wait = true;
    return true;
}

bool rlock__route_sharded(const struct rlock__route *route, const char *key, const char *channel) {
    return route->cluster != NULL && rlock__cluster_sharded(route->cluster) &&
           rlock__slot(key) == rlock__slot(channel);
}

/* --- slots ------------------------------------------------------------------------------------ */

/* CRC16-CCITT in its XMODEM form, bit by bit: names are short. */
static unsigned crc16(const char *data, size_t size) {
    unsigned crc = 0;
    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned)(unsigned char)data[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000) != 0 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1 & 0xffff;
    }
    return crc;
}

unsigned rlock__slot(const char *key) {
    const char *open = strchr(key, '{');
    const char *close = open != NULL ? strchr(open + 1, '}') : NULL;
    const bool tagged = close != NULL && close > open + 1;
    const unsigned crc =
        tagged ? crc16(open + 1, (size_t)(close - open - 1)) : crc16(key, strlen(key));
    return crc % RLOCK__SLOTS;
}

/* --- the ways to all of a client's servers ---------------------------------------------------- */

void rlock__routes_close(struct rlock__routes *routes) {
    for (size_t i = 0; i < routes->count; i++)
        rlock__route_close(&routes->at[i]);
}

void rlock__routes_free(struct rlock__routes *routes) {
    for (size_t i = 0; i < routes->count; i++)
        rlock__route_free(&routes->at[i]);
    free(routes->at);
    *routes = (struct rlock__routes){.count = 0};
}

size_t rlock__majority(size_t count) {
    return count / 2 + 1;
}

bool rlock__routes_answered(const struct rlock__routes *routes) {
    size_t answered = 0;
    for (size_t i = 0; i < routes->count; i++)
        answered += routes->at[i].answered;
    return answered >= rlock__majority(routes->count);
}

void rlock__routes_explain(struct rlock__routes *routes, size_t answered, size_t silent) {
    const struct rlock__route *route = &routes->at[silent];
    const size_t majority = rlock__majority(routes->count);
    if (routes->count == 1)
        *routes->error = route->error;
    else
        rlock__error_set(routes->error, "%zu of %zu servers have answered, %zu %s; %s: %s",
                         answered, routes->count, majority,
                         answered < majority ? "are needed" : "must agree",
                         route->site->server.redacted, route->error.text);
}
