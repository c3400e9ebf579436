/* cluster.h: the nodes of a cluster, and which of them serves a slot. */
#ifndef RLOCK_CLUSTER_H
#define RLOCK_CLUSTER_H

#include "redis/link.h"
#include "redis/url.h"

struct rlock__cluster;

/* A cluster of which the URL's hosts are known, or what `like` knows of it. error: where to say
 * what went wrong; borrowed. NULL: no memory. */
struct rlock__cluster *rlock__cluster_new(const struct rlock__server *server,
                                          const struct rlock__access *access,
                                          const struct rlock__cluster *like,
                                          struct rlock__error *error);
void rlock__cluster_free(struct rlock__cluster *cluster);
void rlock__cluster_close(struct rlock__cluster *cluster);

/* The link to the node that serves a slot; asks the cluster where that is not known, and once a
 * second where that node has no replica. RLOCK_OK, RLOCK_AGAIN, RLOCK_UNAVAILABLE (it is no
 * cluster), RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_SYSTEM. */
enum rlock_status rlock__cluster_find(struct rlock__cluster *cluster, unsigned slot,
                                      const struct rlock__limit *limit, struct rlock__link **out);

/* The i-th of the nodes that serve slots, as far as they are known; NULL past the last. */
struct rlock__link *rlock__cluster_master(struct rlock__cluster *cluster, size_t i);

/* The first node from *node on that serves a slot, by a number that stays its own; *out: NULL when
 * there is none any more. Returns as rlock__cluster_find(). */
enum rlock_status rlock__cluster_node(struct rlock__cluster *cluster, size_t *node,
                                      const struct rlock__limit *limit, struct rlock__link **out);

/* Where an error reply sends us, as "MOVED 3999 10.0.0.1:6381" or "ASK ...". NULL: nowhere.
 * *asking: only this once, after ASKING. */
struct rlock__link *rlock__cluster_redirected(struct rlock__cluster *cluster,
                                              const struct rlock__link *from, const char *text,
                                              bool *asking);

/* What is known may not be true any more: ask again next time. */
void rlock__cluster_doubt(struct rlock__cluster *cluster);

/* Whether a cluster's node, by its link, had a replica when the cluster was asked last, and
 * can say what that has. */
bool rlock__cluster_has_replica(const struct rlock__link *link);

/* Notes that a node cannot tell what its replica has: it has no WAIT. */
void rlock__cluster_lacks_wait(struct rlock__link *link);

/* Whether that is so of one of them. */
bool rlock__cluster_some_lack_wait(const struct rlock__cluster *cluster);

/* Whether the nodes know sharded channels (Redis 7.0). */
bool rlock__cluster_sharded(const struct rlock__cluster *cluster);

#endif
