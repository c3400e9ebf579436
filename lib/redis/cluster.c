/* cluster.c: the nodes of a cluster, and which of them serves a slot. */
#include "redis/route.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "redis/link.h"

enum {
    NODES_MAX = 1000, /* Redis bears so many */
    KNOWN_MAX = 3000, /* with those that are gone */
    NOBODY = UINT16_MAX,
    ALONE_MS = 1000, /* for so long it is believed that a master has no replica */
    GLANCE_MS = 300, /* for asking again, while there is a master that answers */
};

struct node {
    struct rlock__link link;
    bool given;   /* in the URL */
    size_t named; /* the last answer that had it */
};

struct rlock__cluster {
    const struct rlock__access *access;
    struct rlock__error *error; /* the owner's */
    struct node **nodes;        /* also those that have left: their links may still be in use */
    size_t count;
    size_t answers; /* about the slots */
    size_t whole;   /* the last of them that had a node for each slot */
    size_t asked;   /* the node to begin with */
    bool known;     /* the slots are */
    int64_t learned_ms;
    bool sharded;
    uint16_t serves[RLOCK__SLOTS]; /* which node */
};

/* --- nodes ----------------------------------------------------------------------------------- */

/* Whether it is one of those that may answer. An address that the cluster names no more is not
 * asked again: where each roll-out brings new ones they would eat up all the time of those that
 * live. */
static bool is_there(const struct rlock__cluster *cluster, const struct node *node) {
    return node->given || node->named >= cluster->whole;
}

static size_t count_there(const struct rlock__cluster *cluster) {
    size_t count = 0;
    for (size_t i = 0; i < cluster->count; i++)
        count += is_there(cluster, cluster->nodes[i]);
    return count;
}

/* The node at that place, which is there; made when it is new. NOBODY: no memory, or too many. */
static uint16_t node_at(struct rlock__cluster *cluster, const char *host, const char *port) {
    for (size_t i = 0; i < cluster->count; i++) {
        if (!rlock__link_is_at(&cluster->nodes[i]->link, host, port))
            continue;
        cluster->nodes[i]->named = cluster->answers;
        return (uint16_t)i;
    }
    struct node *node = NULL;
    struct node **nodes = realloc(cluster->nodes, (cluster->count + 1) * sizeof(struct node *));
    if (nodes != NULL)
        cluster->nodes = nodes;
    if (nodes != NULL && cluster->count < KNOWN_MAX && count_there(cluster) < NODES_MAX)
        node = calloc(1, sizeof *node);
    if (node == NULL)
        return NOBODY;
    rlock__link_init(&node->link, host, port, cluster->access, cluster->error);
    node->named = cluster->answers;
    cluster->nodes[cluster->count] = node;
    return (uint16_t)cluster->count++;
}

void rlock__cluster_close(struct rlock__cluster *cluster) {
    for (size_t i = 0; i < cluster->count; i++)
        rlock__link_close(&cluster->nodes[i]->link);
}

void rlock__cluster_free(struct rlock__cluster *cluster) {
    if (cluster == NULL)
        return;
    rlock__cluster_close(cluster);
    for (size_t i = 0; i < cluster->count; i++)
        free(cluster->nodes[i]);
    free(cluster->nodes);
    free(cluster);
}

/* Takes over what the other knows. */
static bool copy(struct rlock__cluster *cluster, const struct rlock__cluster *like,
                 struct rlock__error *error) {
    *cluster = *like;
    cluster->error = error;
    cluster->count = 0;
    cluster->nodes = calloc(like->count, sizeof(struct node *));
    for (; cluster->nodes != NULL && cluster->count < like->count; cluster->count++) {
        const struct node *theirs = like->nodes[cluster->count];
        struct node *node = cluster->nodes[cluster->count] = malloc(sizeof *node);
        if (node == NULL)
            return false;
        *node = *theirs;
        rlock__link_like(&node->link, &theirs->link, cluster->access, error);
    }
    return cluster->nodes != NULL;
}

static bool add_hosts(struct rlock__cluster *cluster, const struct rlock__server *server) {
    for (size_t i = 0; i < server->host_count; i++) {
        const uint16_t node = node_at(cluster, server->hosts[i].name, server->hosts[i].port);
        if (node == NOBODY)
            return false;
        cluster->nodes[node]->given = true;
    }
    return true;
}

