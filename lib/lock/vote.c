/* vote.c: what several servers say together. */
#include "lock/vote.h"

#include <string.h>

size_t rlock__vote_majority(size_t count) {
    return count / 2 + 1;
}

static size_t count_of(const enum rlock_status *votes, size_t count, enum rlock_status what,
                       size_t *last) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (votes[i] == what) {
            found++;
            *last = i;
        }
    }
    return found;
}

enum rlock_status rlock__vote_count(struct rlock__routes *routes, const enum rlock_status *votes) {
    /* What more tries would not change. */
    static const enum rlock_status final[] = {
        RLOCK_LOST,   RLOCK_WRONG_KIND,  RLOCK_REFUSED, RLOCK_OUSTED,
        RLOCK_DENIED, RLOCK_UNAVAILABLE, RLOCK_SYSTEM,
    };
    const size_t count = routes->count, majority = rlock__vote_majority(count);
    size_t which = 0;
    const size_t yes = count_of(votes, count, RLOCK_OK, &which);
    if (yes >= majority)
        return RLOCK_OK;
    if (count_of(votes, count, RLOCK_CANCELLED, &which) > 0)
        return RLOCK_CANCELLED;
    for (size_t i = 0; i < sizeof final / sizeof final[0]; i++) {
        if (count_of(votes, count, final[i], &which) + majority > count) {
            routes->error = routes->at[which].error;
            return final[i];
        }
    }
    const size_t busy = count_of(votes, count, RLOCK_BUSY, &which);
    if (busy > 0 && yes + busy >= majority)
        return RLOCK_BUSY;
    for (which = 0; which + 1 < count && (votes[which] == RLOCK_OK || votes[which] == RLOCK_BUSY);)
        which++;
    rlock__routes_explain(routes, yes + busy, which);
    return RLOCK_AGAIN;
}

size_t rlock__vote_most(const char *const *texts, size_t count, size_t *supporters) {
    size_t best = 0;
    *supporters = 0;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < count; j++)
            same += strcmp(texts[i], texts[j]) == 0;
        if (same > *supporters) {
            *supporters = same;
            best = i;
        }
    }
    return best;
}

int64_t rlock__vote_lease_end(const struct rlock__resource *resource) {
    const size_t majority = rlock__vote_majority(resource->instance_count);
    int64_t end = 0;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const int64_t candidate = resource->instances[i].lease_end_ms;
        size_t as_late = 0;
        for (size_t j = 0; j < resource->instance_count; j++)
            as_late += resource->instances[j].lease_end_ms >= candidate;
        if (as_late >= majority && candidate > end)
            end = candidate;
    }
    return end;
}
