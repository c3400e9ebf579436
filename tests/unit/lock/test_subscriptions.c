/* test_subscriptions.c: listening on several servers, and on a cluster's shard. */
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lock/lock.h"
#include "support/peer.h"

enum { SERVERS_MAX = 3, LONG_MS = 5000, SHORT_MS = 100, TEXT_SIZE = 1024 };

/* In what a server says: the own channel and the shared one, as bulk strings. */
#define OWN    "@own"
#define SHARED "@shared"

#define CONFIRM(channel) "*3\r\n$9\r\nsubscribe\r\n" channel ":1\r\n"
#define WAKE             "*3\r\n$7\r\nmessage\r\n" OWN "$1\r\n0\r\n"
#define RELEASED         "*3\r\n$7\r\nmessage\r\n" SHARED "$1\r\n0\r\n"

struct fixture {
    size_t count;
    struct peer peers[SERVERS_MAX];
    const char *answers[SERVERS_MAX][8];
    char texts[SERVERS_MAX][8][TEXT_SIZE];
    rlock_client *client;
    rlock_lock *lock;
    struct rlock__news news;
};

static void make(struct fixture *f, const char *const *urls) {
    const char *names[] = {"x"};
    const struct rlock_client_options client = {.size = sizeof client,
                                                .servers = urls,
                                                .server_count = f->count,
                                                .connect_timeout_ms = LONG_MS,
                                                .io_timeout_ms = LONG_MS};
    const struct rlock_lock_options lock = {
        .size = sizeof lock, .kind = "run", .names = names, .name_count = 1, .lease_ms = 30000};
    assert_int_equal(rlock_client_new(&f->client, &client), RLOCK_OK);
    assert_int_equal(rlock_lock_new(&f->lock, f->client, &lock), RLOCK_OK);
}

static void begin(struct fixture *f) {
    char urls[SERVERS_MAX][128];
    const char *servers[SERVERS_MAX];
    *f = (struct fixture){.count = SERVERS_MAX};
    for (size_t i = 0; i < f->count; i++) {
        peer_start(&f->peers[i], f->answers[i]);
        (void)snprintf(urls[i], sizeof urls[i], "unix://%s", f->peers[i].path);
        servers[i] = urls[i];
    }
    make(f, servers);
}

/* Writes what a server says, with the channels' names. */
static void spell(const struct fixture *f, char *to, const char *text) {
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

/* Says the next thing that a server says. */
static void says(struct fixture *f, size_t server, const char *text) {
    size_t i = 0;
    while (f->answers[server][i] != NULL)
        i++;
    f->answers[server][i] = text;
    if (text == PEER_CLOSE || text == PEER_SILENT)
        return;
    spell(f, f->texts[server][i], text);
    f->answers[server][i] = f->texts[server][i];
}

static void end(struct fixture *f) {
    rlock_lock_free(f->lock);
    rlock_client_free(f->client);
    for (size_t i = 0; i < f->count; i++)
        peer_stop(&f->peers[i]);
}

static void forget(struct fixture *f) {
    for (size_t i = 0; i < f->count; i++)
        peer_free(&f->peers[i]);
}

static enum rlock_status listen_within(struct fixture *f, bool shared, int64_t ms) {
    const struct rlock__limit limit = {rlock_now_ms() + ms, -1, NULL};
    return rlock__listen(&f->lock->listener, f->client, &f->lock->resources[0], shared, &limit);
}

static enum rlock_status hear_within(struct fixture *f, int64_t ms) {
    const struct rlock__limit limit = {rlock_now_ms() + ms, -1, NULL};
    return rlock__hear(&f->lock->listener, &limit, &f->news);
}

/* --- several servers ----------------------------------------------------------------------------
 */

static void a_majority_that_hears_is_enough(void **state) {
    (void)state;
    static const char *const thirds[] = {PEER_SILENT, PEER_CLOSE, "-NOPERM no\r\n",
                                         "-LOADING wait\r\n"};
    for (size_t i = 0; i < COUNT(thirds); i++) {
        struct fixture f;
        begin(&f);
        says(&f, 0, CONFIRM(OWN));
        says(&f, 1, thirds[i]);
        says(&f, 2, CONFIRM(OWN));
        const int64_t begun_ms = rlock_now_ms();
        assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
        assert_true(rlock_now_ms() - begun_ms < LONG_MS / 2);
        assert_ptr_equal(f.lock->listener.resource, &f.lock->resources[0]);
        assert_int_equal(hear_within(&f, SHORT_MS), RLOCK_OK);
        assert_false(rlock__is_news(&f.news));
        end(&f);
        for (size_t k = 0; k < 3; k++) {
            assert_string_equal(f.peers[k].requests[0].words[0].data, "SUBSCRIBE");
            assert_int_equal(f.peers[k].requests[0].word_count, 2);
        }
        forget(&f);
    }
}

static void each_server_wakes(void **state) {
    (void)state;
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        struct fixture f;
        begin(&f);
        for (size_t k = 0; k < SERVERS_MAX; k++)
            says(&f, k, k == i ? CONFIRM(OWN) WAKE : CONFIRM(OWN));
        assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
        assert_int_equal(hear_within(&f, LONG_MS), RLOCK_OK);
        assert_true(f.news.woken);
        assert_false(f.news.released);
        end(&f);
        forget(&f);
    }
}

