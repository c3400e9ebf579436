/* test_link.c: a link that is asked: answers, those that never come, and where it leads. */
#include "redis/link.h"
#include "support/linked.h"

#include <hiredis/hiredis.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* --- answers ---------------------------------------------------------------------------------- */

TEST(each_request_has_its_answer) {
    struct linked f;
    begin(&f, ANSWERS(ONE("one"), "-ERR two\r\n"));
    assert_false(f.link.answered);
    ask(&f, "FIRST");
    assert_int_equal(call(&f, LONG_MS, "one"), RLOCK_OK);
    assert_true(f.link.answered);
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "ERR two"), RLOCK_OK); /* an error is an answer, too */
    assert_false(f.link.in_doubt);
    assert_int_equal(f.link.stage, RLOCK__READY);
    end(&f);
    assert_int_equal(f.peer.request_count, 2);
    assert_asked(&f, 0, 1, "FIRST");
    assert_asked(&f, 1, 1, "SECOND");
}

/* As ASKING and what it is for: the last answer counts. */
TEST(of_several_commands_the_last_is_answered) {
    struct linked f;
    begin(&f, ANSWERS(ONE("one"), ONE("two"), ONE("three")));
    ask(&f, "FIRST");
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "two"), RLOCK_OK);
    ask(&f, "THIRD");
    assert_int_equal(call(&f, LONG_MS, "three"), RLOCK_OK);
    end(&f);
}

/* How one that only listens gets there. */
TEST(without_a_request_it_is_ready) {
    struct linked f;
    static const char *const answers[] = {NULL};
    begin(&f, answers);
    assert_int_equal(call(&f, LONG_MS, NULL), RLOCK_OK);
    assert_int_equal(f.link.stage, RLOCK__READY);
    assert_false(f.link.answered || f.link.in_doubt);
    end(&f);
    assert_int_equal(f.peer.request_count, 0);
}

/* One that was not asked for would be taken for the next one's answer. */
TEST(an_answer_too_many_ends_the_connection) {
    struct linked f;
    begin(&f, ANSWERS(ONE("one") ONE("more"), ONE("two")));
    ask(&f, "FIRST");
    assert_int_equal(call(&f, LONG_MS, "one"), RLOCK_OK);
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "two"), RLOCK_OK);
    end(&f);
    assert_int_equal(f.peer.request_count, 2);
    assert_asked(&f, 1, 2, "SECOND");
}

/* --- no answer -------------------------------------------------------------------------------- */

/* ... until the limit. */
TEST(silence_ends_at_the_limit) {
    struct linked f;
    begin(&f, ANSWERS(PEER_SILENT, ONE("two")));
    ask(&f, "FIRST");
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(call(&f, SHORT_MS, NULL), RLOCK_AGAIN);
    assert_in_range(rlock_now_ms() - begun_ms, SHORT_MS, LONG_MS - 1);
    assert_string_equal(f.error.text, "no answer in time");
    assert_int_equal(f.link.stage, RLOCK__CLOSED);
    assert_true(f.link.in_doubt);
    assert_false(f.link.answered);
    ask(&f, "SECOND"); /* the first is not sent again by itself */
    assert_int_equal(call(&f, LONG_MS, "two"), RLOCK_OK);
    assert_false(f.link.in_doubt);
    end(&f);
    assert_int_equal(f.peer.request_count, 2);
    assert_asked(&f, 1, 2, "SECOND");
}

/* ... or when the time for one reply is over, which begins with the connection; and with each
 * request anew. */
TEST(an_answer_has_a_time_of_its_own) {
    struct linked f;
    begin(&f, ANSWERS(ONE("one"), "*2\r\n+half", ONE("three")));
    f.access.answer_timeout_ms = 4 * SHORT_MS;
    ask(&f, "FIRST");
    assert_int_equal(call(&f, LONG_MS, "one"), RLOCK_OK);
    const struct timespec pause = {.tv_nsec = 5 * SHORT_MS * 1000000L};
    assert_int_equal(nanosleep(&pause, NULL), 0); /* what is idle runs out of nothing */
    ask(&f, "SECOND");
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(call(&f, LONG_MS, NULL), RLOCK_AGAIN);
    assert_in_range(rlock_now_ms() - begun_ms, 4 * SHORT_MS, LONG_MS - 1);
    assert_string_equal(f.error.text, "no answer in time");
    assert_int_equal(f.link.stage, RLOCK__CLOSED);
    assert_true(f.link.in_doubt);
    ask(&f, "THIRD");
    assert_int_equal(call(&f, LONG_MS, "three"), RLOCK_OK);
    end(&f);
    assert_asked(&f, 2, 2, "THIRD");
}

