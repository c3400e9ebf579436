/* acquire.c: takes a lock, or waits for it.
 *
 * The order that loses no message: try; busy: listen and await the confirmation; try again, now
 * standing in line; still busy: sleep until a message, the holder's expiry, the deadline or a cap
 * (retry.c). */
#include "lock/lock.h"
#include "os/clock.h"
#include "os/options.h"

enum {
    ANSWER_MS = 100,
    SPLIT_PATIENCE_MS = 1500,
    PROMPT_MS = 1500, /* for the tries and subscriptions of a waiter that must send heartbeats */
    LEAVE_MS = 500,   /* and a millisecond for each name */
    LEAVE_MAX_MS = 800,
};

/* How long to go on telling the servers: a signal must not wait for a dead one. */
static int64_t leave_ms(const struct rlock_lock *lock, bool waits_on) {
    const int64_t ms = LEAVE_MS + (int64_t)lock->resource_count;
    return waits_on ? ms : rlock__sooner_ms(ms, LEAVE_MAX_MS);
}

/* cancel_fd: a signal ends this, for then rlock_withdraw() has a time of its own; else -1. */
static void leave_all(struct rlock_lock *lock, const struct rlock__resource *but, int cancel_fd) {
    if (lock->listener.resource != NULL && lock->listener.resource != but)
        rlock__listen_no_more(&lock->listener);
    rlock__leave(lock, but, rlock_now_ms() + leave_ms(lock, cancel_fd >= 0), cancel_fd);
}

void rlock_withdraw(rlock_lock *lock) {
    leave_all(lock, NULL, -1);
    rlock__listen_no_more(&lock->listener);
    lock->started_ms = 0;
}

bool rlock_in_doubt(const rlock_lock *lock) {
    for (size_t i = 0; i < lock->resource_count; i++) {
        if (rlock__resource_may_stay(&lock->resources[i]))
            return true;
    }
    return false;
}

static void note_busy(struct rlock_lock *lock, const struct rlock__busy *busy) {
    rlock__reply_free(lock->busy.reply);
    lock->busy = *busy;
}

/* What was taken beside a busy one is given back, and the places in the lines of others, which
 * would swallow their wake-ups. */
static void end_try(struct rlock_lock *lock, enum rlock_status status, int cancel_fd) {
    /* After other outcomes, or if no server has ever answered, give_up() leaves all at once. */
    if ((status == RLOCK_BUSY || status == RLOCK_AGAIN) &&
        rlock__routes_answered(&lock->client->routes))
        leave_all(lock, &lock->resources[lock->stuck_at], cancel_fd);
}

/* The first name in canonical order that is busy is the one to wait for. */
static enum rlock_status take_all(struct rlock_lock *lock, const struct rlock__limit *limit) {
    struct rlock__busy busy = {.resource = NULL};
    const enum rlock_status status = rlock__take(lock, limit, &busy, &lock->stuck_at);
    if (status != RLOCK_OK) {
        note_busy(lock, &busy);
        end_try(lock, status, limit->cancel_fd);
        return status;
    }
    rlock__lock_update_lease(lock);
    /* What is left must be enough to start something under it, and to stop it in time. */
    if (rlock_now_ms() < rlock_lease_end_ms(lock) - lock->lease_ms / 2)
        return RLOCK_OK;
    note_busy(lock, &(struct rlock__busy){.resource = NULL});
    leave_all(lock, NULL, limit->cancel_fd);
    rlock__error_set(&lock->client->error, "the answer took more than half of the lease");
    return RLOCK_AGAIN;
}

/* A server that has never answered is given up after the time for connecting, however long the
 * wait, but not before a second try: the first answer may have been lost. */
static bool never_reached(const struct rlock_lock *lock) {
    const rlock_client *client = lock->client;
    return !rlock__routes_answered(&client->routes) && lock->tries >= 2 &&
           rlock_now_ms() >= lock->started_ms + client->connect_timeout_ms;
}

/* A connection that falls silent must not cost our place in line: if we have one, try again in
 * time. */
