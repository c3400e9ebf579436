/* route.h: the way to where a lock lives: one server, the master that Sentinels name, or the node
 * of a cluster that serves a name's slot. */
#ifndef RLOCK_ROUTE_H
#define RLOCK_ROUTE_H

#include <stdatomic.h>

#include "redis/conn.h"
#include "redis/link.h"
#include "redis/url.h"

/* One of the user's servers: what the URL says, and how one gets in. */
struct rlock__site {
    struct rlock__server server;
    struct rlock__access access; /* to what keeps the data */
    struct rlock__access finder; /* to the Sentinels that know where that is */
    int replicas;                /* how many must acknowledge; RLOCK_REPLICAS_AUTO */
    bool fsync;                  /* ... and have it on disk, as must the server itself */
    int64_t replica_timeout_ms;  /* for all of that */
};

/* --- sentinel.c: which server is the master, and which of its replicas could become it -------- */

/* replicas.c: one of a master's replicas, as a Sentinel sees it. */
struct rlock__replica {
    char host[RLOCK__HOST_SIZE];
    char port[RLOCK__PORT_SIZE];
    bool promotable;   /* it has a priority */
    bool gone;         /* down, or silent for so long that a Sentinel would not choose it */
    int64_t silent_ms; /* for how long it has not answered */
    bool has_nothing; /* when the Sentinel looked last it was a replaced master that follows nobody,
                         or had not synced yet: it would lose the locks whatever is waited for */
};

/* All of them. at is the owner's, to be freed with rlock__replicas_free. */
struct rlock__replicas {
    bool unknown; /* not all could be read: whatever follows the master may become it */
    size_t count;
    struct rlock__replica *at;
};

enum { RLOCK__REPLICAS_MAX = 256 }; /* of one master */

/* The port that a follower has which is not a server, such as a backup by redis-cli. */
#define RLOCK__NO_SERVER "0"

/* False: out of memory. */
bool rlock__replicas_copy(struct rlock__replicas *out, const struct rlock__replicas *from);
void rlock__replicas_free(struct rlock__replicas *replicas);

/* Removes the one at that address: it is the master. */
void rlock__replicas_without(struct rlock__replicas *replicas, const char *host, const char *port);

/* True: the Sentinel reports one with a priority as gone. */
bool rlock__replicas_some_gone(const struct rlock__replicas *replicas);

/* True: a master that was replaced is not a replica yet; it may be one soon, and be promoted. */
bool rlock__replicas_some_replaced(const struct rlock__replicas *replicas);

/* Keeps as gone only replicas that have been silent for clearly longer than a majority of the
 * Sentinels, of which the one that reports them has not heard for heard_ms: otherwise that one is
 * cut off itself, or was until now. */
void rlock__replicas_believe(struct rlock__replicas *replicas, int64_t heard_ms);

/* Keeps as gone only replicas that another Sentinel does not hear either. theirs: those that it
 * knows; when they are unknown it may hear them all. */
void rlock__replicas_agree(struct rlock__replicas *replicas, const struct rlock__replicas *theirs);

/* How many must have what is written; alive_too: and how many may have it besides. */
size_t rlock__replicas_wanted(const struct rlock__replicas *replicas, bool alive_too);

enum rlock__having {
    RLOCK__ALL_HAVE_IT,
    RLOCK__SOME_WILL,  /* all that must are there, and not all have it yet */
    RLOCK__ONE_IS_AWAY /* it does not follow this master, or no more */
};

/* Whether those that must have it do. role: the master's answer to ROLE; acked: how many had it
 * when WAIT ended, just before. *which: one that has not; NULL: none that was known. */
enum rlock__having rlock__replicas_have(const struct rlock__replicas *replicas,
                                        const rlock__reply *role, int64_t acked,
                                        const struct rlock__replica **which);

struct rlock__master {
    char host[RLOCK__HOST_SIZE];
    char port[RLOCK__PORT_SIZE];
    struct rlock__replicas replicas; /* the caller's when it is RLOCK_OK */
};

/* Whether a Sentinel may be asked with a login of that number, which is in *access then. First with
 * none, for it gets the password only if it requires one; then with the user's; then with the
 * password alone, for the user may be the servers'. */
bool rlock__sentinel_login(struct rlock__access *access, const struct rlock__access *finder,
                           unsigned login);

/* Asks one Sentinel of the site after the other, beginning with *first, and leaves in *first which
 * answered. With RLOCK_REPLICAS_AUTO the replicas are asked for, too; else there are none.
 * RLOCK_OK. RLOCK_AGAIN: none has answered. RLOCK_UNAVAILABLE: they do not know that master.
 * RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_SYSTEM. */
enum rlock_status rlock__sentinel_ask(const struct rlock__site *site,
                                      const struct rlock__limit *limit, size_t *first,
                                      struct rlock__master *out, struct rlock__error *error);

/* --- cluster.c: the nodes of a cluster, and which of them serves a slot ----------------------- */

enum { RLOCK__SLOTS = 16384 };

struct rlock__cluster;

