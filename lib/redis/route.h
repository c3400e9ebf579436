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
    size_t sentinel;                 /* the one that answered last */
    int64_t located_ms;              /* when; 0: never */
    bool astray;                     /* the server there is not the master any more */
    struct rlock__replicas replicas; /* as the Sentinels know them */
    bool no_role;                    /* the master does not list its replicas to us */
    atomic_bool answered;            /* a server has ever replied; keepers read it, too */
    bool in_doubt;                   /* a request was sent, and its reply did not arrive */
    struct rlock__error error;
    struct rlock__error told; /* the server's error; "": a request succeeded since */
};

/* A route that connects on first use. like: copies what that route knows; NULL: nothing. False: out
 * of memory. */
bool rlock__route_init(struct rlock__route *route, const struct rlock__site *site,
                       const struct rlock__route *like);
void rlock__route_free(struct rlock__route *route);

/* Closes the connections; the route can be used again. */
void rlock__route_close(struct rlock__route *route);

/* The link to the server of a key. For a single server at once; Sentinels and nodes are asked if it
 * is unknown, or may have changed.
 * RLOCK_OK. RLOCK_AGAIN: not now. RLOCK_UNAVAILABLE, RLOCK_DENIED: never. RLOCK_CANCELLED,
 * RLOCK_SYSTEM. route->error says why. */
enum rlock_status rlock__route_find(struct rlock__route *route, const char *key,
                                    const struct rlock__limit *limit, struct rlock__link **out);

/* The link to one of those that have all keys between them: the server, the master, each node of a
 * cluster that serves a slot. *node: from 0; it is set to the first from there on, *out to NULL
 * past the last. Returns as rlock__route_find(). */
enum rlock_status rlock__route_node(struct rlock__route *route, size_t *node,
                                    const struct rlock__limit *limit, struct rlock__link **out);

/* The link that an error reply redirects to; NULL: none. See rlock__cluster_redirected(). */
struct rlock__link *rlock__route_redirected(struct rlock__route *route,
                                            const struct rlock__link *from, const char *text,
                                            bool *asking);

/* The last request failed: look the server up again before the next. */
void rlock__route_doubt(struct rlock__route *route);

/* The replicas that must acknowledge writes; NULL: a number of them is enough. */
const struct rlock__replicas *rlock__route_named(const struct rlock__route *route);

/* How many must acknowledge writes over that link. */
int rlock__route_replicas(const struct rlock__route *route, const struct rlock__link *link);

/* The server of that link has no WAIT. True: the user did not ask for replicas, so none has to
 * acknowledge. */
bool rlock__route_without_wait(const struct rlock__route *route, struct rlock__link *link);

/* Whether messages about a key use a sharded channel. Not for a latch with braces in its name: its
 * channel has another slot, to which its scripts cannot publish. */
bool rlock__route_sharded(const struct rlock__route *route, const char *key, const char *channel);

#endif