/* A second later, as long as others hear. */
static void who_has_gone_deaf_hears_again(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    says(&f, 0, CONFIRM(OWN));
    says(&f, 1, CONFIRM(OWN));
    says(&f, 2, PEER_CLOSE);
    says(&f, 2, CONFIRM(OWN));
    says(&f, 2, CONFIRM(SHARED) RELEASED);
    assert_int_equal(listen_within(&f, true, LONG_MS), RLOCK_AGAIN); /* the two closed at SHARED */
    end(&f);
    forget(&f);

    begin(&f);
    for (size_t i = 0; i < 2; i++) {
        says(&f, i, CONFIRM(OWN));
        says(&f, i, CONFIRM(SHARED));
    }
    says(&f, 2, PEER_CLOSE);
    says(&f, 2, CONFIRM(OWN));
    says(&f, 2, CONFIRM(SHARED) RELEASED);
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(listen_within(&f, true, LONG_MS), RLOCK_OK);
    assert_int_equal(hear_within(&f, LONG_MS), RLOCK_OK);
    assert_in_range(rlock_now_ms() - begun_ms, 900, LONG_MS - 1);
    assert_true(f.news.released);
    end(&f);
    assert_int_equal(f.peers[2].requests[1].connection, 2);
    forget(&f);
}

static void when_all_are_deaf_it_is_told(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        says(&f, i, CONFIRM(OWN));
        says(&f, i, PEER_CLOSE);
    }
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
    assert_int_equal(listen_within(&f, true, LONG_MS), RLOCK_AGAIN);
    assert_null(f.lock->listener.resource);
    assert_string_equal(f.lock->listener.error->text, "the server closed the connection");
    end(&f);
    forget(&f);
}

static void a_refusal_of_all_is_final(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    for (size_t i = 0; i < SERVERS_MAX; i++)
        says(&f, i, "-NOPERM no\r\n");
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_DENIED);
    assert_null(f.lock->listener.resource);
    end(&f);
    forget(&f);
}

static void silence_ends_at_the_limit(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    for (size_t i = 0; i < SERVERS_MAX; i++)
        says(&f, i, PEER_SILENT);
    assert_int_equal(listen_within(&f, false, SHORT_MS), RLOCK_AGAIN);
    assert_string_equal(f.lock->listener.error->text, "no answer in time");
    assert_null(f.lock->listener.resource);
    end(&f);
    forget(&f);
}

/* --- a cluster ----------------------------------------------------------------------------------
 */