TEST(a_cancelled_wait_ends) {
    struct linked f;
    const struct rlock__limit limit = {RLOCK_FOREVER, eventfd(1, EFD_CLOEXEC)};
    rlock__reply *reply;
    begin(&f, ANSWERS("*2\r\n+half"));
    send_all(&f);
    assert_int_equal(rlock__link_call(&f.link, &limit, &reply), RLOCK_CANCELLED);
    assert_null(reply);
    assert_int_equal(f.link.stage, RLOCK__CLOSED);
    assert_true(f.link.in_doubt);
    close(limit.cancel_fd);
    end(&f);
}

TEST(a_closed_connection_is_opened_again) {
    static const struct {
        const char *answer, *error;
    } rows[] = {{PEER_CLOSE, "the server closed the connection"},
                {"HTTP/1.1 400 Bad\r\n", "does not speak Redis's protocol"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct linked f;
        begin(&f, ANSWERS(ONE("one"), rows[i].answer, ONE("three")));
        ask(&f, "FIRST");
        assert_int_equal(call(&f, LONG_MS, "one"), RLOCK_OK);
        ask(&f, "SECOND");
        assert_int_equal(call(&f, LONG_MS, NULL), RLOCK_AGAIN);
        assert_non_null(strstr(f.error.text, rows[i].error));
        assert_int_equal(f.link.stage, RLOCK__CLOSED);
        assert_true(f.link.in_doubt && f.link.answered);
        ask(&f, "THIRD");
        assert_int_equal(call(&f, LONG_MS, "three"), RLOCK_OK);
        assert_false(f.link.in_doubt);
        end(&f);
        assert_int_equal(f.peer.request_count, 3);
        assert_asked(&f, 2, 2, "THIRD");
    }
}

TEST(what_never_went_out_is_not_in_doubt) {
    struct linked f;
    static const char *const answers[] = {NULL};
    begin(&f, answers);
    end(&f); /* nobody listens any more */
    ask(&f, "FIRST");
    assert_int_equal(call(&f, LONG_MS, NULL), RLOCK_AGAIN);
    assert_false(f.link.in_doubt);
    rlock__link_close(&f.link);
}

/* A server that turns one away says why and closes: what it said is told, also when it was too late
 * to send anything. */
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
        struct linked f = {.access = {.connect_timeout_ms = LONG_MS, .password = "s3cr3t"}};
        int fds[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
                         0);
        rlock__link_init(&f.link, "/nowhere", "", &f.access, &f.error);
        f.link.conn = (struct rlock__conn){.fd = fds[0], .reader = redisReaderCreate()};
        f.link.stage = logs_in ? RLOCK__AUTHENTICATING : RLOCK__READY;
        f.link.connect_by_ms = RLOCK_FOREVER;
        assert_int_equal(send(fds[1], rows[row].said, length, 0), length);
        close(fds[1]);
        ask(&f, "FIRST");
        assert_int_equal(call(&f, LONG_MS, NULL), rows[row].status);
        assert_string_equal(f.error.text, rows[row].text);
        assert_int_equal(f.link.stage, RLOCK__CLOSED);
        assert_false(f.link.in_doubt);
    }
}

/* --- moving ----------------------------------------------------------------------------------- */

TEST(it_goes_where_the_server_is_now) {
    struct linked f, other;
    static const char *const others[] = {ONE("there"), NULL};
    begin(&f, ANSWERS(ONE("here"), ONE("here again")));
    begin(&other, others);
    ask(&f, "FIRST");
    assert_int_equal(call(&f, LONG_MS, "here"), RLOCK_OK);
    rlock__link_move(&f.link, f.peer.path, ""); /* no move: the connection stays */
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "here again"), RLOCK_OK);
    assert_false(rlock__link_same(&f.link, &other.link));
    rlock__link_move(&f.link, other.peer.path, "");
    assert_int_equal(f.link.stage, RLOCK__CLOSED);
    assert_true(rlock__link_same(&f.link, &other.link));
    ask(&f, "THIRD");
    assert_int_equal(call(&f, LONG_MS, "there"), RLOCK_OK);
    end(&f);
    end(&other);
    assert_asked(&f, 1, 1, "SECOND");
    assert_asked(&other, 0, 1, "THIRD");
}
