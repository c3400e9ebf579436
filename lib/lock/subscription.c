/* subscription.c: a waiter's subscription on one server, from the connection to each message. */
#include "lock/listener.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"
#include "os/clock.h"
#include "redis/link.h"

enum { PAUSE_MS = 1000 };

void rlock__subscription_close(struct rlock__subscription *subscription,
                               struct rlock__route *route) {
    rlock__route_close(route);
    rlock__request_free(&subscription->request);
    subscription->link = NULL;
    subscription->unconfirmed = 0;
    subscription->again_ms = rlock_now_ms() + PAUSE_MS;
}

enum rlock_status rlock__subscription_add(struct rlock__subscription *subscription,
                                          const char *channel) {
    const char *verb = subscription->sharded ? "SSUBSCRIBE" : "SUBSCRIBE";
    const char *words[] = {verb, channel};
    if (!rlock__request_add(&subscription->request, 2, words))
        return RLOCK_SYSTEM;
    subscription->unconfirmed++;
    return RLOCK_OK;
}

/* Which of them speaks on that channel; of one that is nobody's, the first. */
static struct rlock__resource *subject(struct rlock__resource *resources, size_t count,
                                       const char *channel) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(channel, resources[i].own_channel) == 0 ||
            strcmp(channel, resources[i].channel) == 0)
            return &resources[i];
    }
    return resources;
}

/* With an s before it on a sharded channel. */
static bool says(const rlock__reply *reply, const char *word) {
    const char *what = rlock__reply_text(reply, 0);
    return what != NULL && (strcmp(what, word) == 0 || strcmp(what, word + 1) == 0);
}

/* Takes one message into the news. */
static void note(struct rlock__resource *resources, size_t count, const rlock__reply *reply) {
    static const char first[] = "first ", broken[] = "broken ", preempt[] = "preempt ";
    const char *channel = rlock__reply_text(reply, 1);
    const char *text = rlock__reply_text(reply, 2);
    int64_t first_ms;
    if (channel == NULL || text == NULL || !says(reply, "smessage"))
        return;
    struct rlock__resource *resource = subject(resources, count, channel);
    struct rlock__news *news = &resource->news;
    if (strncmp(text, broken, sizeof broken - 1) == 0) {
        news->what |= RLOCK__BROKEN;
        (void)snprintf(news->by, sizeof news->by, "%s", text + sizeof broken - 1);
    } else if (strncmp(text, preempt, sizeof preempt - 1) == 0) {
        if ((news->what & RLOCK__BROKEN) == 0)
            (void)snprintf(news->by, sizeof news->by, "%s", text + sizeof preempt - 1);
        news->what |= RLOCK__PREEMPTED;
    } else if (strcmp(text, "stopped") == 0)
        news->what |= RLOCK__STOPPED;
    else if (strcmp(channel, resource->own_channel) != 0)
        news->what |= RLOCK__RELEASED;
    else if (strcmp(text, "beat") == 0)
        news->what |= RLOCK__HEARTBEAT;
    else if (strncmp(text, first, sizeof first - 1) != 0)
        news->what |= RLOCK__WOKEN;
    else if (rlock__resp_whole(text + sizeof first - 1, &first_ms)) {
        news->what |= RLOCK__FIRST;
        news->first_ms = rlock__resp_bounded(first_ms);
    }
}

/* The slot has moved away, and our channel with it: we are unsubscribed unasked. */
static bool says_moved(struct rlock__resource *resources, size_t count, const rlock__reply *reply) {
    const char *channel = rlock__reply_text(reply, 1);
    return says(reply, "sunsubscribe") && channel != NULL &&
           strcmp(channel, subject(resources, count, channel)->own_channel) == 0;
}

/* Reads one reply or message. */
static enum rlock__io read_one(struct rlock__subscription *subscription,
                               struct rlock__resource *resources, size_t count) {
    rlock__reply *reply = NULL;
    enum rlock__io io =
        rlock__conn_receive(&subscription->link->conn, 0, &reply, subscription->link->error);
    if (io != RLOCK__IO_DONE)
        return io;
    const enum rlock_status status = rlock__reply_judge(subscription->link, reply);
    const char *text = rlock__reply_error(reply);
    const bool elsewhere =
        (text != NULL && strncmp(text, "MOVED ", 6) == 0) || says_moved(resources, count, reply);
    if (elsewhere && text != NULL) /* not the advice for a client that knows of no cluster */
        rlock__error_set(subscription->link->error, "%s", text);
    if (elsewhere || status == RLOCK_AGAIN)
        io = RLOCK__IO_BROKEN;
    else if (status == RLOCK_UNAVAILABLE) /* a server without SUBSCRIBE: tries will do */
        io = RLOCK__IO_UNUSABLE;
    else if (status != RLOCK_OK)
        io = RLOCK__IO_DENIED; /* whatever it has against us */
    if (io == RLOCK__IO_DONE && says(reply, "ssubscribe") && subscription->unconfirmed > 0)
        subscription->unconfirmed--;
    note(resources, count, reply);
    rlock__reply_free(reply);
    return io;
}

enum rlock__io rlock__subscription_step(struct rlock__subscription *subscription,
                                        struct rlock__resource *resources, size_t count) {
    enum rlock__io io = rlock__link_step(subscription->link);
    if (io == RLOCK__IO_DONE && subscription->request.bytes != NULL) {
        io = rlock__conn_send(&subscription->link->conn, &subscription->request,
                              subscription->link->error);
        if (io == RLOCK__IO_DONE)
            rlock__request_free(&subscription->request);
    }
    while (io == RLOCK__IO_DONE)
        io = read_one(subscription, resources, count);
    return io;
}
