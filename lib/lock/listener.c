/* listener.c: listens for the message that a lock was given back.
 *
 * Every waiter has a channel of its own, on which a release wakes one waiter at a time: a hand-off
 * among a thousand costs what it costs among two. Redisson's releases are published on the common
 * channel only, so the first in line subscribes to that too. */
#include "lock/listener.h"

#include <poll.h>
#include <stdlib.h>

#include "lock/lock.h"
#include "os/clock.h"

bool rlock__listener_make(struct rlock__listener *listener, const struct rlock_client *client,
                          struct rlock__error *error) {
    if (listener->subscriptions != NULL)
        return true;
    if (!rlock__client_routes(client, &listener->routes, error))
        return false;
    listener->subscriptions = calloc(listener->routes.count, sizeof *listener->subscriptions);
    return listener->subscriptions != NULL;
}

void rlock__listen_no_more(struct rlock__listener *listener) {
    for (size_t i = 0; listener->subscriptions != NULL && i < listener->routes.count; i++) {
        if (listener->subscriptions[i].link != NULL)
            rlock__subscription_close(&listener->subscriptions[i], &listener->routes.at[i]);
        listener->subscriptions[i].again_ms = 0;
    }
    for (size_t i = 0; listener->resources != NULL && i < listener->resource_count; i++) {
        struct rlock__resource *resource = &listener->resources[i];
        resource->wanted = resource->heard = RLOCK__NO_CHANNEL;
        (void)rlock__take_news(resource);
    }
    listener->resources = NULL;
}

void rlock__listener_free(struct rlock__listener *listener) {
    rlock__listen_no_more(listener);
    rlock__routes_free(&listener->routes);
    free(listener->subscriptions);
    free(listener->channel);
}

static size_t count_closed(const struct rlock__listener *listener) {
    size_t count = 0;
    for (size_t i = 0; i < listener->routes.count; i++)
        count += listener->subscriptions[i].link == NULL;
    return count;
}

static size_t count_hearing(const struct rlock__listener *listener) {
    size_t count = 0;
    for (size_t i = 0; i < listener->routes.count; i++)
        count +=
            listener->subscriptions[i].link != NULL && listener->subscriptions[i].unconfirmed == 0;
    return count;
}

/* Subscribes one server's to the channels that are wanted; heard: which it has already. */
static enum rlock_status add_channels(const struct rlock__listener *listener,
                                      struct rlock__subscription *subscription,
                                      const struct rlock__resource *resource,
                                      enum rlock__channels heard) {
    const char *own = listener->channel != NULL ? listener->channel : resource->own_channel;
    enum rlock_status status = RLOCK_OK;
    if (resource->wanted > RLOCK__NO_CHANNEL && heard == RLOCK__NO_CHANNEL)
        status = rlock__subscription_add(subscription, own);
    if (status == RLOCK_OK && resource->wanted == RLOCK__BOTH_CHANNELS && heard < resource->wanted)
        status = rlock__subscription_add(subscription, resource->channel);
    return status;
}

/* Begins to connect, and says what to subscribe to. */
static enum rlock_status begin(struct rlock__listener *listener, size_t i,
                               const struct rlock__limit *limit) {
    struct rlock__subscription *subscription = &listener->subscriptions[i];
    struct rlock__route *route = &listener->routes.at[i];
    const struct rlock__resource *resources = listener->resources;
    enum rlock_status status =
        rlock__route_find(route, resources->name, limit, &subscription->link);
    if (status != RLOCK_OK)
        return status;
    subscription->sharded = listener->channel == NULL &&
                            rlock__route_sharded(route, resources->name, resources->channel);
    for (size_t k = 0; status == RLOCK_OK && k < listener->resource_count; k++)
        status = add_channels(listener, subscription, &resources[k], RLOCK__NO_CHANNEL);
    return status;
}

/* One that has failed is begun anew after a pause, as long as others listen. */
static enum rlock_status fail_subscription(struct rlock__listener *listener, size_t i,
                                           enum rlock_status status) {
    struct rlock__route *route = &listener->routes.at[i];
    *listener->routes.error = route->error;
    rlock__route_doubt(route);
    rlock__subscription_close(&listener->subscriptions[i], route);
    return status == RLOCK_UNAVAILABLE ? RLOCK_AGAIN : status; /* it may be another server soon */
}

