/* test_link.c: a link that is asked: answers, those that never come, and where it leads. */
#include "support/linked.h"

#include <hiredis/hiredis.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Nothing is sent again by itself. The time for one reply begins with each request anew: what is
 * idle runs out of nothing. */
TEST(without_an_answer_the_connection_ends) {
    enum { ANSWER_MS = 4 * SHORT_MS };
    static const struct {
        const char *answer;
        int64_t limit_ms, answer_timeout_ms;
        const char *why;
    } rows[] = {
        {PEER_CLOSE, LONG_MS, 0, "the server closed the connection"},
        {"HTTP/1.1 400 Bad\r\n", LONG_MS, 0, "does not speak Redis's protocol"},
        {PEER_SILENT, SHORT_MS, 0, "no answer in time"},
        {"*2\r\n+half", LONG_MS, ANSWER_MS, "no answer in time"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct linked f;
        const int64_t timeout_ms = rows[i].answer_timeout_ms;
        const struct timespec pause = {.tv_nsec = (timeout_ms > 0 ? timeout_ms + 50 : 0) * 1000000};
        begin(&f, ANSWERS(ONE("one"), rows[i].answer, ONE("three")));
        f.access.answer_timeout_ms = timeout_ms;
        assert_answered(&f, "FIRST", "one");
        assert_int_equal(nanosleep(&pause, NULL), 0);
        const int64_t begun_ms = rlock_now_ms();
        assert_unanswered(&f, "SECOND", rows[i].limit_ms, rows[i].why);
        assert_true(rlock_now_ms() - begun_ms >= timeout_ms);
        assert_true(f.link.in_doubt && f.link.answered);
        assert_answered(&f, "THIRD", "three");
        assert_false(f.link.in_doubt);
        end(&f, "FIRST; SECOND | THIRD");
    }
}

/* A server that turns one away says why and closes: what it said is told, also when it was too late
 * to send anything. That raises no SIGPIPE, which this test does not block. */
TEST(who_is_turned_away_is_told_why) {
    static const struct {
        const char *said;
        enum rlock_status status;
        const char *text;
    } rows[] = {
        {"-ERR max number of clients reached\r\n", RLOCK_AGAIN,
         "ERR max number of clients reached"},
        {"-DENIED protected mode\r\n", RLOCK_DENIED, "DENIED protected mode"},
        {"-ERR odd\r\n", RLOCK_AGAIN, "ERR odd"},
        {"+OK\r\n", RLOCK_AGAIN, "Broken pipe"},
        {"", RLOCK_AGAIN, "Broken pipe"},
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        const bool logs_in = i % 2 != 0;
        const size_t row = i / 2, length = strlen(rows[row].said);
        struct linked f;
        int fds[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
                         0);
        begin_to(&f, "/nowhere", "");
        f.access.password = "s3cr3t";
        f.link.conn = (struct rlock__conn){.fd = fds[0], .resp = rlock__resp_new()};
        f.link.stage = logs_in ? RLOCK__AUTHENTICATING : RLOCK__READY;
        f.link.by_ms = RLOCK_FOREVER;
        assert_int_equal(send(fds[1], rows[row].said, length, 0), length);
        close(fds[1]);
        ask(&f, "FIRST");
        assert_int_equal(call(&f, LONG_MS, NULL), rows[row].status);
        assert_string_equal(f.error.text, rows[row].text);
        assert_closed(&f);
        assert_false(f.link.in_doubt);
    }
}

TEST(it_goes_where_the_server_is_now) {
    struct linked f, other;
    begin(&f, ANSWERS(ONE("here"), ONE("here again")));
    begin(&other, ANSWERS(ONE("there")));
    assert_answered(&f, "FIRST", "here");
    rlock__link_move(&f.link, f.peer.path, ""); /* no move: the connection stays */
    assert_answered(&f, "SECOND", "here again");
    assert_false(rlock__link_is_at(&f.link, other.link.host, other.link.port));
    rlock__link_move(&f.link, other.peer.path, "");
    assert_closed(&f);
    assert_true(rlock__link_is_at(&f.link, other.link.host, other.link.port));
    assert_answered(&f, "THIRD", "there");
    end(&f, "FIRST; SECOND");
    end(&other, "THIRD");
}
