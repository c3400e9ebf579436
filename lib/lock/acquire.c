/* acquire.c: takes a lock, or waits for it.
 *
 * The order that loses no message: try; busy: listen and await the confirmation; try again, now
 * standing in line; still busy: sleep until a message, the holder's expiry, the deadline or a cap
 * (sleep.c). */
#include <inttypes.h>
#include <stdio.h>

#include "lock/lock.h"
#include "os/clock.h"
#include "os/options.h"

enum {
    ANSWER_MS = 100,
    SPLIT_PATIENCE_MS = 1500,
    LEAVE_MS = 500, /* and a millisecond for each name */
    LEAVE_MAX_MS = 800,
};

/* How long to go on telling the servers: a signal must not wait for a dead one. */
static int64_t leave_ms(const struct rlock_lock *lock, bool waits_on) {
    const int64_t ms = LEAVE_MS + (int64_t)lock->resource_count;
    return waits_on ? ms : rlock__sooner_ms(ms, LEAVE_MAX_MS);
}

static void stop_listening(struct rlock_lock *lock) {
    for (size_t i = 0; i < lock->listener_count; i++)
        rlock__listen_no_more(&lock->listeners[i]);
}

static void wait_for_none(struct rlock_lock *lock) {
    stop_listening(lock);
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        resource->waited = false;
        resource->told_place = 0;
        for (size_t k = 0; k < resource->instance_count; k++)
            resource->instances[k].ticket = 0;
    }
}

/* Stop listening first: the server passes a message that comes while we leave on to the next.
 * cancel_fd: a signal ends this, for then rlock_withdraw() has a time of its own; else -1. */
static void leave(struct rlock_lock *lock, bool all, int cancel_fd) {
    const struct rlock__resource *listened = lock->listeners[0].resources;
    if (all)
        wait_for_none(lock);
    else if (lock->any == 0 && listened != NULL && !listened->waited)
        stop_listening(lock);
    rlock__leave(lock, all, rlock_now_ms() + leave_ms(lock, cancel_fd >= 0), cancel_fd);
}

void rlock_withdraw(rlock_lock *lock) {
    leave(lock, true, -1);
    lock->started_ms = 0;
}

bool rlock_in_doubt(const rlock_lock *lock) {
    for (size_t i = 0; i < lock->resource_count; i++) {
        if (rlock__resource_may_be_held(&lock->resources[i]))
            return true;
    }
    return false;
}

const struct rlock_holder *rlock_blocker(const rlock_lock *lock) {
    return lock->busy.resource != NULL ? &lock->busy.holder : NULL;
}

const struct rlock_run *rlock_last_run(const rlock_lock *lock) {
    return lock->busy.done ? &lock->busy.run : NULL;
}

const char *rlock_stuck_at(const rlock_lock *lock) {
    return lock->resources[lock->stuck_at].name;
}

static void note_busy(struct rlock_lock *lock, const struct rlock__busy *busy) {
    rlock__reply_free(lock->busy.reply);
    lock->busy = *busy;
}

/* The name at which the try ended is the one to wait for. After a try without an answer nothing is
 * known of our place there; where another name gave none, we keep the place that we had. */
static void wait_for_one(struct rlock_lock *lock, enum rlock_status status,
                         const struct rlock__busy *busy) {
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        const bool stays =
            status == RLOCK_AGAIN && resource->waited && rlock__resource_in_line(resource);
        resource->waited = stays || i == lock->stuck_at;
        if (status != RLOCK_BUSY)
            resource->place = -1;
    }
    if (status == RLOCK_BUSY)
        rlock__retry_after_busy(busy);
}

/* A name in whose line our place is known is held by others. */
static size_t count_busy(const struct rlock_lock *lock) {
    size_t busy = 0;
    for (size_t i = 0; i < lock->resource_count; i++)
        busy += lock->resources[i].waited && lock->resources[i].place >= 0;
    return busy;
}

/* One name is enough; of a pool so many that fewer than it takes are left. */
static bool enough_are_busy(const struct rlock_lock *lock) {
    return count_busy(lock) > (lock->any > 0 ? lock->resource_count - lock->any : 0);
}

