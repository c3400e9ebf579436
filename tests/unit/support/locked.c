/* locked.c: a lock on peers, or on servers that are not there. */
#include "support/locked.h"

#include <stdio.h>
#include <string.h>

void make(struct locked *f, size_t count) {
    static const char *const x = "x";
    const char *servers[SERVERS_MAX];
    size_t names = 0;
    f->count = count;
    for (size_t i = 0; i < count; i++)
        servers[i] = f->urls[i];
    while (names < NAMES_MAX && f->names[names] != NULL)
        names++;
    const struct rlock_client_options client = {.size = sizeof client,
                                                .servers = servers,
                                                .server_count = count,
                                                .connect_timeout_ms = f->timeout_ms,
                                                .io_timeout_ms = f->timeout_ms};
    const struct rlock_lock_options lock = {.size = sizeof lock,
                                            .kind = "run",
                                            .names = names > 0 ? f->names : &x,
                                            .name_count = names > 0 ? names : 1,
                                            .any = f->any,
                                            .lease_ms = LEASE_MS};
    assert_int_equal(rlock_client_new(&f->client, &client), RLOCK_OK);
    assert_int_equal(rlock_lock_new(&f->lock, f->client, &lock), RLOCK_OK);
}

void begin(struct locked *f, size_t count, const char *const *const *answers) {
    for (size_t i = 0; i < count; i++) {
        peer_start(&f->peers[i], answers[i]);
        (void)snprintf(f->urls[i], sizeof f->urls[i], "unix://%s", f->peers[i].path);
    }
    make(f, count);
}

void end(struct locked *f) {
    rlock_lock_free(f->lock);
    rlock_client_free(f->client);
    for (size_t i = 0; i < f->count; i++)
        peer_stop(&f->peers[i]);
}

enum rlock_status try_once(struct locked *f) {
    const struct rlock_wait wait = {
        .size = sizeof wait, .deadline_ms = 0, .until_ms = RLOCK_FOREVER, .cancel_fd = -1};
    return rlock_acquire(f->lock, &wait);
}

enum rlock_status release(struct locked *f) {
    return rlock_release(f->lock, 0, rlock_now_ms() + 10 * f->timeout_ms);
}

static char letter_of(const char *sha1) {
    const struct rlock__kind *kind = rlock__kind_find("run");
    const struct {
        const struct rlock__script *script;
        char letter;
    } scripts[] = {
        {kind->acquire, 'a'}, {kind->renew, 'r'},         {kind->restore, 's'},
        {kind->release, 'b'}, {&RLOCK__TOKEN_RAISE, 't'},
    };
    for (size_t i = 0; i < COUNT(scripts); i++) {
        if (strcmp(sha1, scripts[i].script->sha1) == 0)
            return scripts[i].letter;
    }
    return '?';
}

const char *asked(const struct locked *f, size_t server) {
    static char text[PEER_REQUESTS_MAX * 3 + 1];
    const struct peer *peer = &f->peers[server];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < peer->request_count; i++) {
        const char *blank = f->names[0] != NULL && i > 0 ? " " : "";
        const char *name = f->names[0] != NULL ? peer->requests[i].words[3].data : "";
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%c%s", blank,
                                   letter_of(peer->requests[i].words[1].data), name);
    }
    return text;
}
