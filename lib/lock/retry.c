/* retry.c: when a waiter tries again, unless a message comes before.
 *
 * The cap bounds what a lost message costs. There is no polling tick. */
#include "lock/lock.h"

#include "os/backoff.h"
#include "os/clock.h"

enum {
    CAP_MS = 5000, /* a sleeper tries again after this where the server does not say when */
    CAP_MAX_MS = 3600000,
    BACKOFF_MIN_MS = 20,
    BACKOFF_MAX_MS = 1000,
    SPLIT_MIN_MS = 20,
    SPLITS_MAX = 4, /* doublings */
};

/* Several clients have a minority each and have given it back: whichever tries again first shall
 * have it to itself. The more of them there are the longer that takes (Redlock: a random delay). */
static void after_split(struct rlock_lock *lock) {
    const int64_t most = SPLIT_MIN_MS << (lock->splits < SPLITS_MAX ? lock->splits : SPLITS_MAX);
    lock->splits++;
    lock->next_try_ms = rlock_now_ms() + rlock__random_between(1, most);
}

/* Not all at once. */
static int64_t jitter(int64_t ms) {
    return rlock__random_between(ms - ms / 10, ms);
}

void rlock__retry_after_busy(struct rlock_lock *lock) {
    const struct rlock__busy *busy = &lock->busy;
    const int64_t asked_ms = busy->again_ms > 0 ? busy->again_ms : CAP_MS;
    int64_t pause = jitter(rlock__sooner_ms(asked_ms, CAP_MAX_MS));
    /* The first in line is there when the hold expires. */
    if (busy->place <= 1 && busy->hint_ms >= 0)
        pause = rlock__sooner_ms(pause, busy->hint_ms + 1);
    lock->next_try_ms = rlock_now_ms() + pause;
    if (busy->split)
        after_split(lock);
    else
        lock->splits = 0;
}

void rlock__retry_heartbeat(struct rlock_lock *lock) {
    lock->busy.again_ms = RLOCK__HEARTBEAT_MS;
    lock->next_try_ms =
        rlock__sooner_ms(lock->next_try_ms, rlock_now_ms() + jitter(RLOCK__HEARTBEAT_MS));
}

void rlock__retry_after_failure(struct rlock_lock *lock) {
    lock->next_try_ms =
        rlock_now_ms() + rlock__backoff(&lock->backoff_ms, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
    /* A server that has never answered gets its last try when its time is over, not later. */
    const int64_t last_ms = lock->started_ms + lock->client->connect_timeout_ms;
    if (!rlock__routes_answered(&lock->client->routes) && rlock_now_ms() < last_ms)
        lock->next_try_ms = rlock__sooner_ms(lock->next_try_ms, last_ms);
}