/* What is left must be enough to start something under it, and to stop it in time. */
static enum rlock_status check_lease(struct rlock_lock *lock, int cancel_fd) {
    rlock__lock_update_lease(lock);
    if (rlock_now_ms() < rlock_lease_end_ms(lock) - lock->lease_ms / 2)
        return RLOCK_OK;
    lock->busy_in_ms = 0; /* nobody holds it: note_try() */
    if (lock->any > 0)    /* it begins anew with what is preferred */
        lock->stuck_at = (size_t)(lock->preferred[0] - lock->resources);
    leave(lock, true, cancel_fd);
    rlock__error_set(&lock->client->error, "the answer took more than half of the lease");
    return RLOCK_AGAIN;
}

/* For --supersede: who waits for one name comes late into the lines of the others. */
static void note_waited(struct rlock_lock *lock) {
    if (lock->kind->queued && lock->variant[0] != '\0' && lock->resource_count > 1)
        (void)snprintf(lock->waited_text, sizeof lock->waited_text, "%" PRId64,
                       rlock_now_ms() - lock->started_ms);
}

/* What was taken beside a busy name is given back, and the places in the lines of others, which
 * would swallow their wake-ups; of a pool's names those that are not needed. */
static enum rlock_status take(struct rlock_lock *lock, const struct rlock__limit *limit,
                              int64_t until_ms) {
    const bool is_pool = lock->any > 0;
    struct rlock__busy busy = {.resource = NULL};
    note_waited(lock);
    const enum rlock_status status = is_pool ? rlock__take_any(lock, limit, until_ms, &busy)
                                             : rlock__take(lock, limit, until_ms, &busy);
    if (status == RLOCK_OK) {
        rlock__reply_free(busy.reply);
        wait_for_none(lock);
        if (is_pool)
            leave(lock, false, limit->cancel_fd);
        return check_lease(lock, limit->cancel_fd);
    }
    if (!is_pool)
        wait_for_one(lock, status, &busy);
    if (busy.resource != NULL || busy.done)
        note_busy(lock, &busy);
    /* After other outcomes, or if no server has ever answered, end() leaves all at once. */
    if ((status == RLOCK_BUSY || status == RLOCK_AGAIN) &&
        rlock__routes_answered(&lock->client->routes))
        leave(lock, false, limit->cancel_fd);
    return status;
}

/* However long the wait, but not before a second try: the first answer may have been lost. */
static bool never_reached(const struct rlock_lock *lock) {
    const rlock_client *client = lock->client;
    return lock->tries >= 2 &&
           rlock_now_ms() >= rlock__client_reach_by_ms(client, &client->routes, lock->started_ms);
}

/* Wait on for the names whose place in line is known, and in any case for the one at which the try
 * ended. */
static void retry_unanswered(struct rlock_lock *lock) {
    const int64_t when_ms = rlock__retry_after_failure(lock);
    struct rlock__resource *stuck = &lock->resources[lock->stuck_at];
    if (!stuck->waited)
        stuck->place = -1;
    stuck->waited = true;
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        if (resource->waited && resource->place < 0)
            resource->next_try_ms = when_ms;
    }
}

/* A try that the end of the wait has cut off, before it had the time for an answer, says nothing
 * new. */
static void note_try(struct rlock_lock *lock, enum rlock_status status, int64_t took_ms,
                     bool is_over) {
    if (status == RLOCK_BUSY && enough_are_busy(lock))
        lock->busy_in_ms = took_ms + 1;
    else if (status != RLOCK_AGAIN || !is_over || took_ms >= 2 * lock->busy_in_ms)
        lock->busy_in_ms = 0;
    if (!lock->busy.done && lock->busy_in_ms == 0 && count_busy(lock) == 0)
        note_busy(lock, &(struct rlock__busy){.resource = NULL});
}

/* One try. True: that was the last, and *outcome what came of all. Else rlock__next_try_ms() says
 * when the next is due. */