static int64_t prompt_ms(const struct rlock_lock *lock, int64_t deadline_ms) {
    const bool expected = lock->busy.resource != NULL &&
                          rlock__resource_in_line(lock->busy.resource) &&
                          lock->busy.again_ms <= RLOCK__HEARTBEAT_MS;
    return expected ? rlock__sooner_ms(deadline_ms, rlock_now_ms() + PROMPT_MS) : deadline_ms;
}

/* One try. True: that was the last, and *outcome what came of all. Else next_try_ms says when the
 * next is due. */
static bool attempt(struct rlock_lock *lock, const struct rlock_wait *wait,
                    enum rlock_status *outcome) {
    const bool no_wait = wait->deadline_ms == 0; /* it still gets the time for its answer */
    lock->may_queue = !no_wait;
    enum rlock_status status = RLOCK_AGAIN;
    for (int tries = no_wait && lock->client->count == 1 ? 2 : 1;
         tries > 0 && status == RLOCK_AGAIN; tries--) {
        /* Even at the deadline, wait ANSWER_MS for the reply: if we stop reading now, we may own
         * the lock without knowing it. */
        const int64_t shortest = rlock_now_ms() + ANSWER_MS;
        const int64_t deadline = no_wait                        ? RLOCK_FOREVER
                                 : wait->deadline_ms > shortest ? wait->deadline_ms
                                                                : shortest;
        const bool again = lock->tries > 0 || (no_wait && tries == 1);
        struct rlock__limit limit = rlock__client_call_limit(
            lock->client, lock->started_ms, again, prompt_ms(lock, deadline), wait->cancel_fd);
        limit.on_wait = wait;
        status = take_all(lock, &limit);
        if (!rlock__routes_in_doubt(&lock->client->routes)) /* a refusal stays one */
            break;
    }
    lock->tries++;
    *outcome = rlock__final(status);
    if (status == RLOCK_BUSY)
        rlock__retry_after_busy(lock);
    else if (status == RLOCK_AGAIN)
        rlock__retry_after_failure(lock);
    else
        return true;
    return status == RLOCK_AGAIN && never_reached(lock);
}

/* Subscribes a sleeper to what it must hear, and to no more: the first in line hears the common
 * channel too. After a new subscription try at once: the last answer is older than it. */
static enum rlock_status keep_listening(struct rlock_lock *lock, const struct rlock__limit *limit,
                                        bool try_after) {
    struct rlock__listener *listener = &lock->listener;
    const bool first =
        lock->busy.place <= 1 || (listener->resource == lock->busy.resource && listener->on_common);
    const struct rlock__limit bound =
        rlock__client_limit(lock->client, prompt_ms(lock, limit->deadline_ms), limit->cancel_fd);
    if (lock->busy.resource == NULL)
        return RLOCK_OK;
    if (rlock__listens_elsewhere(listener, &lock->client->routes))
        rlock__listen_no_more(listener);
    if (listener->resource == lock->busy.resource && listener->on_common == first) {
        lock->backoff_ms = 0;
        return RLOCK_OK;
    }
    enum rlock_status status =
        rlock__listen(listener, lock->client, lock->busy.resource, first, &bound);
    if (status == RLOCK_OK) {
        lock->backoff_ms = 0;
        if (try_after)
            lock->next_try_ms = rlock_now_ms();
        return status;
    }
    if (status == RLOCK_AGAIN) {
        rlock__retry_after_failure(lock);
        return RLOCK_OK;
    }
    return status;
}

static enum rlock_status follow_news(struct rlock_lock *lock, const struct rlock__news *news,
                                     const struct rlock__limit *limit) {
    const int64_t now = rlock_now_ms();
    if (news->released && lock->busy.place < 1) /* a latch that was not there has been set */
        lock->busy.place = 1;
    /* Several that came at once were each told to be the first: all hear the common channel. */
    if (news->woken || (news->released && lock->busy.place == 1)) {
        lock->next_try_ms = rlock_now_ms();
        return RLOCK_OK;
    }
    if (news->heartbeat)
        rlock__retry_heartbeat(lock);
    if (news->first_ms < 0)
        return RLOCK_OK;
    /* Someone has just taken it and we are first now: no try, it would only say "busy". */
    lock->busy.place = lock->busy.holder.position = 1;
    lock->next_try_ms =
        rlock__sooner_ms(lock->next_try_ms, rlock__after_ms(now, news->first_ms + 1));
    if (lock->preempts_as != NULL) /* but to ask the new holder to end */
        lock->next_try_ms = rlock_now_ms();
    return keep_listening(lock, limit, false);
}

