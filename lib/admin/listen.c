/* listen.c: hears of locks that others hold, without joining their queue: that a lock was released;
 * that after `rlock break` the holder's command has stopped. */
#include <stdlib.h>

#include "lock/lock.h"
#include "redis/link.h"
#include "rlock_admin.h"

/* A subscription to the channels of one name. */
struct rlock_releases {
    struct rlock__listener listener;
    struct rlock__error error;
    rlock_lock *lock; /* never taken: it knows the channels */
};

static enum rlock_status subscribe(rlock_releases *ear, rlock_client *client, const char *name,
                                   const char *kind, enum rlock__channels wanted,
                                   int64_t deadline_ms, int cancel_fd) {
    const struct rlock__limit limit = rlock__client_limit(client, deadline_ms, cancel_fd);
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.kind = kind;
    options.names = &name;
    options.name_count = 1;
    ear->listener.error = &ear->error;
    const enum rlock_status status = rlock_lock_new(&ear->lock, client, &options);
    if (status != RLOCK_OK)
        return status;
    ear->lock->resources[0].wanted = wanted;
    return rlock__final(rlock__listen(&ear->listener, client, ear->lock->resources, 1, &limit));
}

/* --- that it was given back ------------------------------------------------------------------- */

enum rlock_status rlock_releases_new(rlock_releases **out, rlock_client *client, const char *name,
                                     const char *kind, int64_t deadline_ms, int cancel_fd) {
    *out = calloc(1, sizeof **out);
    return *out == NULL
               ? RLOCK_SYSTEM
               : subscribe(*out, client, name, kind, RLOCK__BOTH_CHANNELS, deadline_ms, cancel_fd);
}

enum rlock_status rlock_releases_wait(rlock_releases *releases, int64_t until_ms, int cancel_fd) {
    const struct rlock__limit limit = {until_ms, cancel_fd};
    const enum rlock_status status = rlock__hear(&releases->listener, 1, -1, &limit);
    (void)rlock__take_news(releases->lock->resources);
    return status;
}

void rlock_releases_free(rlock_releases *releases) {
    if (releases == NULL)
        return;
    rlock__listener_free(&releases->listener);
    rlock_lock_free(releases->lock);
    free(releases);
}

/* --- that the command has stopped: said by the holder, heard by the breaker ------------------- */

struct rlock_stopping {
    rlock_releases ear; /* all that there is */
};

void rlock_say_stopped(rlock_lock *lock, int64_t deadline_ms) {
    rlock_client *client = lock->client;
    char *channel = rlock__break_channel(lock->owner);
    const char *const words[] = {"PUBLISH", channel, "stopped"};
    for (size_t i = 0; channel != NULL && i < client->routes.count; i++) {
        const struct rlock__limit limit = rlock__client_limit(client, deadline_ms, -1);
        struct rlock__link *link;
        rlock__reply *reply = NULL;
        if (rlock__route_find(&client->routes.at[i], lock->resources[0].name, &limit, &link) ==
                RLOCK_OK &&
            rlock__link_ask_words(link, 3, words))
            (void)rlock__link_call(link, &limit, &reply);
        rlock__reply_free(reply);
    }
    free(channel);
}

enum rlock_status rlock_stopping_new(rlock_stopping **out, rlock_client *client, const char *owner,
                                     int64_t deadline_ms) {
    rlock_stopping *stopping = *out = calloc(1, sizeof *stopping);
    if (stopping == NULL || (stopping->ear.listener.channel = rlock__break_channel(owner)) == NULL)
        return RLOCK_SYSTEM;
    /* The name is that of no lock: no script is sent about it. */
    return subscribe(&stopping->ear, client, "stopping", "run", RLOCK__OWN_CHANNEL, deadline_ms,
                     -1);
}

enum rlock_status rlock_stopping_wait(rlock_stopping *stopping, int64_t deadline_ms) {
    const struct rlock__limit limit = {deadline_ms, -1};
    enum rlock_status status = RLOCK_OK;
    bool stopped = false;
    while (status == RLOCK_OK && !stopped) {
        if (rlock_now_ms() >= deadline_ms)
            return RLOCK_BUSY;
        status = rlock__hear(&stopping->ear.listener, 1, -1, &limit);
        stopped = (rlock__take_news(stopping->ear.lock->resources).what & RLOCK__STOPPED) != 0;
    }
    return status;
}

void rlock_stopping_free(rlock_stopping *stopping) {
    rlock_releases_free((rlock_releases *)stopping);
}
