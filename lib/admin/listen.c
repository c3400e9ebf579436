/* listen.c: hears of locks that others hold, without joining their queue: that a lock was released;
 * that after `rlock break` the holder's command has stopped. */
#include <stdlib.h>

#include "lock/lock.h"
#include "redis/link.h"
#include "rlock_admin.h"

struct rlock_subscription {
    struct rlock__listener listener;
    rlock_lock *lock; /* never taken: it knows the channels */
};

enum rlock_status rlock_subscription_new(rlock_subscription **out, rlock_client *client,
                                         const char *name, const char *kind, const char *owner,
                                         int64_t deadline_ms, int cancel_fd) {
    const struct rlock__limit limit = rlock__client_limit(client, deadline_ms, cancel_fd);
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.kind = kind;
    options.names = &name;
    options.name_count = 1;
    rlock_subscription *subscription = *out = calloc(1, sizeof *subscription);
    if (subscription == NULL)
        return RLOCK_SYSTEM;
    struct rlock__listener *listener = &subscription->listener;
    if (owner != NULL && (listener->channel = rlock__break_channel(owner)) == NULL)
        return RLOCK_SYSTEM;
    const enum rlock_status status = rlock_lock_new(&subscription->lock, client, &options);
    if (status != RLOCK_OK)
        return status;
    struct rlock__resource *resource = subscription->lock->resources;
    resource->wanted = owner != NULL ? RLOCK__OWN_CHANNEL : RLOCK__BOTH_CHANNELS;
    return rlock__final(rlock__listen(listener, client, resource, 1, &limit));
}

enum rlock_status rlock_subscription_wait(rlock_subscription *subscription, int64_t until_ms,
                                          int cancel_fd) {
    const struct rlock__limit limit = {until_ms, cancel_fd};
    for (;;) {
        const enum rlock_status status = rlock__hear(&subscription->listener, 1, -1, &limit);
        const unsigned what = rlock__take_news(subscription->lock->resources).what;
        if (status != RLOCK_OK || (what & (RLOCK__RELEASED | RLOCK__STOPPED)) != 0)
            return status;
        if (rlock_now_ms() >= until_ms)
            return RLOCK_BUSY;
    }
}

void rlock_subscription_free(rlock_subscription *subscription) {
    if (subscription == NULL)
        return;
    rlock__listener_free(&subscription->listener);
    rlock_lock_free(subscription->lock);
    free(subscription);
}

void rlock_say_stopped(rlock_lock *lock, int64_t deadline_ms) {
    rlock_client *client = lock->client;
    const char *name = rlock__resource_first_held(lock)->name;
    char *channel = rlock__break_channel(lock->owner);
    const char *const words[] = {"PUBLISH", channel, "stopped"};
    for (size_t i = 0; channel != NULL && i < client->routes.count; i++) {
        const struct rlock__limit limit = rlock__client_limit(client, deadline_ms, -1);
        struct rlock__link *link;
        rlock__reply *reply = NULL;
        if (rlock__route_find(&client->routes.at[i], name, &limit, &link) == RLOCK_OK)
            (void)rlock__link_query(link, 3, words, &limit, &reply);
        rlock__reply_free(reply);
    }
    free(channel);
}
