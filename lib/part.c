/* part.c: one name of a lock: what goes into each script about it, and what may stand of it. */
#include "part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
    return seat->held || seat->in_doubt || seat->abandoned || seat->astray;
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
        .args = {owner, lock->lease_text, part->try_id, lock->permits_text, part->publish},
    };
    rlock__call_add_keys(&call, part->keys);
    call.keys[call.key_count++] = part->tombstone;
    return call;
}

/* In place of the others the lock itself: scripts know their keys by their numbers. */
struct rlock__call rlock__part_call_held(const struct rlock_lock *lock,
                                         const struct rlock__part *part, const char *owner) {
    struct rlock__call call = rlock__part_call(lock, part, owner);
    const unsigned stand = lock->kind->stand;
    call.key_count = 0;
    for (size_t i = 0; stand >> i != 0; i++)
        call.keys[call.key_count++] = part->keys[stand >> i & 1 ? i : 0];
    call.args[RLOCK__ARG_ID] = part->hold_id;
    return call;
}

bool rlock__part_identify(struct rlock__part *part, const char *id) {
    char pattern[sizeof "rlock_tombstone::~{*}" + RLOCK__ID_SIZE];
    const size_t length = strcspn(id, ".");
    (void)snprintf(part->hold_id, sizeof part->hold_id, "%.*s", (int)length, id);
    rlock__part_name_try(part,
                         id[length] == '.' ? (unsigned)strtoul(id + length + 1, NULL, 10) : 1);
    (void)snprintf(pattern, sizeof pattern, "rlock_tombstone:%s:~{*}", part->hold_id);
    free(part->tombstone);
    part->tombstone = rlock__kind_key(pattern, part->name);
    return part->tombstone != NULL;
}

const char *rlock__part_id(const struct rlock__part *part) {
    bool astray = part->tries > 1;
    for (size_t i = 0; i < part->seat_count; i++)
        astray = astray || part->seats[i].astray || part->seats[i].abandoned;
    return astray ? part->try_id : part->hold_id;
}

void rlock__part_name_try(struct rlock__part *part, unsigned number) {
    part->tries = number;
    (void)snprintf(part->try_id, sizeof part->try_id, "%s.%u", part->hold_id, number);
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