/* A cluster of which the URL's hosts are known, or what `like` knows of it. error: where to say
 * what went wrong; borrowed. NULL: no memory. */
struct rlock__cluster *rlock__cluster_new(const struct rlock__site *site,
                                          const struct rlock__cluster *like,
                                          struct rlock__error *error);
void rlock__cluster_free(struct rlock__cluster *cluster);
void rlock__cluster_close(struct rlock__cluster *cluster);

/* The link to the node that serves a slot; asks the cluster where that is not known, and once a
 * second where that node has no replica. RLOCK_OK, RLOCK_AGAIN, RLOCK_UNAVAILABLE (it is no
 * cluster), RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_SYSTEM. */
enum rlock_status rlock__cluster_find(struct rlock__cluster *cluster, unsigned slot,
                                      const struct rlock__limit *limit, struct rlock__link **out);

/* The link to the node that serves a slot, as far as is known; NULL: it is not. */
struct rlock__link *rlock__cluster_serving(const struct rlock__cluster *cluster, unsigned slot);

/* The first node from *node on that serves a slot, by a number that stays its own; the cluster is
 * asked where they are not known. *out: NULL: there is none any more. Returns as
 * rlock__cluster_find(). */
enum rlock_status rlock__cluster_node(struct rlock__cluster *cluster, size_t *node,
                                      const struct rlock__limit *limit, struct rlock__link **out);

/* Where an error reply sends us, as "MOVED 3999 10.0.0.1:6381" or "ASK ...". NULL: nowhere.
 * *asking: only this once, after ASKING. */
struct rlock__link *rlock__cluster_redirected(struct rlock__cluster *cluster,
                                              const struct rlock__link *from, const char *text,
                                              bool *asking);

/* What is known may not be true any more: ask again next time. */
void rlock__cluster_doubt(struct rlock__cluster *cluster);

/* Whether the nodes know sharded channels (Redis 7.0). */
bool rlock__cluster_sharded(const struct rlock__cluster *cluster);

/* --- route.c: the way ------------------------------------------------------------------------- */

struct rlock__route {
    const struct rlock__site *site;  /* borrowed */
    struct rlock__link link;         /* of a cluster: unused */
    struct rlock__cluster *cluster;  /* NULL: none */
    size_t sentinel;                 /* the one that answered last */
    int64_t located_ms;              /* when; 0: never */
    bool astray;                     /* the server there is not the master any more */
    struct rlock__replicas replicas; /* as the Sentinels know them */
    bool no_role;                    /* the master does not list its replicas to us */
    bool without_wait;               /* a cluster's node cannot tell what its replica has */
    atomic_bool answered;            /* a server has ever replied; keepers read it, too */
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

/* The link that requests about a key use; NULL: as far as is known it has never been connected. */
const struct rlock__link *rlock__route_used(const struct rlock__route *route, const char *key);

/* The link to one of those that have all keys between them: the server, the master, each node of a
 * cluster that serves a slot. *node: from 0; it is set to the first from there on, *out to NULL
 * past the last. Returns as rlock__route_find(). */
enum rlock_status rlock__route_node(struct rlock__route *route, size_t *node,
                                    const struct rlock__limit *limit, struct rlock__link **out);

/* The last request failed: look the server up again before the next. */
void rlock__route_doubt(struct rlock__route *route);

/* The replicas that must acknowledge writes, which the master lists; NULL: a number of them is
 * enough. */
const struct rlock__replicas *rlock__route_named(const struct rlock__route *route);

/* How many must acknowledge writes over that link. */
int rlock__route_replicas(const struct rlock__route *route, const struct rlock__link *link);

/* The server of that link has no WAIT. True: the user did not ask for replicas, so none has to
 * acknowledge. */
bool rlock__route_without_wait(struct rlock__route *route, struct rlock__link *link);

/* Whether messages about a key use a sharded channel. Not for a latch with braces in its name: its
 * channel has another slot, to which its scripts cannot publish. */
bool rlock__route_sharded(const struct rlock__route *route, const char *key, const char *channel);

/* The ways to all of a client's servers, of which a majority decides.
 * For one thread. Each has its own: the client, a keeper, a listener. */
struct rlock__routes {
    size_t count;
    struct rlock__route *at;
    struct rlock__error *error; /* the owner's: of the last request as a whole */
};

void rlock__routes_free(struct rlock__routes *routes);
void rlock__routes_close(struct rlock__routes *routes);

/* How many of so many servers are a majority. */
size_t rlock__majority(size_t count);

/* True: enough servers have ever replied for a majority. */
bool rlock__routes_answered(const struct rlock__routes *routes);

/* Sets routes->error for a request that too few servers answered, or not alike: how many did, and
 * one that did not. */
void rlock__routes_explain(struct rlock__routes *routes, size_t answered, size_t silent);

/* The slot of a key, or of a shard channel (Redis Cluster specification, "Hash tags"):
 * CRC16 of what stands between its first { and the next }, and of all of it where nothing does. */
unsigned rlock__slot(const char *key);

#endif