#define SCONFIRM(channel) "*3\r\n$10\r\nssubscribe\r\n" channel ":1\r\n"

/* One node that serves everything, and knows sharded channels or does not. */
static void begin_cluster(struct fixture *f, const char *shards) {
    char url[64], slots[TEXT_SIZE];
    const char *urls[] = {url};
    *f = (struct fixture){.count = 1};
    peer_listen_tcp(&f->peers[0]);
    (void)snprintf(url, sizeof url, "cluster://127.0.0.1:%s", f->peers[0].port);
    make(f, urls);
    (void)snprintf(slots, sizeof slots,
                   "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$0\r\n\r\n:%s\r\n$2\r\nid\r\n",
                   f->peers[0].port);
    says(f, 0, slots);
    says(f, 0, shards);
    peer_serve(&f->peers[0], f->answers[0]);
}

static void a_shard_has_channels_of_its_own(void **state) {
    (void)state;
    struct fixture f;
    begin_cluster(&f, "*0\r\n");
    says(&f, 0, SCONFIRM(OWN) "*3\r\n$8\r\nsmessage\r\n" OWN "$1\r\n0\r\n");
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
    assert_int_equal(hear_within(&f, LONG_MS), RLOCK_OK);
    assert_true(f.news.woken);
    end(&f);
    assert_string_equal(f.peers[0].requests[2].words[0].data, "SSUBSCRIBE");
    forget(&f);
}

static void an_older_cluster_has_one_bus(void **state) {
    (void)state;
    struct fixture f;
    begin_cluster(&f, "-ERR unknown subcommand 'SHARDNUMSUB'\r\n");
    says(&f, 0, CONFIRM(OWN));
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
    end(&f);
    assert_string_equal(f.peers[0].requests[2].words[0].data, "SUBSCRIBE");
    forget(&f);
}

/* Says something by itself, over a connection that takes the place of the subscription's. */
static int interrupt(struct fixture *f, const char *text) {
    char spelt[TEXT_SIZE];
    int fds[2];
    spell(f, spelt, text);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(send(fds[1], spelt, strlen(spelt), 0), strlen(spelt));
    assert_true(dup3(fds[0], f->lock->listener.subscriptions[0].link->conn.fd, O_CLOEXEC) >= 0);
    close(fds[0]);
    return fds[1];
}

/* The slot has moved, and the channel with it: whoever asks the cluster anew finds where to. */
static void a_channel_that_moves_is_told(void **state) {
    (void)state;
    struct fixture f;
    begin_cluster(&f, "*0\r\n");
    says(&f, 0, SCONFIRM(OWN));
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
    const int other_end = interrupt(&f, "*3\r\n$12\r\nsunsubscribe\r\n" OWN ":0\r\n");
    assert_int_equal(hear_within(&f, SHORT_MS), RLOCK_UNAVAILABLE);
    assert_null(f.lock->listener.resource);
    close(other_end);
    end(&f);
    forget(&f);
}

static void a_subscription_may_be_sent_elsewhere(void **state) {
    (void)state;
    struct fixture f;
    begin_cluster(&f, "*0\r\n");
    says(&f, 0, "-MOVED 16287 127.0.0.1:1\r\n");
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_AGAIN);
    assert_string_equal(f.lock->listener.error->text, "MOVED 16287 127.0.0.1:1");
    end(&f);
    forget(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_majority_that_hears_is_enough),
        cmocka_unit_test(each_server_wakes),
        cmocka_unit_test(who_has_gone_deaf_hears_again),
        cmocka_unit_test(when_all_are_deaf_it_is_told),
        cmocka_unit_test(a_refusal_of_all_is_final),
        cmocka_unit_test(silence_ends_at_the_limit),
        cmocka_unit_test(a_shard_has_channels_of_its_own),
        cmocka_unit_test(an_older_cluster_has_one_bus),
        cmocka_unit_test(a_channel_that_moves_is_told),
        cmocka_unit_test(a_subscription_may_be_sent_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
