/* wait.c: listens for the message that a lock was given back.
 *
 * Every waiter has a channel of its own, on which a release wakes one waiter at a time: a hand-off
 * among a thousand costs what it costs among two. Redisson's releases speak on everybody's channel
 * only, so the first in line listens there too. */
#include "wait.h"

#include <stdlib.h>
#include <string.h>

#include "part.h"

#define NO_NEWS ((struct rlock__news){.first_ms = -1})

void rlock__listen_no_more(struct rlock__listener *listener) {
    rlock__route_close(&listener->route);
    listener->part = NULL;
    listener->shared = false;
    listener->heard = NO_NEWS;
}

/* A failed listener hears nothing: its caller begins anew. */
static enum rlock_status deaf(struct rlock__listener *listener, enum rlock_status status) {
    rlock__listen_no_more(listener);
    return status;
}

static enum rlock_status send_words(struct rlock__listener *listener, const char *verb,
                                    const char *const *channels, size_t count,
                                    const struct rlock__limit *limit) {
    struct rlock__arg args[3] = {{verb, strlen(verb)}};
    for (size_t i = 0; i < count; i++)
        args[i + 1] = (struct rlock__arg){channels[i], strlen(channels[i])};
    return rlock__conn_send(&listener->route.conn, count + 1, args, limit, &listener->route.error);
}

/* Takes one message into the news. */
static void note(const struct rlock__part *part, const rlock__reply *reply,
                 struct rlock__news *news) {
    static const char first[] = "first ";
    const char *what = rlock__reply_text(reply, 0);
    const char *channel = rlock__reply_text(reply, 1);
    const char *text = rlock__reply_text(reply, 2);
    if (what == NULL || channel == NULL || text == NULL || strcmp(what, "message") != 0)
        return;
    if (strcmp(channel, part->own_channel) != 0)
        news->released = true;
    else if (strncmp(text, first, sizeof first - 1) == 0)
        news->first_ms = strtoll(text + sizeof first - 1, NULL, 10);
    else
        news->woken = true;
}

/* Reads replies until `count` subscriptions are confirmed. What is heard between them is kept for
 * the next rlock__hear(). */
static enum rlock_status await_confirmations(struct rlock__listener *listener,
                                             const struct rlock__part *part, size_t count,
                                             const struct rlock__limit *limit) {
    while (count > 0) {
        rlock__reply *reply = NULL;
        enum rlock_status status =
            rlock__conn_receive(&listener->route.conn, &reply, limit, &listener->route.error);
        if (status == RLOCK_OK)
            status = rlock__route_judge(&listener->route, reply);
        if (status == RLOCK_OK) {
            const char *what = rlock__reply_text(reply, 0);
            if (what != NULL && strcmp(what, "subscribe") == 0)
                count--;
            note(part, reply, &listener->heard);
        }
        rlock__reply_free(reply);
        if (status != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

enum rlock_status rlock__listen(struct rlock__listener *listener, struct rlock__part *part,
                                bool shared, const struct rlock__limit *limit) {
    if (listener->part != part)
        rlock__listen_no_more(listener);
    const char *channels[2];
    size_t count = 0;
    if (listener->part == NULL)
        channels[count++] = part->own_channel;
    if (shared && !listener->shared)
        channels[count++] = part->channel;
    if (count == 0)
        return RLOCK_OK;
    enum rlock_status status = rlock__route_connect(&listener->route, limit);
    if (status == RLOCK_OK)
        status = send_words(listener, "SUBSCRIBE", channels, count, limit);
    if (status == RLOCK_OK)
        status = await_confirmations(listener, part, count, limit);
    if (status != RLOCK_OK)
        return deaf(listener, status == RLOCK_UNAVAILABLE ? RLOCK_AGAIN : status);
    listener->part = part;
    listener->shared = listener->shared || shared;
    return RLOCK_OK;
}

void rlock__listen_alone(struct rlock__listener *listener, const struct rlock__limit *limit) {
    const char *channels[] = {listener->part->channel};
    (void)send_words(listener, "UNSUBSCRIBE", channels, 1, limit);
    listener->shared = false;
}

static bool is_news(const struct rlock__news *news) {
    return news->woken || news->released || news->first_ms >= 0;
}

enum rlock_status rlock__hear(struct rlock__listener *listener, const struct rlock__limit *limit,
                              struct rlock__news *news) {
    struct rlock__limit bound = *limit;
    *news = listener->heard;
    listener->heard = NO_NEWS;
    for (;;) {
        rlock__reply *reply = NULL;
        /* One release may speak on both channels: read all that has come, then try once. */
        bound.deadline_ms = is_news(news) ? 0 : limit->deadline_ms;
        enum rlock_status status =
            rlock__conn_receive(&listener->route.conn, &reply, &bound, &listener->route.error);
        if (status == RLOCK_UNAVAILABLE)
            return deaf(listener, status);
        if (status == RLOCK_AGAIN && is_news(news))
            return RLOCK_OK;
        if (status != RLOCK_OK)
            return status;
        note(listener->part, reply, news);
        rlock__reply_free(reply);
    }
}