/* What we gave back on one of several servers, we hear of there ourselves: that is no news. */
static enum rlock__io hear_others(const struct rlock__listener *listener, size_t i) {
    struct rlock__resource *first = listener->resources;
    const struct rlock__news before = first->news;
    const bool is_own =
        listener->routes.count > 1 && first->instances[i].state == RLOCK__GIVEN_BACK;
    const enum rlock__io io =
        rlock__subscription_step(&listener->subscriptions[i], first, listener->resource_count);
    if (is_own)
        first->news = before;
    return io;
}

/* All subscriptions one step on, begun where it is time. Returns the last failure, or RLOCK_OK. */
static enum rlock_status step_all(struct rlock__listener *listener,
                                  const struct rlock__limit *limit) {
    enum rlock_status failure = RLOCK_OK;
    for (size_t i = 0; i < listener->routes.count; i++) {
        struct rlock__subscription *subscription = &listener->subscriptions[i];
        enum rlock_status status = RLOCK_OK;
        if (subscription->link == NULL) {
            if (rlock_now_ms() < subscription->again_ms)
                continue;
            status = begin(listener, i, limit);
        }
        if (status == RLOCK_OK) {
            const enum rlock__io io = hear_others(listener, i);
            if (io == RLOCK__IO_WAIT)
                continue;
            status = rlock__io_status(io);
        }
        failure = fail_subscription(listener, i, status);
    }
    return failure;
}

/* Adds what one waits for, and when it goes on by itself. Returns how many descriptors that are. */
static size_t add_polled(const struct rlock__listener *listener, struct pollfd *fds,
                         int64_t *again_ms) {
    size_t n = 0;
    for (size_t i = 0; listener->resources != NULL && i < listener->routes.count; i++) {
        const struct rlock__subscription *subscription = &listener->subscriptions[i];
        if (subscription->link != NULL)
            rlock__link_poll(subscription->link, &fds[n++], again_ms);
        else
            *again_ms = rlock__sooner_ms(*again_ms, subscription->again_ms);
    }
    return n;
}

/* Waits until a subscription can go on. RLOCK_OK; RLOCK_AGAIN: the deadline, or beside_fd;
 * RLOCK_CANCELLED. */
static enum rlock_status wait_for_any(const struct rlock__listener *listeners, size_t count,
                                      int beside_fd, const struct rlock__limit *limit) {
    /* A single listener, or one for each name of a pool in a cluster, which is one server. */
    struct pollfd fds[1 + RLOCK_SERVERS_MAX + RLOCK_CLUSTER_POOL_MAX + 1] = {
        {.fd = beside_fd, .events = POLLIN}};
    int64_t again_ms = RLOCK_FOREVER;
    size_t n = 1;
    for (size_t i = 0; i < count; i++)
        n += add_polled(&listeners[i], &fds[n], &again_ms);
    const enum rlock_status status = rlock__poll_any(fds, n, again_ms, limit);
    return status == RLOCK_OK && fds[0].revents != 0 ? RLOCK_AGAIN : status;
}

/* Adds the resource's channels to those that the open subscriptions have. False: no memory. */
static bool add_to_all(struct rlock__listener *listener, struct rlock__resource *resource) {
    bool added = true;
    for (size_t i = 0; added && i < listener->routes.count; i++) {
        struct rlock__subscription *subscription = &listener->subscriptions[i];
        added = subscription->link == NULL ||
                add_channels(listener, subscription, resource, resource->heard) == RLOCK_OK;
    }
    resource->heard = resource->wanted;
    return added;
}

static enum rlock_status end_listen(struct rlock__listener *listener, enum rlock_status status) {
    if (status != RLOCK_OK)
        rlock__listen_no_more(listener);
    return status;
}

