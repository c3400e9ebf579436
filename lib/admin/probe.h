/* probe.h: the inside of rlock_probe(): one server at a time is asked what it is like. */
#ifndef RLOCK_PROBE_H
#define RLOCK_PROBE_H

#include "admin/facts.h"
#include "redis/client.h"

struct rlock__probe {
    rlock_client *client;
    const struct rlock_probe_options *options;
    struct rlock__link *link; /* to the server; its error says what went wrong */
    struct rlock__facts *facts;
    enum rlock_status status; /* not RLOCK_OK: nothing is asked any more */
    enum rlock_status answer; /* to the last question: RLOCK_OK, or what the error means */
};

/* Asks one question of at most four words. NULL: no answer, or an error, which is in the link then.
 * The caller frees it. */
rlock__reply *rlock__probe_ask(struct rlock__probe *probe, size_t count, const char *const *words);

/* How long one question may take. */
struct rlock__limit rlock__probe_limit(const struct rlock__probe *probe);

/* What the server says of itself: probe_server.c. */
void rlock__probe_server(struct rlock__probe *probe);

/* What the Sentinels say that the URL names: probe_sentinel.c. */
void rlock__probe_sentinels(struct rlock__probe *probe);

/* Which rights this user lacks, by kind: probe_rights.c. */
void rlock__probe_rights(struct rlock__probe *probe);

/* How long it takes to take a lock and to give it back: probe_cycle.c. */
void rlock__probe_cycle(struct rlock__probe *probe);

#endif
