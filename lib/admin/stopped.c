/* stopped.c: that the command of a holder whose lock was broken has stopped: said by the holder,
 * heard by the breaker. Both use the channel on which the holder hears of the break. */
#include <stdio.h>
#include <stdlib.h>

#include "lock/lock.h"
#include "redis/reply_error.h"
#include "rlock_admin.h"

struct rlock_stopping {
    struct rlock__listener listener;
    struct rlock__error error;
    rlock_lock *lock; /* what the listener takes a resource for */
    char *channel;
};

static char *channel_of(const char *owner) {
    char *channel = NULL;
    return asprintf(&channel, "rlock_break:%s", owner) >= 0 ? channel : NULL;
}

void rlock_say_stopped(rlock_lock *lock, int64_t deadline_ms) {
    rlock_client *client = lock->client;
    char *channel = channel_of(lock->owner);
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
    const char *const names[] = {"stopping"}; /* no script is sent about it */
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    const struct rlock__limit limit = rlock__client_limit(client, deadline_ms, -1);
    rlock_stopping *stopping = *out = calloc(1, sizeof *stopping);
    if (stopping == NULL)
        return RLOCK_SYSTEM;
    options.names = names;
    options.name_count = 1;
    stopping->channel = channel_of(owner);
    const enum rlock_status status = rlock_lock_new(&stopping->lock, client, &options);
    stopping->listener =
        (struct rlock__listener){.error = &stopping->error, .channel = stopping->channel};
    if (status != RLOCK_OK || stopping->channel == NULL)
        return RLOCK_SYSTEM;
    return rlock__final(
        rlock__listen(&stopping->listener, client, &stopping->lock->resources[0], false, &limit));
}

enum rlock_status rlock_stopping_wait(rlock_stopping *stopping, int64_t deadline_ms) {
    const struct rlock__limit limit = {deadline_ms, -1, NULL};
    enum rlock_status status = RLOCK_OK;
    struct rlock__news news = {.stopped = false};
    while (status == RLOCK_OK && !news.stopped) {
        if (rlock_now_ms() >= deadline_ms)
            return RLOCK_BUSY;
        status = rlock__hear(&stopping->listener, &limit, &news);
    }
    return status;
}

void rlock_stopping_free(rlock_stopping *stopping) {
    if (stopping == NULL)
        return;
    rlock__listener_free(&stopping->listener);
    rlock_lock_free(stopping->lock);
    free(stopping->channel);
    free(stopping);
}
