/* token.c: the one token of a hold on several servers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lock/lock.h"
#include "lock/vote.h"
#include "os/clock.h"

enum { ROUNDS = 8 };

enum { GRANTED = 1 };

size_t rlock__resource_propose_token(const struct rlock_lock *lock,
                                     struct rlock__resource *resource, struct rlock__routes *routes,
                                     int64_t token, const struct rlock__limit *limit,
                                     int64_t *known, enum rlock_status *denied) {
    struct rlock__call calls[RLOCK_SERVERS_MAX];
    struct rlock__run runs[RLOCK_SERVERS_MAX];
    size_t instances[RLOCK_SERVERS_MAX], count = 0, know_it = 0;
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, token);
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        know_it += instance->held && instance->token == token;
        if (!instance->held || instance->token == token)
            continue;
        calls[count] = rlock__resource_call(lock, resource,
                                            rlock__resource_owner_on(lock, resource, instance));
        calls[count].args[calls[count].arg_count++] = text;
        runs[count] = (struct rlock__run){.route = &routes->at[i], .call = &calls[count]};
        instances[count++] = i;
    }
    const size_t majority = rlock__vote_majority(resource->instance_count);
    if (know_it >= majority)
        return know_it;
    rlock__script_run_all(runs, count, majority - know_it, RLOCK__TOKEN_RAISE, limit);
    for (size_t i = 0; i < count; i++) {
        if (runs[i].status == RLOCK_DENIED) {
            *denied = RLOCK_DENIED;
            routes->error = runs[i].route->error;
        }
        if (runs[i].status != RLOCK_OK)
            continue;
        if (runs[i].answer.code == GRANTED) {
            resource->instances[instances[i]].token = token;
            know_it++;
        } else if (runs[i].answer.a > *known) {
            *known = runs[i].answer.a;
        }
    }
    for (size_t i = 0; i < count; i++)
        rlock__reply_free(runs[i].answer.reply);
    return know_it;
}

enum rlock_status rlock__resource_agree_on_token(struct rlock_lock *lock,
                                                 struct rlock__resource *resource,
                                                 const struct rlock__limit *limit) {
    struct rlock__routes *routes = &lock->client->routes;
    const size_t majority = rlock__vote_majority(resource->instance_count);
    enum rlock_status status = RLOCK_AGAIN;
    for (int round = 0; round < ROUNDS && status == RLOCK_AGAIN; round++) {
        int64_t known = resource->hold.token;
        if (rlock__resource_propose_token(lock, resource, routes, known, limit, &known, &status) >=
            majority)
            return RLOCK_OK;
        if (known == resource->hold.token || known == INT64_MAX)
            break; /* nobody has said no: they do not answer; or tokens have come to their end */
        resource->hold.token = known + 1;
    }
    if (status == RLOCK_AGAIN)
        rlock__error_set(&routes->error, "no majority of the servers agrees on a token");
    return status;
}
