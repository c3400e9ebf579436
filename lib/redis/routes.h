/* routes.h: the ways to all of a client's servers, of which a majority decides. */
#ifndef RLOCK_ROUTES_H
#define RLOCK_ROUTES_H

#include "redis/route.h"

/* For one thread: for taking and giving back, for a keeper, for listening. */
struct rlock__routes {
    size_t count;
    struct rlock__route *at;
    struct rlock__error *error; /* its owner's: of the last request as a whole */
};

void rlock__routes_free(struct rlock__routes *routes);
void rlock__routes_close(struct rlock__routes *routes);

/* How many of so many servers are a majority. */
size_t rlock__majority(size_t count);

/* True: so many servers have said something, ever, that a lock could be had. */
bool rlock__routes_answered(const struct rlock__routes *routes);

/* True: to one of them a request went out whose answer never came. */
bool rlock__routes_in_doubt(const struct rlock__routes *routes);

/* Says in routes->error what became of a request that too few servers have answered: how many
 * have, and which is one of those that have not. */
void rlock__routes_explain(struct rlock__routes *routes, size_t answered, size_t silent);

#endif
