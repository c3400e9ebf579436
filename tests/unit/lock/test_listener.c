/* test_listener.c: what a waiter hears, from a server that speaks when the test wants it to. */
#include "support/listening.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BUSY_2ND HELD_BY("o")
#define FIRST    "$11\r\nfirst 30000\r\n"
#define BEAT     "$4\r\nbeat\r\n"

/* A peer serves one connection at a time: the second one answers requests, over a connection that
 * was made for it; the lock's own server is the one that it listens to. */
struct fixture {
    struct listening at;
    struct peer answers;
};

static int connect_to(const struct peer *peer) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", peer->path);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static void start(struct fixture *f, const char *const *answers, const char *const *said) {
    const char *const *script = f->at.answers[0];
    *f = (struct fixture){.at.on.timeout_ms = LONG_MS};
    begin(&f->at.on, 1, &script);
    f->at.lock = f->at.on.lock;
    for (; *said != NULL; said++)
        says(&f->at, 0, *said);
    says(&f->at, 0, PEER_SILENT);
    peer_start(&f->answers, answers);
    struct rlock__link *link = &f->at.on.client->routes.at[0].link;
    link->conn = (struct rlock__conn){.fd = connect_to(&f->answers), .reader = redisReaderCreate()};
    link->stage = RLOCK__READY;
}

static void stop(struct fixture *f) {
    end(&f->at.on);
    peer_stop(&f->answers);
}

static enum rlock_status acquire_within(struct fixture *f, int64_t ms) {
    const struct rlock_wait wait = {sizeof wait, rlock_now_ms() + ms, RLOCK_FOREVER, -1};
    return rlock_acquire(f->at.lock, &wait);
}

static const char *const busy_twice[] = {BUSY_2ND, BUSY_2ND, GRANTED(17), NULL};

/* --- tests ------------------------------------------------------------------------------------ */

TEST(a_message_wakes_the_sleeper) {
    struct fixture f;
    static const char *const said[] = {CONFIRM(OWN) MESSAGE(OWN, ZERO), NULL};
    start(&f, busy_twice, said);
    assert_int_equal(acquire_within(&f, 3000), RLOCK_OK);
    stop(&f);
}

/* Told that it is first now, it subscribes once more; the release that comes before that is
 * confirmed must not be lost, or all would sleep until a cap. */
TEST(a_release_while_it_subscribes_is_heard) {
    static const char *const releases[] = {MESSAGE(OWN, ZERO) CONFIRM(SHARED),
                                           CONFIRM(SHARED) MESSAGE(OWN, ZERO),
                                           CONFIRM(SHARED) MESSAGE(SHARED, ZERO)};
    for (size_t i = 0; i < COUNT(releases); i++) {
        struct fixture f;
        const char *const said[] = {CONFIRM(OWN) MESSAGE(OWN, FIRST), releases[i], NULL};
        start(&f, busy_twice, said);
        const enum rlock_status status = acquire_within(&f, 3000);
        if (status != RLOCK_OK)
            fail_msg("%zu: %s", i, rlock_status_text(status));
        stop(&f);
    }
}

TEST(strange_messages_wake_nobody) {
    static const char *const strange[] = {
        MESSAGE("$1\r\ny\r\n", "$-1\r\n"), "*1\r\n$7\r\nmessage\r\n",
        "*2\r\n$7\r\nmessage\r\n:1\r\n",   "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n" OWN ZERO,
        ":1\r\n+OK\r\n$-1\r\n*-1\r\n",     MESSAGE(OWN, "$-1\r\n"),
    };
    for (size_t i = 0; i < COUNT(strange); i++) {
        struct fixture f;
        char speech[512];
        const char *const said[] = {speech, NULL};
        (void)snprintf(speech, sizeof speech, "%s%s", CONFIRM(OWN), strange[i]);
        start(&f, ANSWERS(NULL), said);
        assert_int_equal(listen_within(&f.at, false, LONG_MS), RLOCK_OK);
        assert_int_equal(hear_within(&f.at, 30), RLOCK_OK);
        assert_int_equal(f.at.news.what, 0);
        stop(&f);
    }
}

/* One release speaks on both channels: that is one try, not two. */
TEST(all_that_has_come_is_one_piece_of_news) {
    struct fixture f;
    static const char *const said[] = {CONFIRM(OWN) CONFIRM(SHARED) MESSAGE(OWN, FIRST)
                                           MESSAGE(OWN, BEAT) MESSAGE(SHARED, ZERO)
                                               MESSAGE(OWN, ZERO),
                                       NULL};
    start(&f, ANSWERS(NULL), said);
    assert_int_equal(listen_within(&f.at, true, LONG_MS), RLOCK_OK);
    assert_int_equal(hear_within(&f.at, 5000), RLOCK_OK);
    assert_int_equal(f.at.news.what,
                     RLOCK__WOKEN | RLOCK__RELEASED | RLOCK__HEARTBEAT | RLOCK__FIRST);
    assert_int_equal(f.at.news.first_ms, 30000);
    assert_int_equal(hear_within(&f.at, 20), RLOCK_OK);
    assert_int_equal(f.at.news.what, 0);
    stop(&f);
}

TEST(a_dead_connection_is_told) {
    struct fixture f;
    static const char *const said[] = {CONFIRM(OWN), NULL};
    start(&f, ANSWERS(NULL), said);
    assert_int_equal(listen_within(&f.at, false, LONG_MS), RLOCK_OK);
    (void)shutdown(f.at.lock->listeners->subscriptions[0].link->conn.fd, SHUT_RDWR);
    assert_int_equal(hear_within(&f.at, 5000), RLOCK_UNAVAILABLE);
    assert_null(f.at.lock->listeners->resources); /* it hears nothing, and says so */
    stop(&f);
}
