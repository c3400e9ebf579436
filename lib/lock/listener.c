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

#define NO_NEWS ((struct rlock__news){.first_ms = -1})

bool rlock__listener_make(struct rlock__listener *listener, const struct rlock_client *client) {
    if (listener->subscriptions != NULL)
        return true;
    listener->heard = NO_NEWS;
    if (!rlock__client_routes(client, &listener->routes, listener->error))
        return false;
    listener->subscriptions = calloc(listener->routes.count, sizeof *listener->subscriptions);
    return listener->subscriptions != NULL;
}

void rlock__listen_no_more(struct rlock__listener *listener) {
    for (size_t i = 0; listener->subscriptions != NULL && i < listener->routes.count; i++) {
        if (listener->subscriptions[i].state != RLOCK__SUBSCRIPTION_CLOSED)
            rlock__subscription_close(&listener->subscriptions[i], &listener->routes.at[i]);
        listener->subscriptions[i].again_ms = 0;
    }
    listener->resource = NULL;
    listener->on_common = false;
    listener->heard = NO_NEWS;
}

void rlock__listener_free(struct rlock__listener *listener) {
    rlock__listen_no_more(listener);
    rlock__routes_free(&listener->routes);
    free(listener->subscriptions);
    listener->subscriptions = NULL;
}

static size_t count_in(const struct rlock__listener *listener,
                       enum rlock__subscription_state state) {
    size_t count = 0;
    for (size_t i = 0; i < listener->routes.count; i++)
        count += listener->subscriptions[i].state == state;
    return count;
}

/* Begins to connect, and says what to subscribe to. */
static enum rlock_status begin(struct rlock__listener *listener, size_t i,
                               const struct rlock__limit *limit) {
    struct rlock__subscription *subscription = &listener->subscriptions[i];
    struct rlock__route *route = &listener->routes.at[i];
    enum rlock_status status =
        rlock__route_find(route, listener->resource->name, limit, &subscription->link);
    if (status != RLOCK_OK)
        return status;
    const char *channel = listener->channel;
    subscription->sharded = channel == NULL && rlock__route_sharded(route, listener->resource->name,
                                                                    listener->resource->channel);
    subscription->state = RLOCK__SUBSCRIPTION_CONNECTING;
    status = rlock__subscription_add(subscription,
                                     channel != NULL ? channel : listener->resource->own_channel);
    if (status == RLOCK_OK && listener->on_common)
        status = rlock__subscription_add(subscription, listener->resource->channel);
    return status;
}

/* One that has failed is begun anew after a pause, as long as others listen. */
static enum rlock_status fail_subscription(struct rlock__listener *listener, size_t i,
                                           enum rlock_status status) {
    struct rlock__route *route = &listener->routes.at[i];
    *listener->error = route->error;
    rlock__route_doubt(route);
    rlock__subscription_close(&listener->subscriptions[i], route);
    return status == RLOCK_UNAVAILABLE ? RLOCK_AGAIN : status; /* it may be another server soon */
}

/* All subscriptions one step on, begun where it is time. Returns the last failure, or RLOCK_OK. */
static enum rlock_status step_all(struct rlock__listener *listener,
                                  const struct rlock__limit *limit, struct rlock__news *news) {
    enum rlock_status failure = RLOCK_OK;
    for (size_t i = 0; i < listener->routes.count; i++) {
        struct rlock__subscription *subscription = &listener->subscriptions[i];
        enum rlock_status status = RLOCK_OK;
        if (subscription->state == RLOCK__SUBSCRIPTION_CLOSED) {
            if (rlock_now_ms() < subscription->again_ms)
                continue;
            status = begin(listener, i, limit);
        }
        if (status == RLOCK_OK) {
            const enum rlock__io io =
                rlock__subscription_step(subscription, listener->resource, news);
            if (io == RLOCK__IO_WAIT)
                continue;
            status = rlock__io_status(io);
        }
        failure = fail_subscription(listener, i, status);
    }
    return failure;
}

/* Waits until a subscription can go on. RLOCK_OK, RLOCK_AGAIN: the deadline; RLOCK_CANCELLED. */
static enum rlock_status wait_for_any(const struct rlock__listener *listener,
                                      const struct rlock__limit *limit) {
    struct pollfd fds[1 + RLOCK_SERVERS_MAX + 1];
    int64_t again_ms = RLOCK_FOREVER;
    size_t n = 0;
    if (listener->beside_fd > 0)
        fds[n++] = (struct pollfd){.fd = listener->beside_fd, .events = POLLIN};
    for (size_t i = 0; i < listener->routes.count; i++) {
        const struct rlock__subscription *subscription = &listener->subscriptions[i];
        if (subscription->state != RLOCK__SUBSCRIPTION_CLOSED)
            rlock__link_poll(subscription->link, &fds[n++], &again_ms);
        else
            again_ms = rlock__sooner_ms(again_ms, subscription->again_ms);
    }
    return rlock__poll_any(fds, n, again_ms, limit);
}

