/* test_subscriptions.c: listening on several servers, and on a cluster's shard. */
#include "support/listening.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAKE     MESSAGE(OWN, ZERO)
#define RELEASED MESSAGE(SHARED, ZERO)

static void begin_three(struct listening *f) {
    const char *const *answers[] = {f->answers[0], f->answers[1], f->answers[2]};
    *f = (struct listening){.on.timeout_ms = LONG_MS};
    begin(&f->on, SERVERS_MAX, answers);
    f->lock = f->on.lock;
}

/* --- several servers -------------------------------------------------------------------------- */

TEST(a_majority_that_hears_is_enough) {
    static const char *const thirds[] = {PEER_SILENT, PEER_CLOSE, "-NOPERM no\r\n",
                                         "-LOADING wait\r\n"};
    for (size_t i = 0; i < COUNT(thirds); i++) {
        struct listening f;
        begin_three(&f);
        says(&f, 0, CONFIRM(OWN));
        says(&f, 1, thirds[i]);
        says(&f, 2, CONFIRM(OWN));
        const int64_t begun_ms = rlock_now_ms();
        assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
        assert_true(rlock_now_ms() - begun_ms < LONG_MS / 2);
        assert_ptr_equal(f.lock->listeners->resources, &f.lock->resources[0]);
        assert_int_equal(hear_within(&f, SHORT_MS), RLOCK_OK);
        assert_int_equal(f.news.what, 0);
        end(&f.on);
        for (size_t k = 0; k < 3; k++) {
            assert_string_equal(f.on.peers[k].requests[0].words[0].data, "SUBSCRIBE");
            assert_int_equal(f.on.peers[k].requests[0].word_count, 2);
        }
    }
}

TEST(each_server_wakes) {
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        struct listening f;
        begin_three(&f);
        for (size_t k = 0; k < SERVERS_MAX; k++)
            says(&f, k, k == i ? CONFIRM(OWN) WAKE : CONFIRM(OWN));
        assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
        assert_int_equal(hear_within(&f, LONG_MS), RLOCK_OK);
        assert_int_equal(f.news.what, RLOCK__WOKEN);
        end(&f.on);
    }
}

/* A second later, as long as others hear. */
TEST(who_has_gone_deaf_hears_again) {
    struct listening f;
    begin_three(&f);
    says(&f, 0, CONFIRM(OWN));
    says(&f, 1, CONFIRM(OWN));
    says(&f, 2, PEER_CLOSE);
    says(&f, 2, CONFIRM(OWN));
    says(&f, 2, CONFIRM(SHARED) RELEASED);
    assert_int_equal(listen_within(&f, true, LONG_MS), RLOCK_AGAIN); /* the two closed at SHARED */
    end(&f.on);

    begin_three(&f);
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
        begin_three(&f);
        for (size_t k = 0; k < 2 * SERVERS_MAX; k++)
            says(&f, k / 2, rows[i].says[k % 2]);
        if (rows[i].listens)
            assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
        const bool silent = rows[i].says[0] == PEER_SILENT;
        assert_int_equal(listen_within(&f, rows[i].listens, silent ? SHORT_MS : LONG_MS),
                         rows[i].status);
        assert_null(f.lock->listeners->resources);
        assert_string_equal(f.lock->listeners->error->text, rows[i].error);
        end(&f.on);
    }
}

/* --- a cluster -------------------------------------------------------------------------------- */

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

TEST(a_shard_has_channels_of_its_own) {
    struct listening f;
    begin_cluster(&f, "*0\r\n");
    says(&f, 0, SCONFIRM(OWN) "*3\r\n$8\r\nsmessage\r\n" OWN "$1\r\n0\r\n");
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
    assert_int_equal(hear_within(&f, LONG_MS), RLOCK_OK);
    assert_true(f.news.what & RLOCK__WOKEN);
    end(&f.on);
    assert_string_equal(f.on.peers[0].requests[2].words[0].data, "SSUBSCRIBE");
}

TEST(an_older_cluster_has_one_bus) {
    struct listening f;
    begin_cluster(&f, "-ERR unknown subcommand 'SHARDNUMSUB'\r\n");
    says(&f, 0, CONFIRM(OWN));
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
    end(&f.on);
    assert_string_equal(f.on.peers[0].requests[2].words[0].data, "SUBSCRIBE");
}

/* Says something by itself, over a connection that takes the place of the subscription's. */
static int interrupt(struct listening *f, const char *text) {
    char spelt[TEXT_SIZE];
    int fds[2];
    spell(f, spelt, text);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(send(fds[1], spelt, strlen(spelt), 0), strlen(spelt));
    assert_true(dup3(fds[0], f->lock->listeners->subscriptions[0].link->conn.fd, O_CLOEXEC) >= 0);
    close(fds[0]);
    return fds[1];
}

/* The slot has moved, and the channel with it: whoever asks the cluster anew finds where to. */
TEST(a_channel_that_moves_is_told) {
    struct listening f;
    begin_cluster(&f, "*0\r\n");
    says(&f, 0, SCONFIRM(OWN));
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_OK);
    const int other_end = interrupt(&f, "*3\r\n$12\r\nsunsubscribe\r\n" OWN ":0\r\n");
    assert_int_equal(hear_within(&f, SHORT_MS), RLOCK_UNAVAILABLE);
    assert_null(f.lock->listeners->resources);
    close(other_end);
    end(&f.on);
}

TEST(a_subscription_may_be_sent_elsewhere) {
    struct listening f;
    begin_cluster(&f, "*0\r\n");
    says(&f, 0, "-MOVED 16287 127.0.0.1:1\r\n");
    assert_int_equal(listen_within(&f, false, LONG_MS), RLOCK_AGAIN);
    assert_string_equal(f.lock->listeners->error->text, "MOVED 16287 127.0.0.1:1");
    end(&f.on);
}