struct rlock__cluster *rlock__cluster_new(const struct rlock__site *site,
                                          const struct rlock__cluster *like,
                                          struct rlock__error *error) {
    struct rlock__cluster *cluster = calloc(1, sizeof *cluster);
    if (cluster == NULL)
        return NULL;
    cluster->access = &site->access;
    cluster->error = error;
    memset(cluster->serves, 0xff, sizeof cluster->serves); /* nobody, as far as is known */
    if (like != NULL ? copy(cluster, like, error) : add_hosts(cluster, &site->server))
        return cluster;
    rlock__cluster_free(cluster);
    return NULL;
}

/* --- slots ----------------------------------------------------------------------------------- */

/* The node that another one names; one without a host is that one's own. NOBODY: it can't be one,
 * or there are too many. */
static uint16_t node_named(struct rlock__cluster *cluster, const char *host, const char *port,
                           const struct rlock__link *told_by) {
    static const char own[] = "?";
    const bool named = host != NULL && *host != '\0' && strcmp(host, own) != 0;
    return rlock__is_place(named ? host : own, port)
               ? node_at(cluster, named ? host : told_by->host, port)
               : NOBODY;
}

/* The node of one {host, port, ...}. */
static uint16_t node_of(struct rlock__cluster *cluster, const rlock__reply *row,
                        const struct rlock__link *told_by) {
    int64_t port;
    char text[24];
    if (!rlock__reply_integer(row, 1, &port))
        return NOBODY;
    (void)snprintf(text, sizeof text, "%" PRId64, port);
    return node_named(cluster, rlock__reply_text(row, 0), text, told_by);
}

/* One row of CLUSTER SLOTS: first and last slot, the master, its replicas. What can't be read is
 * not known. */
static void note_range(struct rlock__cluster *cluster, const rlock__reply *row,
                       const struct rlock__link *told_by) {
    int64_t first, last;
    if (!rlock__reply_integer(row, 0, &first) || !rlock__reply_integer(row, 1, &last) ||
        first < 0 || last >= RLOCK__SLOTS)
        return;
    const uint16_t node = node_of(cluster, rlock__reply_at(row, 2), told_by);
    if (node == NOBODY)
        return;
    bool has_replica = false; /* without an address it is one that was reset: nobody follows */
    for (int64_t slot = first; slot <= last; slot++)
        cluster->serves[slot] = node;
    for (size_t i = 3; i < rlock__reply_count(row); i++) /* they may become masters */
        has_replica |= node_of(cluster, rlock__reply_at(row, i), told_by) != NOBODY;
    cluster->nodes[node]->link.has_replica = has_replica;
}

/* Redisson asks the same. RLOCK_DENIED: the server has the command, but the user may not use it. */
static bool knows_shards(struct rlock__link *link, const struct rlock__limit *limit) {
    const char *words[] = {"PUBSUB", "SHARDNUMSUB"};
    rlock__reply *reply = NULL;
    const enum rlock_status status = rlock__link_query(link, 2, words, limit, &reply);
    rlock__reply_free(reply);
    return status == RLOCK_OK || status == RLOCK_DENIED;
}

/* Whether a node serves a slot; NOBODY: whether there is a slot that nobody serves. */
static bool serves_any(const struct rlock__cluster *cluster, size_t node) {
    size_t slot = 0;
    while (slot < RLOCK__SLOTS && cluster->serves[slot] != node)
        slot++;
    return slot < RLOCK__SLOTS;
}

static enum rlock_status ask_node(struct rlock__cluster *cluster, struct rlock__link *link,
                                  const struct rlock__limit *limit) {
    const char *words[] = {"CLUSTER", "SLOTS"};
    rlock__reply *reply = NULL;
    link->most = RLOCK__RESP_MAP;
    const enum rlock_status status = rlock__link_query(link, 2, words, limit, &reply);
    if (status == RLOCK_OK) {
        memset(cluster->serves, 0xff, sizeof cluster->serves);
        cluster->answers++;
        for (size_t i = 0; i < rlock__reply_count(reply) && i < RLOCK__SLOTS; i++)
            note_range(cluster, rlock__reply_at(reply, i), link);
        /* A node that knows fewer may be new, or cut off: that is no reason to forget the others.
         */
        if (!serves_any(cluster, NOBODY))
            cluster->whole = cluster->answers;
    }
    rlock__reply_free(reply);
    return status;
}