enum rlock_status rlock__listen(struct rlock__listener *listener, struct rlock_client *client,
                                struct rlock__resource *resources, size_t count,
                                const struct rlock__limit *limit) {
    if (!rlock__listener_make(listener, client, &client->error))
        return RLOCK_SYSTEM;
    if (listener->resources != resources)
        rlock__listen_no_more(listener);
    listener->resources = resources;
    listener->resource_count = count;
    for (size_t k = 0; k < count; k++) {
        if (!add_to_all(listener, &resources[k]))
            return end_listen(listener, RLOCK_SYSTEM);
    }
    const size_t enough = rlock__majority(listener->routes.count);
    enum rlock_status failure = RLOCK_OK;
    for (;;) {
        const enum rlock_status last = step_all(listener, limit);
        failure = last != RLOCK_OK ? last : failure;
        const size_t hearing = count_hearing(listener);
        const size_t closed = count_closed(listener);
        if (failure == RLOCK_CANCELLED)
            return end_listen(listener, failure);
        if (hearing >= enough || (hearing > 0 && hearing + closed == listener->routes.count))
            return RLOCK_OK;
        if (closed == listener->routes.count)
            return end_listen(listener, failure);
        const enum rlock_status status = wait_for_any(listener, 1, -1, limit);
        if (status == RLOCK_AGAIN && hearing > 0)
            return RLOCK_OK;
        if (status == RLOCK_AGAIN)
            rlock__error_set(listener->routes.error, "no answer in time");
        if (status != RLOCK_OK)
            return end_listen(listener, status);
    }
}

/* Asked at another place since, or over a newer connection: the same host's name may lead to
 * another server by now. */
static bool is_elsewhere(const struct rlock__subscription *subscription,
                         const struct rlock__link *asked) {
    if (asked == NULL || subscription->link == NULL)
        return false;
    return !rlock__link_is_at(asked, subscription->link->host, subscription->link->port) ||
           (subscription->link->stage == RLOCK__READY &&
            asked->ready_ms > subscription->link->ready_ms);
}

bool rlock__listens_elsewhere(struct rlock__listener *listener,
                              const struct rlock__routes *routes) {
    bool any = false;
    for (size_t i = 0; listener->resources != NULL && i < routes->count; i++) {
        if (!is_elsewhere(&listener->subscriptions[i],
                          rlock__route_used(&routes->at[i], listener->resources->name)))
            continue;
        any = true;
        rlock__route_doubt(&listener->routes.at[i]);
        rlock__subscription_close(&listener->subscriptions[i], &listener->routes.at[i]);
        listener->subscriptions[i].again_ms = 0;
    }
    return any && count_closed(listener) >= rlock__majority(listener->routes.count);
}

struct rlock__news rlock__take_news(struct rlock__resource *resource) {
    const struct rlock__news news = resource->news;
    resource->news = (struct rlock__news){.what = 0};
    return news;
}

/* What is there to be read; one release may speak on both channels: all that has come is read
 * before a try. RLOCK_OK, RLOCK_CANCELLED, RLOCK_UNAVAILABLE: what is said now may not be heard. */
static enum rlock_status read_all(struct rlock__listener *listener,
                                  const struct rlock__limit *limit, bool *any_news) {
    const enum rlock_status failure = step_all(listener, limit);
    if (failure == RLOCK_CANCELLED)
        return failure;
    const size_t closed = count_closed(listener);
    if (closed == listener->routes.count) {
        rlock__listen_no_more(listener);
        return RLOCK_UNAVAILABLE;
    }
    for (size_t i = 0; i < listener->resource_count; i++)
        *any_news = *any_news || listener->resources[i].news.what != 0;
    const bool deaf = failure != RLOCK_OK && closed >= rlock__majority(listener->routes.count);
    return deaf && !*any_news ? RLOCK_UNAVAILABLE : RLOCK_OK;
}

enum rlock_status rlock__hear(struct rlock__listener *listeners, size_t count, int beside_fd,
                              const struct rlock__limit *limit) {
    for (;;) {
        bool any_news = false;
        enum rlock_status status = RLOCK_OK;
        for (size_t i = 0; i < count && status != RLOCK_CANCELLED; i++) {
            if (listeners[i].resources == NULL)
                continue;
            const enum rlock_status one = read_all(&listeners[i], limit, &any_news);
            status = one != RLOCK_OK ? one : status;
        }
        if (status != RLOCK_OK || any_news)
            return status;
        status = wait_for_any(listeners, count, beside_fd, limit);
        if (status != RLOCK_OK)
            return status == RLOCK_AGAIN ? RLOCK_OK : status;
    }
}
