/* sleep.c: how a waiter sleeps: until when, what it listens to, and which messages end its sleep.
 */
#include "lock/lock.h"
#include "os/clock.h"
#include "os/random.h"

enum {
    PROMPT_MS = 1500 /* for the tries and subscriptions of a waiter that must send heartbeats */
};

/* A connection that falls silent must not cost our place in line: if we have one, try again in
 * time. */
int64_t rlock__prompt_ms(const struct rlock_lock *lock, int64_t deadline_ms) {
    bool expected = false;
    for (size_t i = 0; i < lock->resource_count; i++) {
        const struct rlock__resource *resource = &lock->resources[i];
        expected = expected ||
                   (resource->waited && resource->place >= 0 && rlock__resource_in_line(resource) &&
                    resource->again_ms <= RLOCK__HEARTBEAT_MS);
    }
    return expected ? rlock__sooner_ms(deadline_ms, rlock_now_ms() + PROMPT_MS) : deadline_ms;
}

/* --- when it tries again, unless a message comes before --------------------------------------- */

/* The cap bounds what a lost message costs. There is no polling tick. */
enum {
    CAP_MS = 5000, /* a sleeper tries again after this where the server does not say when */
    CAP_MAX_MS = 3600000,
    BACKOFF_MIN_MS = 20,
    BACKOFF_MAX_MS = 1000,
    SPLIT_MIN_MS = 20,
    SPLITS_MAX = 4, /* doublings */
};

/* Several clients have a part each and have given it back: whichever tries again first shall have
 * it to itself. The more of them there are the longer that takes (Redlock: a random delay). */
static int64_t split_pause_ms(const struct rlock_lock *lock) {
    const int64_t most = SPLIT_MIN_MS << (lock->splits < SPLITS_MAX ? lock->splits : SPLITS_MAX);
    return rlock__random_between(1, most);
}

/* Not all at once. */
static int64_t jitter(int64_t ms) {
    return rlock__random_between(ms - ms / 10, ms);
}

int64_t rlock__next_try_ms(const struct rlock_lock *lock) {
    int64_t first_ms = RLOCK_FOREVER;
    for (size_t i = 0; i < lock->resource_count; i++) {
        if (lock->resources[i].waited)
            first_ms = rlock__sooner_ms(first_ms, lock->resources[i].next_try_ms);
    }
    return first_ms == RLOCK_FOREVER ? 0 : first_ms;
}

void rlock__retry_after_busy(const struct rlock__busy *busy) {
    struct rlock__resource *resource = busy->resource;
    struct rlock_lock *lock = resource->lock;
    const int64_t asked_ms = resource->again_ms > 0 ? resource->again_ms : CAP_MS;
    int64_t pause = jitter(rlock__sooner_ms(asked_ms, CAP_MAX_MS));
    /* The first in line is there when the hold expires. */
    if (resource->place <= 1 && resource->hint_ms >= 0)
        pause = rlock__sooner_ms(pause, resource->hint_ms + 1);
    if (busy->split)
        pause = split_pause_ms(lock);
    if (lock->any == 0)
        lock->splits = busy->split ? lock->splits + 1 : 0;
    resource->next_try_ms = rlock_now_ms() + pause;
}

/* Listening has begun: at once, for the last answer is older; after tries for which others of the
 * pool's names were taken in between, at random, so that one of us gets them. */
static void retry_after_listen(struct rlock__resource *resource) {
    const struct rlock_lock *lock = resource->lock;
    const bool collided = lock->any > 0 && lock->splits > 0;
    resource->next_try_ms = rlock_now_ms() + (collided ? split_pause_ms(lock) : 0);
}

/* We stand at the front from now on. */
static void retry_heartbeat(struct rlock__resource *resource) {
    resource->again_ms = RLOCK__HEARTBEAT_MS;
    resource->next_try_ms =
        rlock__sooner_ms(resource->next_try_ms, rlock_now_ms() + jitter(RLOCK__HEARTBEAT_MS));
}