static enum rlock_status learn(struct rlock__cluster *cluster, const struct rlock__limit *limit) {
    enum rlock_status worst = RLOCK_AGAIN;
    struct rlock__error why = {""};
    cluster->learned_ms = rlock_now_ms();
    const size_t there = count_there(cluster);
    for (size_t i = 0, left = there; i < cluster->count; i++) {
        const size_t which = (cluster->asked + i) % cluster->count;
        struct rlock__link *link = &cluster->nodes[which]->link;
        if (!is_there(cluster, cluster->nodes[which]))
            continue;
        const struct rlock__limit share = {
            rlock__share_ms(rlock_now_ms(), limit->deadline_ms, left), limit->cancel_fd};
        const enum rlock_status status = ask_node(cluster, link, &share);
        if (status == RLOCK_OK) {
            cluster->sharded = cluster->sharded || knows_shards(link, limit);
            cluster->asked = which;
            cluster->known = true;
            return RLOCK_OK;
        }
        if (left-- == there || (worst == RLOCK_AGAIN && status != RLOCK_AGAIN)) {
            worst = status;
            why = *cluster->error;
        }
        if (status == RLOCK_CANCELLED)
            return status;
    }
    *cluster->error = why;
    return worst;
}

struct rlock__link *rlock__cluster_serving(const struct rlock__cluster *cluster, unsigned slot) {
    const uint16_t master = cluster->serves[slot];
    return master != NOBODY ? &cluster->nodes[master]->link : NULL;
}

/* A failover leaves a master without a replica until the old one is back: from then on what is
 * written has to wait for it. When nobody says anything what was known is as good as any. */
static enum rlock_status ask_for_replica(struct rlock__cluster *cluster, unsigned slot,
                                         const struct rlock__limit *limit) {
    const struct rlock__link *master = rlock__cluster_serving(cluster, slot);
    const int64_t now = rlock_now_ms();
    struct rlock__limit bound = *limit;
    bound.deadline_ms = rlock__sooner_ms(limit->deadline_ms, now + GLANCE_MS);
    if (master == NULL || master->has_replica || now < cluster->learned_ms + ALONE_MS)
        return RLOCK_OK;
    return learn(cluster, &bound) == RLOCK_CANCELLED ? RLOCK_CANCELLED : RLOCK_OK;
}

enum rlock_status rlock__cluster_find(struct rlock__cluster *cluster, unsigned slot,
                                      const struct rlock__limit *limit, struct rlock__link **out) {
    const enum rlock_status status =
        cluster->known ? ask_for_replica(cluster, slot, limit) : learn(cluster, limit);
    if (status != RLOCK_OK)
        return status;
    *out = rlock__cluster_serving(cluster, slot);
    if (*out != NULL)
        return RLOCK_OK;
    rlock__cluster_doubt(cluster);
    rlock__error_set(cluster->error, "CLUSTERDOWN: no node serves slot %u", slot);
    return RLOCK_AGAIN;
}

enum rlock_status rlock__cluster_node(struct rlock__cluster *cluster, size_t *node,
                                      const struct rlock__limit *limit, struct rlock__link **out) {
    const enum rlock_status status = cluster->known ? RLOCK_OK : learn(cluster, limit);
    while (status == RLOCK_OK && *node < cluster->count && !serves_any(cluster, *node))
        ++*node;
    *out = status == RLOCK_OK && *node < cluster->count ? &cluster->nodes[*node]->link : NULL;
    return status;
}

struct rlock__link *rlock__cluster_redirected(struct rlock__cluster *cluster,
                                              const struct rlock__link *from, const char *text,
                                              bool *asking) {
    char host[RLOCK__HOST_SIZE];
    const char *port;
    unsigned long slot;
    if (!rlock__reply_error_place(text, &slot, host, &port) || slot >= RLOCK__SLOTS)
        return NULL;
    *asking = text[0] == 'A';
    const uint16_t node = node_named(cluster, host, port, from);
    if (node == NOBODY)
        return NULL;
    if (!*asking) {
        cluster->serves[slot] = node;
        cluster->known = false; /* where one slot went others may have gone */
    }
    return &cluster->nodes[node]->link;
}

/* The node that said so may be cut off from the others and go on: another one is asked. */
void rlock__cluster_doubt(struct rlock__cluster *cluster) {
    cluster->known = false;
    cluster->asked++;
}

bool rlock__cluster_sharded(const struct rlock__cluster *cluster) {
    return cluster->sharded;
}
