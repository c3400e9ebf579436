/* routes.h: the ways to all of a client's servers, of which a majority decides. */
#ifndef RLOCK_ROUTES_H
#define RLOCK_ROUTES_H

#include "redis/route.h"

/* For one thread. Each has its own: the client, a keeper, a listener. */
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

/* True: a request was sent to one of them, and its reply did not arrive. */
bool rlock__routes_in_doubt(const struct rlock__routes *routes);

/* Sets routes->error for a request that too few servers answered: how many did, and one that did
 * not. */
void rlock__routes_explain(struct rlock__routes *routes, size_t answered, size_t silent);

#endif