int64_t rlock__retry_after_failure(struct rlock_lock *lock) {
    const int64_t when_ms =
        rlock_now_ms() + rlock__backoff(&lock->backoff_ms, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
    /* A server that has never answered gets its last try when its time is over, not later. */
    const int64_t last_ms =
        rlock__client_reach_by_ms(lock->client, &lock->client->routes, lock->started_ms);
    return rlock_now_ms() < last_ms ? rlock__sooner_ms(when_ms, last_ms) : when_ms;
}

/* --- what it listens to ----------------------------------------------------------------------- */

/* Wants what must be heard of it, and no more: the first in line hears the common channel too.
 * True: that is more than what is heard. */
static bool want(struct rlock__resource *resource) {
    const bool first = resource->place <= 1 || resource->heard == RLOCK__BOTH_CHANNELS;
    resource->wanted = first ? RLOCK__BOTH_CHANNELS : RLOCK__OWN_CHANNEL;
    return resource->wanted != resource->heard;
}

/* After a new subscription try at once: the last answer is older than it. */
static enum rlock_status listen_for(struct rlock_lock *lock, struct rlock__listener *listener,
                                    struct rlock__resource *resources, size_t count,
                                    const struct rlock__limit *limit, bool try_after) {
    bool known = false, more = false;
    if (rlock__listens_elsewhere(listener, &lock->client->routes))
        rlock__listen_no_more(listener);
    for (size_t i = 0; i < count; i++) {
        if (!resources[i].waited || resources[i].place < 0)
            continue;
        known = true;
        if (!want(&resources[i]))
            continue;
        more = true;
        if (try_after)
            retry_after_listen(&resources[i]);
    }
    if (!known)
        return RLOCK_OK;
    const enum rlock_status status =
        more ? rlock__listen(listener, lock->client, resources, count, limit) : RLOCK_OK;
    if (status == RLOCK_OK)
        lock->backoff_ms = 0;
    if (status != RLOCK_AGAIN)
        return status;
    const int64_t when_ms = rlock__retry_after_failure(lock);
    for (size_t i = 0; i < count; i++)
        resources[i].next_try_ms = when_ms;
    return RLOCK_OK;
}

/* A pool listens for all of its names, in a cluster by one listener each; else one name is waited
 * for, at which the last try ended. */
static enum rlock_status keep_listening(struct rlock_lock *lock, const struct rlock__limit *limit,
                                        bool try_after) {
    const size_t count = lock->any > 0 && lock->listener_count == 1 ? lock->resource_count : 1;
    enum rlock_status status = RLOCK_OK;
    for (size_t i = 0; status == RLOCK_OK && i < lock->listener_count; i++) {
        const struct rlock__limit bound = rlock__client_limit(
            lock->client, rlock__prompt_ms(lock, limit->deadline_ms), limit->cancel_fd);
        struct rlock__resource *resources = &lock->resources[lock->any > 0 ? i : lock->stuck_at];
        status = listen_for(lock, &lock->listeners[i], resources, count, &bound, try_after);
    }
    return status;
}

/* --- what it hears ---------------------------------------------------------------------------- */

static enum rlock_status follow_news(struct rlock__resource *resource,
                                     const struct rlock__news *news,
                                     const struct rlock__limit *limit) {
    struct rlock_lock *lock = resource->lock;
    const int64_t now = rlock_now_ms();
    const bool released = (news->what & RLOCK__RELEASED) != 0;
    if (released && resource->place == 0) /* a latch that was not there has been set */
        resource->place = resource->told_place = 1;
    /* Several that came at once were each told to be the first: all hear the common channel. */
    if ((news->what & RLOCK__WOKEN) != 0 || (released && resource->place <= 1)) {
        resource->told_free = true;
        resource->next_try_ms = now;
        return RLOCK_OK;
    }
    if ((news->what & RLOCK__HEARTBEAT) != 0)
        retry_heartbeat(resource);
    if ((news->what & RLOCK__FIRST) == 0)
        return RLOCK_OK;
    /* Someone has just taken it and we are first now: no try, it would only say "busy". */
    if (resource->place >= 0)
        resource->place = 1;
    if (lock->busy.resource == resource)
        lock->busy.holder.position = 1;
    resource->next_try_ms =
        rlock__sooner_ms(resource->next_try_ms, rlock__after_ms(now, news->first_ms + 1));
    if (lock->preempts_as != NULL) /* but to ask the new holder to end */
        resource->next_try_ms = now;
    return keep_listening(lock, limit, false);
}

static enum rlock_status follow_all(struct rlock_lock *lock, const struct rlock__limit *limit) {
    enum rlock_status status = RLOCK_OK;
    for (size_t i = 0; status == RLOCK_OK && i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        const struct rlock__news news = rlock__take_news(resource);
        if (resource->waited && news.what != 0)
            status = follow_news(resource, &news, limit);
    }
    return status;
}

/* A lost connection: listen anew, then try, for what was said meanwhile is lost. */
static void follow_silence(struct rlock_lock *lock) {
    const int64_t when_ms = rlock__retry_after_failure(lock);
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        if (lock->any == 0 || resource->heard == RLOCK__NO_CHANNEL)
            resource->next_try_ms = rlock__sooner_ms(resource->next_try_ms, when_ms);
    }
}

enum rlock_status rlock__sleep_until_try(struct rlock_lock *lock,
                                         const struct rlock__limit *limit) {
    enum rlock_status status = keep_listening(lock, limit, true);
    while (status == RLOCK_OK) {
        const struct rlock__limit bound = {
            rlock__sooner_ms(rlock__next_try_ms(lock), limit->deadline_ms), limit->cancel_fd};
        if (rlock_now_ms() >= bound.deadline_ms)
            return RLOCK_OK;
        status = rlock__hear(lock->listeners, lock->listener_count, -1, &bound);
        if (status == RLOCK_UNAVAILABLE)
            follow_silence(lock);
        if (status == RLOCK_OK)
            status = follow_all(lock, limit);
        else if (status != RLOCK_CANCELLED)
            status = RLOCK_OK;
    }
    return status;
}
