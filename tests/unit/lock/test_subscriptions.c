/* test_subscriptions.c: what a waiter hears: from one server, several, and a cluster's shard. */
#include "support/locked.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONG_MS = 5000, SHORT_MS = 100, TEXT_SIZE = 1024 };

/* In what a server says: the own channel and the shared one, as bulk strings. */
#define OWN    "@own"
#define SHARED "@shared"

#define CONFIRM(channel)       "*3\r\n$9\r\nsubscribe\r\n" channel ":1\r\n"
#define MESSAGE(channel, text) "*3\r\n$7\r\nmessage\r\n" channel text
#define ZERO                   "$1\r\n0\r\n"
#define WAKE                   MESSAGE(OWN, ZERO)
#define RELEASED               MESSAGE(SHARED, ZERO)
#define FIRST                  MESSAGE(OWN, "$11\r\nfirst 30000\r\n")

struct listening {
    struct locked on;
    rlock_lock *lock; /* on's */
    const char *answers[SERVERS_MAX][8];
    char texts[SERVERS_MAX][8][TEXT_SIZE];
    struct rlock__news news; /* what was heard last */
};

/* Writes what a server says, with the channels' names. */
static void spell(const struct listening *f, char *to, const char *text) {
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
static void says(struct listening *f, size_t server, const char *text) {
    size_t i = 0;
    while (f->answers[server][i] != NULL)
        i++;
    f->answers[server][i] = text;
    if (text == NULL || text == PEER_CLOSE || text == PEER_SILENT)
        return;
    spell(f, f->texts[server][i], text);
    f->answers[server][i] = f->texts[server][i];
}

/* Listens for the lock, and for Redisson's releases too if `shared`. */
static enum rlock_status listen_within(struct listening *f, bool shared, int64_t ms) {
    f->lock->resources->wanted = shared ? RLOCK__BOTH_CHANNELS : RLOCK__OWN_CHANNEL;
    const struct rlock__limit limit = {rlock_now_ms() + ms, -1};
    return rlock__listen(f->lock->listeners, f->on.client, f->lock->resources, 1, &limit);
}

static enum rlock_status hear_within(struct listening *f, int64_t ms) {
    const struct rlock__limit limit = {rlock_now_ms() + ms, -1};
    const enum rlock_status status = rlock__hear(f->lock->listeners, 1, -1, &limit);
    f->news = rlock__take_news(f->lock->resources);
    return status;
}

static void begin_on(struct listening *f, size_t servers) {
    const char *const *answers[] = {f->answers[0], f->answers[1], f->answers[2]};
    *f = (struct listening){.on.timeout_ms = LONG_MS};
    begin(&f->on, servers, answers);
    f->lock = f->on.lock;
}

/* Told that it is first now, it subscribes once more; the release that comes before that is
 * confirmed must not be lost, or all would sleep until a cap. */
TEST(a_release_while_it_subscribes_is_heard) {
    static const struct {
        const char *said;
        unsigned heard;
    } rows[] = {{WAKE CONFIRM(SHARED), RLOCK__WOKEN},
                {CONFIRM(SHARED) WAKE, RLOCK__WOKEN},
                {CONFIRM(SHARED) RELEASED, RLOCK__RELEASED}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct listening f;
        begin_on(&f, 1);
        says(&f, 0, CONFIRM(OWN) FIRST);
        says(&f, 0, rows[i].said);
        says(&f, 0, PEER_SILENT);
        assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
        assert_int_equal(hear_within(&f, LONG_MS), RLOCK_OK);
        assert_int_equal(f.news.what, RLOCK__FIRST);
        assert_int_equal(listen_within(&f, true, LONG_MS), RLOCK_OK);
        const int64_t begun_ms = rlock_now_ms();
        assert_int_equal(hear_within(&f, LONG_MS), RLOCK_OK);
        assert_true(rlock_now_ms() - begun_ms < LONG_MS / 2);
        assert_int_equal(f.news.what, rows[i].heard);
        end(&f.on);
    }
}

/* One release speaks on both channels: that is one try, not two. What is strange wakes nobody. */
TEST(all_that_has_come_is_one_piece_of_news) {
    static const struct {
        const char *said;
        unsigned heard;
    } rows[] = {
        {FIRST MESSAGE(OWN, "$4\r\nbeat\r\n") RELEASED WAKE,
         RLOCK__WOKEN | RLOCK__RELEASED | RLOCK__HEARTBEAT | RLOCK__FIRST},
        {MESSAGE("$1\r\ny\r\n", "$-1\r\n"), 0},
        {"*1\r\n$7\r\nmessage\r\n", 0},
        {"*2\r\n$7\r\nmessage\r\n:1\r\n", 0},
        {"*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n" OWN ZERO, 0},
        {":1\r\n+OK\r\n$-1\r\n*-1\r\n", 0},
        {MESSAGE(OWN, "$-1\r\n"), 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct listening f;
        char said[512];
        (void)snprintf(said, sizeof said, "%s%s", CONFIRM(OWN) CONFIRM(SHARED), rows[i].said);
        begin_on(&f, 1);
        says(&f, 0, said);
        says(&f, 0, PEER_SILENT);
        assert_int_equal(listen_within(&f, true, LONG_MS), RLOCK_OK);
        assert_int_equal(hear_within(&f, rows[i].heard != 0 ? LONG_MS : 30), RLOCK_OK);
        assert_int_equal(f.news.what, rows[i].heard);
        assert_int_equal(f.news.first_ms, rows[i].heard != 0 ? 30000 : 0);
        assert_int_equal(hear_within(&f, 20), RLOCK_OK);
        assert_int_equal(f.news.what, 0);
        end(&f.on);
    }
}

/* Each of them wakes. */
TEST(a_majority_that_hears_is_enough) {
    static const char *const deaf[] = {PEER_SILENT, PEER_CLOSE, "-NOPERM no\r\n",
                                       "-LOADING wait\r\n"};
    static const char *const hears[] = {CONFIRM(OWN) WAKE, CONFIRM(OWN)};
    for (size_t i = 0; i < COUNT(deaf); i++) {
        struct listening f;
        begin_on(&f, SERVERS_MAX);
        for (size_t k = 0; k < SERVERS_MAX; k++)
            says(&f, (i + k) % SERVERS_MAX, k == 0 ? deaf[i] : hears[k - 1]);
        const int64_t begun_ms = rlock_now_ms();
        assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
        assert_ptr_equal(f.lock->listeners->resources, &f.lock->resources[0]);
        assert_int_equal(hear_within(&f, LONG_MS), RLOCK_OK);
        assert_true(rlock_now_ms() - begun_ms < LONG_MS / 2);
        assert_int_equal(f.news.what, RLOCK__WOKEN);
        end(&f.on);
        for (size_t k = 0; k < SERVERS_MAX; k++) {
            assert_string_equal(f.on.peers[k].requests[0].words[0].data, "SUBSCRIBE");
            assert_int_equal(f.on.peers[k].requests[0].word_count, 2);
        }
    }
}

/* A second later, as long as others hear. */
TEST(who_has_gone_deaf_hears_again) {
    struct listening f;
    begin_on(&f, SERVERS_MAX);
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
    assert_true(f.news.what & RLOCK__RELEASED);
    end(&f.on);
    assert_int_equal(f.on.peers[2].requests[1].connection, 2);
}

TEST(when_all_are_deaf_it_is_told) {
    static const struct {
        const char *says[2];
        bool listens; /* to the own channel alone */
        enum rlock_status status;
        const char *error;
    } rows[] = {
        {{CONFIRM(OWN), PEER_CLOSE}, true, RLOCK_AGAIN, "the server closed the connection"},
        {{PEER_SILENT, NULL}, false, RLOCK_AGAIN, "no answer in time"},
        {{"-NOPERM no\r\n", NULL}, false, RLOCK_DENIED, "no"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct listening f;
        begin_on(&f, SERVERS_MAX);
        for (size_t k = 0; k < 2 * SERVERS_MAX; k++)
            says(&f, k / 2, rows[i].says[k % 2]);
        if (rows[i].listens)
            assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
        const bool silent = rows[i].says[0] == PEER_SILENT;
        assert_int_equal(listen_within(&f, rows[i].listens, silent ? SHORT_MS : LONG_MS),
                         rows[i].status);
        assert_null(f.lock->listeners->resources);
        assert_string_equal(f.lock->listeners->routes.error->text, rows[i].error);
        end(&f.on);
    }
}

#define SCONFIRM(channel) "*3\r\n$10\r\nssubscribe\r\n" channel ":1\r\n"

/* One node that serves everything, and knows sharded channels or does not. */
static void begin_cluster(struct listening *f, const char *shards) {
    char slots[TEXT_SIZE];
    *f = (struct listening){.on.timeout_ms = LONG_MS};
    struct peer *peer = &f->on.peers[0];
    peer_listen_tcp(peer);
    (void)snprintf(f->on.urls[0], sizeof f->on.urls[0], "cluster://127.0.0.1:%s", peer->port);
    make(&f->on, 1);
    f->lock = f->on.lock;
    (void)snprintf(slots, sizeof slots,
                   "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$0\r\n\r\n:%s\r\n$2\r\nid\r\n", peer->port);
    says(f, 0, slots);
    says(f, 0, shards);
    peer_serve(peer, f->answers[0]);
}

TEST(a_cluster_is_listened_to_as_it_can_speak) {
    static const struct {
        const char *shards, *says;
        enum rlock_status listens;
        unsigned heard;
        const char *asked;
    } rows[] = {
        {"*0\r\n", SCONFIRM(OWN) "*3\r\n$8\r\nsmessage\r\n" OWN "$1\r\n0\r\n", RLOCK_OK,
         RLOCK__WOKEN, "SSUBSCRIBE"},
        /* An older one has one bus. */
        {"-ERR unknown subcommand 'SHARDNUMSUB'\r\n", CONFIRM(OWN) WAKE, RLOCK_OK, RLOCK__WOKEN,
         "SUBSCRIBE"},
        {"*0\r\n", "-MOVED 16287 127.0.0.1:1\r\n", RLOCK_AGAIN, 0, "SSUBSCRIBE"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct listening f;
        begin_cluster(&f, rows[i].shards);
        says(&f, 0, rows[i].says);
        assert_int_equal(listen_within(&f, false, LONG_MS), rows[i].listens);
        if (rows[i].listens == RLOCK_OK)
            assert_int_equal(hear_within(&f, LONG_MS), RLOCK_OK);
        else
            assert_string_equal(f.lock->listeners->routes.error->text, "MOVED 16287 127.0.0.1:1");
        assert_int_equal(f.news.what, rows[i].heard);
        end(&f.on);
        assert_string_equal(f.on.peers[0].requests[2].words[0].data, rows[i].asked);
    }
}

/* The slot has moved, and the channel with it: whoever asks the cluster anew finds where to. It is
 * told over a connection that takes the place of the subscription's. */
TEST(a_channel_that_moves_is_told) {
    struct listening f;
    char spelt[TEXT_SIZE];
    int fds[2];
    begin_cluster(&f, "*0\r\n");
    says(&f, 0, SCONFIRM(OWN));
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
    spell(&f, spelt, "*3\r\n$12\r\nsunsubscribe\r\n" OWN ":0\r\n");
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(send(fds[1], spelt, strlen(spelt), 0), strlen(spelt));
    assert_true(dup3(fds[0], f.lock->listeners->subscriptions[0].link->conn.fd, O_CLOEXEC) >= 0);
    assert_int_equal(hear_within(&f, SHORT_MS), RLOCK_UNAVAILABLE);
    assert_null(f.lock->listeners->resources);
    close(fds[0]);
    close(fds[1]);
    end(&f.on);
}
