/* part_renew.c: renews one name, by a majority. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "lock.h"
#include "vote.h"

enum { KEPT = 1, NOT_OURS = 0 };

/* What one server's answer says of our hold there. */
static enum rlock_status note_renewal(const struct rlock_lock *lock, struct rlock__seat *seat,
                                      struct rlock__run *run, int64_t sent_ms) {
    if (run->status != RLOCK_OK)
        return run->status;
    if (run->answer.code != KEPT && run->answer.code != NOT_OURS)
        return rlock__part_odd_answer(run, lock->kind->renew);
    const bool kept = run->answer.code == KEPT;
    seat->in_doubt = false;
    if (kept) {
        seat->held = true;
        seat->lease_end_ms = rlock__lease_end_ms(sent_ms, lock->lease_ms);
    } else if (lock->client->count >
               1) { /* it can be had again; of one server it is the release's */
        *seat = (struct rlock__seat){.abandoned = seat->abandoned, .astray = seat->astray};
    }
    return kept ? RLOCK_OK : RLOCK_LOST;
}

enum rlock_status rlock__part_renew(const struct rlock_lock *lock, struct rlock__part *part,
                                    struct rlock__routes *routes,
                                    const struct rlock__limit *limit) {
    struct rlock__call calls[RLOCK_SERVERS_MAX];
    struct rlock__run runs[RLOCK_SERVERS_MAX];
    enum rlock_status votes[RLOCK_SERVERS_MAX];
    size_t seats[RLOCK_SERVERS_MAX], count = 0;
    if (lock->kind->renew == NULL)
        return RLOCK_OK;
    for (size_t i = 0; i < routes->count; i++) {
        votes[i] = RLOCK_LOST;
        if (!part->seats[i].held && !part->seats[i].in_doubt)
            continue;
        calls[count] =
            rlock__part_call_held(lock, part, rlock__part_owner_on(lock, part, &part->seats[i]));
        calls[count].replicated = true;
        runs[count] = (struct rlock__run){.route = &routes->at[i], .call = &calls[count]};
        seats[count++] = i;
    }
    const int64_t sent_ms = rlock_now_ms();
    rlock__script_run_all(runs, count, rlock__vote_majority(routes->count), lock->kind->renew,
                          limit);
    for (size_t i = 0; i < count; i++)
        votes[seats[i]] = note_renewal(lock, &part->seats[seats[i]], &runs[i], sent_ms);
    rlock__part_free_answers(runs, count);
    const enum rlock_status status = rlock__vote_count(routes, votes);
    if (status == RLOCK_OK && routes->count > 1)
        rlock__part_heal(lock, part, routes);
    if (status != RLOCK_LOST)
        part->lease_end_ms = rlock__vote_lease_end(part);
    return status;
}
