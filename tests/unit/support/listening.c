/* listening.c: a lock on peers that speak of its channels. */
#include "support/listening.h"

#include <stdio.h>
#include <string.h>

void spell(const struct listening *f, char *to, const char *text) {
    const struct rlock__resource *resource = &f->lock->resources[0];
    size_t length = 0;
    while (*text != '\0') {
        const bool own = strncmp(text, OWN, strlen(OWN)) == 0;
        if (!own && strncmp(text, SHARED, strlen(SHARED)) != 0) {
            to[length++] = *text++;
            continue;
        }
        const char *channel = own ? resource->own_channel : resource->channel;
        text += own ? strlen(OWN) : strlen(SHARED);
        length += (size_t)snprintf(to + length, TEXT_SIZE - length, "$%zu\r\n%s\r\n",
                                   strlen(channel), channel);
    }
    to[length] = '\0';
}

void says(struct listening *f, size_t server, const char *text) {
    size_t i = 0;
    while (f->answers[server][i] != NULL)
        i++;
    f->answers[server][i] = text;
    if (text == NULL || text == PEER_CLOSE || text == PEER_SILENT)
        return;
    spell(f, f->texts[server][i], text);
    f->answers[server][i] = f->texts[server][i];
}

enum rlock_status listen_within(struct listening *f, bool shared, int64_t ms) {
    f->lock->resources->wanted = shared ? RLOCK__BOTH_CHANNELS : RLOCK__OWN_CHANNEL;
    const struct rlock__limit limit = {rlock_now_ms() + ms, -1};
    return rlock__listen(f->lock->listeners, f->on.client, f->lock->resources, 1, &limit);
}

enum rlock_status hear_within(struct listening *f, int64_t ms) {
    const struct rlock__limit limit = {rlock_now_ms() + ms, -1};
    const enum rlock_status status = rlock__hear(f->lock->listeners, 1, &limit);
    f->news = rlock__take_news(f->lock->resources);
    return status;
}
