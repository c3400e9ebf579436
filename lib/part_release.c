/* part_release.c: gives one name back, wherever it is or may be. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "lock.h"
#include "vote.h"

enum { RELEASED = 1, STILL_HELD = 2, NOT_OURS = 0 };

static enum rlock_status note_release(const struct rlock_lock *lock, struct rlock__seat *seat,
                                      struct rlock__run *run) {
    if (run->status != RLOCK_OK) {
        seat->astray =
            seat->astray || seat->abandoned; /* the connection is gone by now, or may be */
        return run->status;
    }
    *seat = (struct rlock__seat){.token = seat->token, .lease_end_ms = seat->lease_end_ms};
    if (run->answer.code == NOT_OURS)
        return RLOCK_LOST;
    seat->given_back = run->answer.code == RELEASED || run->answer.code == STILL_HELD;
    return seat->given_back ? RLOCK_OK : rlock__part_odd_answer(run, lock->kind->release);
}

/* Nothing is held of what is only waited for. */
static enum rlock_status forget(struct rlock__part *part) {
    memset(part->seats, 0, part->seat_count * sizeof *part->seats);
    part->held = false;
    return RLOCK_OK;
}

/* An attempt without an answer may have re-entered, or not: the script looks for both owners. */
static const char *owner_to_release(const struct rlock_lock *lock, const struct rlock__part *part,
                                    const struct rlock__seat *seat) {
    if (seat->held)
        return rlock__part_owner_on(lock, part, seat);
    return part->proof_owner != NULL ? part->proof_owner : lock->owner;
}

enum rlock_status rlock__part_give_back(struct rlock_lock *lock, struct rlock__part *part,
                                        int64_t keep_ms, bool places_too,
                                        const struct rlock__limit *limit) {
    struct rlock__routes *routes = &lock->client->routes;
    struct rlock__call calls[RLOCK_SERVERS_MAX];
    struct rlock__run runs[RLOCK_SERVERS_MAX];
    enum rlock_status votes[RLOCK_SERVERS_MAX];
    size_t seats[RLOCK_SERVERS_MAX], count = 0;
    char keep_text[24];
    if (lock->kind->release == NULL)
        return forget(part);
    (void)snprintf(keep_text, sizeof keep_text, "%" PRId64, keep_ms);
    for (size_t i = 0; i < routes->count; i++) {
        const struct rlock__seat *seat = &part->seats[i];
        /* Of a hold a majority must have lasted until now; of a try that was none all must go. */
        votes[i] = part->held && !seat->given_back ? RLOCK_LOST : RLOCK_OK;
        const bool leaves = places_too && (seat->in_line || rlock__seat_may_stay(seat));
        if (!seat->held && !seat->in_doubt && !leaves)
            continue;
        calls[count] = rlock__part_call(lock, part, owner_to_release(lock, part, seat));
        calls[count].args[calls[count].arg_count++] = keep_text;
        calls[count].args[calls[count].arg_count++] = lock->owner;
        calls[count].args[calls[count].arg_count++] = seat->astray ? "1" : "0";
        runs[count] = (struct rlock__run){.route = &routes->at[i], .call = &calls[count]};
        seats[count++] = i;
    }
    rlock__script_run_all(runs, count, rlock__vote_majority(count), lock->kind->release, limit);
    for (size_t i = 0; i < count; i++) {
        struct rlock__seat *seat = &part->seats[seats[i]];
        /* What may still arrive of this try must not be about the next one. */
        part->given_up = part->given_up || seat->astray || runs[i].status != RLOCK_OK;
        votes[seats[i]] = note_release(lock, seat, &runs[i]);
    }
    rlock__part_free_answers(runs, count);
    const enum rlock_status status = rlock__vote_count(routes, votes);
    if (status == RLOCK_OK || status == RLOCK_LOST)
        part->held = false;
    return status;
}
