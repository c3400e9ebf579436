/* routes.c: the ways to all of a client's servers. */
#include "redis/routes.h"

#include <stdlib.h>

void rlock__routes_close(struct rlock__routes *routes) {
    for (size_t i = 0; i < routes->count; i++)
        rlock__route_close(&routes->at[i]);
}

void rlock__routes_free(struct rlock__routes *routes) {
    for (size_t i = 0; i < routes->count; i++)
        rlock__route_free(&routes->at[i]);
    free(routes->at);
    *routes = (struct rlock__routes){.count = 0};
}

size_t rlock__majority(size_t count) {
    return count / 2 + 1;
}

bool rlock__routes_answered(const struct rlock__routes *routes) {
    size_t answered = 0;
    for (size_t i = 0; i < routes->count; i++)
        answered += routes->at[i].answered;
    return answered >= rlock__majority(routes->count);
}

bool rlock__routes_in_doubt(const struct rlock__routes *routes) {
    for (size_t i = 0; i < routes->count; i++) {
        if (routes->at[i].in_doubt)
            return true;
    }
    return false;
}

void rlock__routes_explain(struct rlock__routes *routes, size_t answered, size_t silent) {
    const struct rlock__route *route = &routes->at[silent];
    if (routes->count == 1)
        *routes->error = route->error;
    else
        rlock__error_set(routes->error, "%zu of %zu servers have answered, %zu are needed; %s: %s",
                         answered, routes->count, rlock__majority(routes->count),
                         route->site->server.redacted, route->error.text);
}
