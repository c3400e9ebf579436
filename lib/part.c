/* part.c: one name of a lock: what goes into each script about it, and what may stand of it. */
#include "part.h"

#include <inttypes.h>
#include <string.h>

#include "lock.h"

bool rlock__part_in_line(const struct rlock__part *part) {
    for (size_t i = 0; i < part->seat_count; i++) {
        if (part->seats[i].in_line)
            return true;
    }
    return false;
}

bool rlock__seat_may_stay(const struct rlock__seat *seat) {
    return seat->held || seat->in_doubt;
}

bool rlock__part_may_stay(const struct rlock__part *part) {
    for (size_t i = 0; i < part->seat_count; i++) {
        if (rlock__seat_may_stay(&part->seats[i]))
            return true;
    }
    return false;
}

bool rlock__part_is_clear(const struct rlock__part *part) {
    return !rlock__part_may_stay(part) && !rlock__part_in_line(part);
}

/* What every script gets first: keys, owner, lease, hold id, permits, channel. */
struct rlock__call rlock__part_call(const struct rlock_lock *lock, const struct rlock__part *part,
                                    const char *owner) {
    struct rlock__call call = {
        .arg_count = 5,
        .args = {owner, lock->lease_text, part->hold_id, lock->permits_text, part->publish},
    };
    rlock__call_add_keys(&call, part->keys);
    return call;
}

/* As whom a seat is held. */
const char *rlock__part_owner_on(const struct rlock_lock *lock, const struct rlock__part *part,
                                 const struct rlock__seat *seat) {
    return seat->reentered ? part->proof_owner : lock->owner;
}

enum rlock_status rlock__part_odd_answer(struct rlock__run *run,
                                         const struct rlock__script *script) {
    rlock__error_set(&run->route->error,
                     "the server's answer to %s can't be understood: code %" PRId64, script->name,
                     run->answer.code);
    return RLOCK_UNAVAILABLE;
}

void rlock__part_free_answers(struct rlock__run *runs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        rlock__reply_free(runs[i].answer.reply);
        runs[i].answer.reply = NULL;
    }
}

bool rlock__part_glance(struct rlock_lock *lock, const struct rlock__part *part,
                        const struct rlock__limit *limit) {
    struct rlock__route *route = &lock->client->routes.at[0];
    const char *words[] = {"EXISTS", part->name, part->keys[lock->kind->line]};
    struct rlock__link *link;
    rlock__reply *reply = NULL;
    int64_t found = 0;
    if (rlock__route_find(route, part->name, limit, &link) != RLOCK_OK ||
        !rlock__link_ask_words(link, 3, words) || rlock__link_call(link, limit, &reply) != RLOCK_OK)
        return false;
    const bool stand = rlock__reply_number(reply, &found) && found == 2;
    rlock__reply_free(reply);
    return stand;
}