static enum rlock_status end_listen(struct rlock__listener *listener, enum rlock_status status) {
    if (status != RLOCK_OK)
        rlock__listen_no_more(listener);
    return status;
}

enum rlock_status rlock__listen(struct rlock__listener *listener, const struct rlock_client *client,
                                struct rlock__resource *resource, bool on_common,
                                const struct rlock__limit *limit) {
    if (!rlock__listener_make(listener, client))
        return RLOCK_SYSTEM;
    if (listener->resource != resource)
        rlock__listen_no_more(listener);
    listener->resource = resource;
    const bool adds_common = on_common && !listener->on_common;
    listener->on_common = listener->on_common || on_common;
    for (size_t i = 0; adds_common && i < listener->routes.count; i++) {
        if (listener->subscriptions[i].state != RLOCK__SUBSCRIPTION_CLOSED &&
            rlock__subscription_add(&listener->subscriptions[i], resource->channel) != RLOCK_OK)
            return end_listen(listener, RLOCK_SYSTEM);
    }
    const size_t enough = rlock__majority(listener->routes.count);
    enum rlock_status failure = RLOCK_OK;
    for (;;) {
        const enum rlock_status last = step_all(listener, limit, &listener->heard);
        failure = last != RLOCK_OK ? last : failure;
        const size_t hearing = count_in(listener, RLOCK__SUBSCRIPTION_CONFIRMED);
        const size_t closed = count_in(listener, RLOCK__SUBSCRIPTION_CLOSED);
        if (failure == RLOCK_CANCELLED)
            return end_listen(listener, failure);
        if (hearing >= enough || (hearing > 0 && hearing + closed == listener->routes.count))
            return RLOCK_OK;
        if (closed == listener->routes.count)
            return end_listen(listener, failure);
        const enum rlock_status status = wait_for_any(listener, limit);
        if (status == RLOCK_AGAIN && hearing > 0)
            return RLOCK_OK;
        if (status == RLOCK_AGAIN)
            rlock__error_set(listener->error, "no answer in time");
        if (status != RLOCK_OK)
            return end_listen(listener, status);
    }
}

/* Asked at another place since, or over a newer connection: the same host's name may lead to
 * another server by now. */
static bool is_elsewhere(const struct rlock__subscription *subscription,
                         const struct rlock__link *asked) {
    if (asked == NULL || subscription->state == RLOCK__SUBSCRIPTION_CLOSED)
        return false;
    const bool connected = subscription->state != RLOCK__SUBSCRIPTION_CONNECTING;
    return !rlock__link_same(asked, subscription->link) ||
           (connected && asked->ready_ms > subscription->link->ready_ms);
}

bool rlock__listens_elsewhere(struct rlock__listener *listener,
                              const struct rlock__routes *routes) {
    bool any = false;
    for (size_t i = 0; listener->resource != NULL && i < routes->count; i++) {
        if (!is_elsewhere(&listener->subscriptions[i], routes->at[i].used))
            continue;
        any = true;
        rlock__route_doubt(&listener->routes.at[i]);
        rlock__subscription_close(&listener->subscriptions[i], &listener->routes.at[i]);
        listener->subscriptions[i].again_ms = 0;
    }
    return any && count_in(listener, RLOCK__SUBSCRIPTION_CLOSED) >=
                      rlock__majority(listener->routes.count);
}

static bool is_readable(int fd) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return fd > 0 && poll(&one, 1, 0) > 0;
}

bool rlock__is_news(const struct rlock__news *news) {
    return news->woken || news->released || news->broken || news->preempted || news->stopped ||
           news->heartbeat || news->first_ms >= 0;
}

enum rlock_status rlock__hear(struct rlock__listener *listener, const struct rlock__limit *limit,
                              struct rlock__news *news) {
    *news = listener->heard;
    listener->heard = NO_NEWS;
    for (;;) {
        /* One release may speak on both channels: all that has come is read before a try. */
        const enum rlock_status failure = step_all(listener, limit, news);
        if (failure == RLOCK_CANCELLED)
            return failure;
        if (count_in(listener, RLOCK__SUBSCRIPTION_CLOSED) == listener->routes.count) {
            rlock__listen_no_more(listener);
            return RLOCK_UNAVAILABLE;
        }
        if (rlock__is_news(news))
            return RLOCK_OK;
        if (failure != RLOCK_OK && count_in(listener, RLOCK__SUBSCRIPTION_CLOSED) >=
                                       rlock__majority(listener->routes.count))
            return RLOCK_UNAVAILABLE; /* what is said now may not be heard */
        const enum rlock_status status = wait_for_any(listener, limit);
        if (status == RLOCK_CANCELLED)
            return status;
        if (status == RLOCK_AGAIN || is_readable(listener->beside_fd))
            return RLOCK_OK;
    }
}
