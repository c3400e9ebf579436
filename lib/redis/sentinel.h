/* sentinel.h: asks Sentinels which server is the master.
 *
 * As the guidelines for Redis clients with Sentinel support have it; but that the server's own word
 * (ROLE) is not asked for: it would cost every run a round trip, and a server that is not the
 * master says so (READONLY), or has no replica to acknowledge what it did (WAIT). */
#ifndef RLOCK_SENTINEL_H
#define RLOCK_SENTINEL_H

#include "redis/replicas.h"
#include "redis/url.h"

struct rlock__master {
    char host[RLOCK__HOST_SIZE];
    char port[RLOCK__PORT_SIZE];
    struct rlock__replicas replicas; /* the caller's when it is RLOCK_OK */
};

/* Asks one Sentinel after the other, beginning with *first, and leaves in *first which answered.
 * want_replicas: whether they are asked for; else there are none.
 * RLOCK_OK. RLOCK_AGAIN: none has answered. RLOCK_UNAVAILABLE: they do not know that master.
 * RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_SYSTEM. *answered: one has said something. */
enum rlock_status rlock__sentinel_ask(const struct rlock__server *server,
                                      const struct rlock__access *access,
                                      const struct rlock__limit *limit, bool want_replicas,
                                      size_t *first, struct rlock__master *out,
                                      struct rlock__error *error);

#endif