/* Sleeps until it is time to try again, or the limit. RLOCK_OK, RLOCK_CANCELLED, or final. */
static enum rlock_status sleep_until_try(struct rlock_lock *lock,
                                         const struct rlock__limit *limit) {
    enum rlock_status status =
        lock->busy.resource != NULL ? keep_listening(lock, limit, true) : RLOCK_OK;
    while (status == RLOCK_OK) {
        struct rlock__news news = {.first_ms = -1};
        const struct rlock__limit bound = {rlock__sooner_ms(lock->next_try_ms, limit->deadline_ms),
                                           limit->cancel_fd, NULL};
        if (rlock_now_ms() >= bound.deadline_ms)
            return RLOCK_OK;
        status = lock->listener.resource != NULL ? rlock__hear(&lock->listener, &bound, &news)
                                                 : rlock__sleep(&bound);
        /* A lost connection: listen anew, then try, for what was said meanwhile is lost. */
        if (status == RLOCK_UNAVAILABLE) {
            const int64_t planned_ms = lock->next_try_ms;
            rlock__retry_after_failure(lock);
            lock->next_try_ms = rlock__sooner_ms(lock->next_try_ms, planned_ms);
        }
        if (status == RLOCK_OK)
            status = follow_news(lock, &news, limit);
        else if (status != RLOCK_CANCELLED)
            status = RLOCK_OK;
    }
    return status;
}

/* The wait is over, but the lock is free: of several that came together and do not wait one must
 * get it. */
static bool is_undecided(const struct rlock_lock *lock) {
    return lock->busy.split && rlock_now_ms() < lock->started_ms + SPLIT_PATIENCE_MS;
}

static enum rlock_status give_up(struct rlock_lock *lock, enum rlock_status status) {
    rlock_withdraw(lock);
    return status;
}

static enum rlock_status begin_hold(struct rlock_lock *lock) {
    rlock__listen_no_more(&lock->listener);
    lock->started_ms = 0;
    return RLOCK_OK;
}

static enum rlock_status acquire(rlock_lock *lock, const struct rlock_wait *wait) {
    const struct rlock__limit limit = {rlock__sooner_ms(wait->deadline_ms, wait->until_ms),
                                       wait->cancel_fd, NULL};
    if (lock->started_ms == 0) {
        lock->started_ms = lock->next_try_ms = rlock_now_ms();
        lock->tries = 0;
        lock->backoff_ms = 0;
        lock->once.status_text[0] = '\0';
        note_busy(lock, &(struct rlock__busy){.resource = NULL});
    }
    for (;;) {
        enum rlock_status status;
        if (rlock_now_ms() >= lock->next_try_ms && attempt(lock, wait, &status))
            return status == RLOCK_OK ? begin_hold(lock) : give_up(lock, status);
        const int64_t now = rlock_now_ms();
        const bool over = now >= wait->deadline_ms;
        if (over && !is_undecided(lock))
            return give_up(lock, lock->busy.resource != NULL ? RLOCK_BUSY : RLOCK_UNAVAILABLE);
        if (now >= wait->until_ms)
            return RLOCK_AGAIN;
        const struct rlock__limit pause = {lock->next_try_ms, limit.cancel_fd, NULL};
        rlock__on_wait(wait, true);
        status = over ? rlock__sleep(&pause) : sleep_until_try(lock, &limit);
        if (status != RLOCK_OK)
            return give_up(lock, status);
    }
}

enum rlock_status rlock_acquire(rlock_lock *lock, const struct rlock_wait *given) {
    struct rlock_wait wait;
    const enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_wait, cancel_fd, &wait, given, &lock->client->error);
    return status == RLOCK_OK ? acquire(lock, &wait) : status;
}
