/* pool.c: takes any K of a lock's names: those that are free, in an order of preference.
 *
 * Nothing is held while others are waited for: too few names are given back. So the names that are
 * waited for are those that were busy; the others were free a moment ago, and are tried again once
 * one of the busy ones is granted. */
#include <stdlib.h>
#include <string.h>

#include "lock/ask.h"
#include "os/clock.h"

/* A name more than is needed is in the way of others, if only for a moment: so many round trips ask
 * for no more. After these each asks for twice as many as the one before, and what is not needed is
 * given back: hundreds of busy names over a slow line must not use up the time. */
enum { SPARING_ROUNDS = 4 };

/* --- making one ------------------------------------------------------------------------------- */

/* Those of a hold around us come first: they can be had at once. */
static void sort_by_preference(struct rlock_lock *lock, const struct rlock_lock_options *options) {
    size_t count = 0;
    for (int reenters = 1; reenters >= 0; reenters--) {
        for (size_t i = 0; i < options->name_count; i++) {
            struct rlock__resource *resource = rlock__resource_named(lock, options->names[i]);
            const bool is_in = resource->proof_owner != NULL;
            if (is_in != (reenters == 1) || resource->due) /* a name that was given twice */
                continue;
            resource->due = true;
            resource->preference = count;
            lock->preferred[count++] = resource;
        }
    }
}

bool rlock__pool_make(struct rlock_lock *lock, const struct rlock_lock_options *options) {
    const bool in_cluster = lock->client->routes.at[0].cluster != NULL;
    lock->any = (size_t)options->any;
    lock->listener_count = lock->any > 0 && in_cluster ? lock->resource_count : 1;
    lock->listeners = calloc(lock->listener_count, sizeof *lock->listeners);
    if (lock->listeners == NULL)
        return false;
    if (lock->any == 0)
        return true;
    lock->preferred = calloc(lock->resource_count, sizeof(struct rlock__resource *));
    if (lock->preferred != NULL)
        sort_by_preference(lock, options);
    return lock->preferred != NULL;
}

/* --- taking it -------------------------------------------------------------------------------- */

/* Of several that are busy the most preferred one is told of. */
static void note_busy(struct rlock__ballot *ballot) {
    struct rlock__resource *resource = ballot->resource;
    struct rlock__busy *told = ballot->ask->busy, busy = rlock__busy_by_most(ballot);
    const bool first = told->resource == NULL || resource->preference < told->resource->preference;
    rlock__reply_free(first ? told->reply : busy.reply);
    if (first)
        *told = busy;
    resource->waited = true;
    rlock__retry_after_busy(&busy);
}

static enum rlock_status conclude(struct rlock__ballot *ballot) {
    struct rlock__resource *resource = ballot->resource;
    const enum rlock_status status = rlock__ballot_count(ballot);
    if (status == RLOCK_OK) {
        rlock__take_note_hold(resource);
        resource->waited = false;
    } else if (status == RLOCK_BUSY) {
        note_busy(ballot);
    } else if (status == RLOCK_AGAIN) {
        resource->waited = true;
        resource->place = -1;
        resource->next_try_ms = 0; /* due, whatever was said in a wait before */
    }
    return status;
}

/* Those that are waited for, where it is time. */
static void mark_waited(struct rlock_lock *lock) {
    const int64_t now = rlock_now_ms();
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        resource->due = resource->waited && now >= resource->next_try_ms;
    }
}

/* The next ones of those that are not, so many at most; none if all of them are fewer than are
 * missing. */
static void mark_others(struct rlock_lock *lock, size_t missing, size_t most) {
    size_t others = 0, marked = 0;
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        resource->due = false;
        others += !resource->held && !resource->waited;
    }
    if (missing == 0 || others < missing)
        return;
    for (size_t i = 0; i < lock->resource_count && marked < most; i++) {
        struct rlock__resource *resource = lock->preferred[i];
        resource->due = !resource->held && !resource->waited;
        marked += resource->due;
    }
}

static size_t count_held(const struct rlock_lock *lock) {
    size_t held = 0;
    for (size_t i = 0; i < lock->resource_count; i++)
        held += lock->resources[i].held;
    return held;
}

/* What we hold too much is not ours any more, though it still is to be left. */
static void keep_preferred(struct rlock_lock *lock, size_t most) {
    for (size_t i = 0, kept = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = lock->preferred[i];
        resource->held = resource->held && kept < most;
        kept += resource->held;
    }
}

/* One name's answer that is missing says nothing of the others' in a cluster. */
static bool goes_on(const struct rlock_lock *lock, enum rlock_status status) {
    return status == RLOCK_OK || status == RLOCK_BUSY ||
           (status == RLOCK_AGAIN && lock->listener_count > 1);
}

/* In a cluster a master that hangs must leave time for the names that have not been asked for yet,
 * which may be on others. */
static int64_t round_end_ms(const struct rlock_lock *lock, int64_t deadline_ms) {
    bool others = false;
    for (size_t i = 0; i < lock->resource_count; i++) {
        const struct rlock__resource *resource = &lock->resources[i];
        others = others || !(resource->held || resource->waited || resource->due);
    }
    return others && lock->listener_count > 1 ? rlock__half_way_ms(rlock_now_ms(), deadline_ms)
                                              : deadline_ms;
}

/* What came of it where there are too few. */
static enum rlock_status end_refused(struct rlock_lock *lock, enum rlock_status failure,
                                     const struct rlock__busy *busy) {
    const bool collided = count_held(lock) > 0;
    keep_preferred(lock, 0);
    lock->splits = collided ? lock->splits + 1 : 0;
    if (failure != RLOCK_OK)
        return failure;
    if (busy->resource != NULL) /* else the others wait on, and the last one is still true */
        lock->stuck_at = (size_t)(busy->resource - lock->resources);
    return RLOCK_BUSY;
}

enum rlock_status rlock__take_any(struct rlock_lock *lock, const struct rlock__limit *limit,
                                  int64_t until_ms, struct rlock__busy *busy) {
    static const struct rlock__verb take = {
        .ask = rlock__take_ask, .judge = rlock__take_judge, .conclude = conclude};
    struct rlock__ask ask = rlock__asking(lock, &take, lock->kind->acquire, limit);
    enum rlock_status status = RLOCK_OK, failure = RLOCK_OK;
    size_t rounds = 0, at_once = lock->any;
    int64_t end_ms = limit->deadline_ms;
    ask.busy = busy;
    ask.until_ms = until_ms;
    mark_waited(lock);
    if (rlock__count_due(lock) == 0)
        mark_others(lock, lock->any, at_once);
    while (rlock__count_due(lock) > 0 && goes_on(lock, status)) {
        ask.limit.deadline_ms = round_end_ms(lock, end_ms);
        status = rlock__ask(&ask);
        if (ask.limit.deadline_ms > end_ms) /* answers have come */
            end_ms = ask.limit.deadline_ms;
        if (status != RLOCK_OK && status != RLOCK_BUSY) {
            failure = status;
            lock->stuck_at = ask.stuck_at;
        }
        const size_t held = count_held(lock), missing = held < lock->any ? lock->any - held : 0;
        at_once = ++rounds < SPARING_ROUNDS ? missing : 2 * at_once;
        mark_others(lock, missing, at_once);
    }
    if (ask.unconfirmed) /* which would be in the way of others */
        rlock__give_back(lock);
    if (count_held(lock) < lock->any || (failure != RLOCK_OK && failure != RLOCK_AGAIN))
        return end_refused(lock, failure, busy);
    keep_preferred(lock, lock->any);
    return RLOCK_OK;
}