static bool attempt(struct rlock_lock *lock, const struct rlock_wait *wait,
                    enum rlock_status *outcome) {
    const bool no_wait = wait->deadline_ms == 0; /* it still gets the time for its answer */
    lock->may_queue = !no_wait;
    enum rlock_status status = RLOCK_AGAIN;
    for (int tries = no_wait && lock->client->count == 1 ? 2 : 1;
         tries > 0 && status == RLOCK_AGAIN; tries--) {
        const int64_t began_ms = rlock_now_ms();
        /* Even at the deadline, wait ANSWER_MS for the reply: if we stop reading now, we may own
         * the lock without knowing it. */
        const int64_t shortest = began_ms + ANSWER_MS;
        const int64_t deadline = no_wait                        ? RLOCK_FOREVER
                                 : wait->deadline_ms > shortest ? wait->deadline_ms
                                                                : shortest;
        /* Later the first of the names could not be renewed in time. In a quorum no server that is
         * slow is waited for. */
        const int64_t until_ms =
            lock->client->count == 1
                ? rlock__sooner_ms(deadline, rlock__after_ms(began_ms, lock->lease_ms / 2))
                : 0;
        const bool again = lock->tries > 0 || (no_wait && tries == 1);
        const struct rlock__limit limit =
            rlock__client_call_limit(lock->client, lock->started_ms, again,
                                     rlock__prompt_ms(lock, deadline), wait->cancel_fd);
        status = take(lock, &limit, until_ms);
        const int64_t now = rlock_now_ms();
        if (status != RLOCK_OK)
            note_try(lock, status, now - began_ms, now >= wait->deadline_ms);
        if (!rlock_in_doubt(lock)) /* a refusal stays one */
            break;
    }
    lock->tries++;
    *outcome = rlock__final(status);
    if (status == RLOCK_AGAIN)
        retry_unanswered(lock);
    return status == RLOCK_AGAIN ? never_reached(lock) : status != RLOCK_BUSY;
}

/* The wait is over, but the lock was free when a majority answered last: of several that came
 * together and do not wait one must get it. */
static bool is_undecided(const struct rlock_lock *lock) {
    return lock->any == 0 && lock->splits > 0 &&
           rlock_now_ms() < lock->started_ms + SPLIT_PATIENCE_MS;
}

static enum rlock_status end(struct rlock_lock *lock, enum rlock_status status) {
    if (status == RLOCK_OK) {
        lock->started_ms = 0;
        return RLOCK_OK;
    }
    rlock_withdraw(lock);
    return status;
}

/* What was given back and is taken again is another hold: a handle of the one before, or a request
 * of it that comes late, must not be about this one. */
static bool identify_again(struct rlock_lock *lock) {
    char id[RLOCK__ID_SIZE];
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        if (resource->hold.token == 0 || resource->held || !rlock__resource_is_clear(resource))
            continue;
        if (!rlock__random_id(id) || !rlock__resource_identify(resource, id)) {
            rlock__error_set(&lock->client->error, "no memory, or no random bytes");
            return false;
        }
    }
    return true;
}

static enum rlock_status acquire(rlock_lock *lock, const struct rlock_wait *wait) {
    const struct rlock__limit limit = {rlock__sooner_ms(wait->deadline_ms, wait->until_ms),
                                       wait->cancel_fd};
    if (lock->started_ms == 0) {
        if (!identify_again(lock))
            return RLOCK_SYSTEM;
        lock->started_ms = rlock_now_ms();
        lock->tries = lock->splits = 0;
        lock->backoff_ms = lock->busy_in_ms = 0;
        lock->once.status_text[0] = '\0';
        note_busy(lock, &(struct rlock__busy){.resource = NULL});
    }
    for (;;) {
        enum rlock_status status;
        if (rlock_now_ms() >= rlock__next_try_ms(lock) && attempt(lock, wait, &status))
            return end(lock, status);
        const int64_t now = rlock_now_ms();
        const bool over = now >= wait->deadline_ms;
        if (over && !is_undecided(lock)) {
            const bool is_busy = lock->busy_in_ms > 0 || enough_are_busy(lock);
            return end(lock, is_busy ? RLOCK_BUSY : RLOCK_UNAVAILABLE);
        }
        if (now >= wait->until_ms)
            return RLOCK_AGAIN;
        const struct rlock__limit pause = {rlock__next_try_ms(lock), limit.cancel_fd};
        status = over ? rlock__sleep(&pause) : rlock__sleep_until_try(lock, &limit);
        if (status != RLOCK_OK)
            return end(lock, status);
    }
}

enum rlock_status rlock_acquire(rlock_lock *lock, const struct rlock_wait *given) {
    struct rlock_wait wait;
    const enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_wait, cancel_fd, &wait, given, &lock->client->error);
    return status == RLOCK_OK ? acquire(lock, &wait) : status;
}
