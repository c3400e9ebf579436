/* replicas.h: which of a master's replicas could become the master, and whether they have what was
 * written. */
#ifndef RLOCK_REPLICAS_H
#define RLOCK_REPLICAS_H

#include "redis/conn.h"
#include "redis/link.h"

/* One, as a Sentinel sees it. */
struct rlock__replica {
    char host[RLOCK__HOST_SIZE];
    char port[RLOCK__PORT_SIZE];
    bool promotable;   /* it has a priority */
    bool gone;         /* down, or silent for so long that a Sentinel would not choose it */
    int64_t silent_ms; /* for how long it has not answered */
    bool was_master;   /* it was replaced, and follows nobody, when the Sentinel looked last */
};

/* All of them. at is the owner's, to be freed with rlock__replicas_free. */
struct rlock__replicas {
    bool unknown; /* not all could be read: whatever follows the master may become it */
    size_t count;
    struct rlock__replica *at;
};

/* Reads the answer to SENTINEL REPLICAS; *out is empty at first. False: out of memory. */
bool rlock__replicas_read(struct rlock__replicas *out, const rlock__reply *rows);
bool rlock__replicas_copy(struct rlock__replicas *out, const struct rlock__replicas *from);
void rlock__replicas_free(struct rlock__replicas *replicas);

/* Removes the one at that address: it is the master. */
void rlock__replicas_without(struct rlock__replicas *replicas, const char *host, const char *port);

/* True: the Sentinel reports one with a priority as gone. */
bool rlock__replicas_some_gone(const struct rlock__replicas *replicas);

/* True: a master that was replaced is not a replica yet; it may be one soon, and be promoted. */
bool rlock__replicas_some_replaced(const struct rlock__replicas *replicas);

/* Keeps as gone only replicas that have been silent for clearly longer than a majority of the
 * Sentinels: otherwise the Sentinel that reports them is cut off itself, or was until now. others:
 * its reply to SENTINEL SENTINELS. */
void rlock__replicas_believe(struct rlock__replicas *replicas, const rlock__reply *others);

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

#endif
