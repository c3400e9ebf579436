/* route.h: the way to where a lock lives: one server, the master that Sentinels name, or the node
 * of a cluster that serves a name's slot. */
#ifndef RLOCK_ROUTE_H
#define RLOCK_ROUTE_H

#include <stdatomic.h>

#include "redis/cluster.h"
#include "redis/sentinel.h"

/* One of the user's servers: what the URL says, and how one gets in. */
struct rlock__site {
    struct rlock__server server;
    struct rlock__access access; /* to what keeps the data */
    struct rlock__access finder; /* to the Sentinels that know where that is */
    int replicas;                /* how many must acknowledge; RLOCK_REPLICAS_AUTO */
    bool fsync;                  /* ... and have it on disk, as must the server itself */
    int64_t replica_timeout_ms;  /* for all of that */
};

struct rlock__route {
    const struct rlock__site *site;  /* borrowed */
    struct rlock__link link;         /* of a cluster: unused */
    struct rlock__cluster *cluster;  /* NULL: none */
    const struct rlock__link *used;  /* by the last request that was answered; NULL: none was */
    size_t sentinel;                 /* which has answered last */
    int64_t located_ms;              /* when; 0: never */
    bool astray;                     /* what was there is the master no more */
    struct rlock__replicas replicas; /* as the Sentinels know them */
    bool no_role;                    /* the master does not tell us who its replicas are */
    atomic_bool answered;            /* a server has said something, ever; keepers read it, too */
    bool in_doubt;                   /* a request went out whose answer never came */
    struct rlock__error error;
    struct rlock__error told; /* why not now, in the server's words; "": it was done since */
};

/* A route that connects on first use. like: what is known there is taken over, NULL: nothing.
 * False: no memory. */
bool rlock__route_init(struct rlock__route *route, const struct rlock__site *site,
                       const struct rlock__route *like);
void rlock__route_free(struct rlock__route *route);

/* Closes the connections; the route can be used again. */
void rlock__route_close(struct rlock__route *route);

/* The link to where a key lives. Of a single server at once; Sentinels and nodes are asked where
 * that is not known, or not surely any more.
 * RLOCK_OK. RLOCK_AGAIN: not now. RLOCK_UNAVAILABLE, RLOCK_DENIED: never. RLOCK_CANCELLED,
 * RLOCK_SYSTEM. route->error says why. */
enum rlock_status rlock__route_find(struct rlock__route *route, const char *key,
                                    const struct rlock__limit *limit, struct rlock__link **out);

/* The link to one of those that have all keys between them: the server, the master, each node of a
 * cluster that serves a slot. *node: from 0; it is set to the first from there on, *out to NULL
 * past the last. Returns as rlock__route_find(). */
enum rlock_status rlock__route_node(struct rlock__route *route, size_t *node,
                                    const struct rlock__limit *limit, struct rlock__link **out);

/* Where an error reply sends us; NULL: nowhere. See rlock__cluster_redirected(). */
struct rlock__link *rlock__route_redirected(struct rlock__route *route,
                                            const struct rlock__link *from, const char *text,
                                            bool *asking);

/* It did not work there: find out anew where to go, next time. */
void rlock__route_doubt(struct rlock__route *route);

/* Which replicas must acknowledge what is written, where a number is not enough; NULL: it is. */
const struct rlock__replicas *rlock__route_named(const struct rlock__route *route);

/* How many must acknowledge what is written over that link. */
int rlock__route_replicas(const struct rlock__route *route, const struct rlock__link *link);

/* The server behind that link has no WAIT. True: none has to acknowledge it then, for nobody has
 * asked for that. */
bool rlock__route_without_wait(const struct rlock__route *route, struct rlock__link *link);

/* Whether messages about a key go over a channel of its shard. Not those of a latch whose name has
 * braces: its channel has a slot of its own, which its scripts can't speak on. */
bool rlock__route_sharded(const struct rlock__route *route, const char *key, const char *channel);

#endif
