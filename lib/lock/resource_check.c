/* resource_check.c: looks whether one name is still held, by a majority; changes nothing. */
#include <inttypes.h>
#include <stdio.h>

#include "lock/lock.h"
#include "lock/vote.h"

enum { KEPT = 1, NOT_OURS = 0 };

/* Of so many times the one that a majority has, or more. */
static int64_t majority_of(const int64_t *times, size_t count) {
    const size_t majority = rlock__vote_majority(count);
    int64_t best = 0;
    for (size_t i = 0; i < count; i++) {
        size_t as_long = 0;
        for (size_t j = 0; j < count; j++)
            as_long += times[j] >= times[i];
        if (as_long >= majority && times[i] > best)
            best = times[i];
    }
    return best;
}

static enum rlock_status vote_of(const struct rlock_lock *lock, struct rlock__run *run,
                                 int64_t *ttl_ms) {
    const struct rlock__answer *answer = &run->answer;
    if (run->status != RLOCK_OK)
        return run->status;
    if (answer->code == NOT_OURS)
        return RLOCK_LOST;
    if (answer->code != KEPT)
        return rlock__resource_odd_answer(run, lock->kind->check);
    *ttl_ms = answer->a < 0 ? RLOCK_FOREVER : answer->a;
    return RLOCK_OK;
}

enum rlock_status rlock__resource_check(const struct rlock_lock *lock,
                                        const struct rlock__resource *resource,
                                        const struct rlock__limit *limit, int64_t *ttl_ms) {
    struct rlock__routes *routes = &lock->client->routes;
    struct rlock__call call = rlock__resource_call_held(lock, resource, resource->hold.owner);
    struct rlock__run runs[RLOCK_SERVERS_MAX];
    enum rlock_status votes[RLOCK_SERVERS_MAX];
    int64_t times[RLOCK_SERVERS_MAX] = {0};
    char token[24];
    (void)snprintf(token, sizeof token, "%" PRId64, resource->hold.token);
    call.args[call.arg_count++] = token;
    for (size_t i = 0; i < routes->count; i++)
        runs[i] = (struct rlock__run){.route = &routes->at[i], .call = &call};
    rlock__script_run_all(runs, routes->count, rlock__vote_majority(routes->count),
                          lock->kind->check, limit);
    for (size_t i = 0; i < routes->count; i++)
        votes[i] = vote_of(lock, &runs[i], &times[i]);
    for (size_t i = 0; i < routes->count; i++)
        rlock__reply_free(runs[i].answer.reply);
    *ttl_ms = majority_of(times, routes->count);
    return rlock__vote_count(routes, votes);
}
