/* test_link.c: a link that is asked: answers, those that never come, and where it leads. */
#include "redis/reply_error.h"
#include "support/linked.h"

#include <hiredis/hiredis.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* --- answers ------------------------------------------------------------------------------------
 */

static void each_request_has_its_answer(void **state) {
    (void)state;
    struct linked f;
    static const char *const answers[] = {ONE("one"), "-ERR two\r\n", NULL};
    begin(&f, answers);
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
    peer_free(&f.peer);
}

/* As ASKING and what it is for: the last answer counts. */
static void of_several_commands_the_last_is_answered(void **state) {
    (void)state;
    struct linked f;
    static const char *const answers[] = {ONE("one"), ONE("two"), ONE("three"), NULL};
    begin(&f, answers);
    ask(&f, "FIRST");
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "two"), RLOCK_OK);
    ask(&f, "THIRD");
    assert_int_equal(call(&f, LONG_MS, "three"), RLOCK_OK);
    end(&f);
    peer_free(&f.peer);
}

/* How one that only listens gets there. */
static void without_a_request_it_is_ready(void **state) {
    (void)state;
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
static void an_answer_too_many_ends_the_connection(void **state) {
    (void)state;
    struct linked f;
    static const char *const answers[] = {ONE("one") ONE("more"), ONE("two"), NULL};
    begin(&f, answers);
    ask(&f, "FIRST");
    assert_int_equal(call(&f, LONG_MS, "one"), RLOCK_OK);
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "two"), RLOCK_OK);
    end(&f);
    assert_int_equal(f.peer.request_count, 2);
    assert_asked(&f, 1, 2, "SECOND");
    peer_free(&f.peer);
}

static void an_errors_text_is_judged(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        enum rlock_status status;
        const char *text;
    } rows[] = {
        {"+OK\r\n", RLOCK_OK, ""},
        {"-NOAUTH no\r\n", RLOCK_DENIED, "the server wants a password"},
        {"-LOADING a\x1b[2Jb\r\n", RLOCK_AGAIN, "LOADING a [2Jb"},
        {"-ERR odd\r\n", RLOCK_AGAIN, "ERR odd"},
        {"-ERR unknown command 'ODD'\r\n", RLOCK_UNAVAILABLE, "ERR unknown command 'ODD'"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct linked f;
        const char *const answers[] = {rows[i].answer, NULL};
        const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1, NULL};
        rlock__reply *reply;
        begin(&f, answers);
        ask(&f, "FIRST");
        assert_int_equal(rlock__link_call(&f.link, &limit, &reply), RLOCK_OK);
        assert_int_equal(rlock__reply_judge(&f.link, reply), rows[i].status);
        assert_string_equal(f.error.text, rows[i].text);
        rlock__reply_free(reply);
        end(&f);
        peer_free(&f.peer);
    }
}

/* --- no answer ----------------------------------------------------------------------------------
 */

/* ... until the limit. */
static void silence_ends_at_the_limit(void **state) {
    (void)state;
    struct linked f;
    static const char *const answers[] = {PEER_SILENT, ONE("two"), NULL};
    begin(&f, answers);
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
    peer_free(&f.peer);
}

/* ... or when the time for one reply is over, which begins with the connection; and with each
 * request anew. */
static void an_answer_has_a_time_of_its_own(void **state) {
    (void)state;
    struct linked f;
    static const char *const answers[] = {ONE("one"), "*2\r\n+half", ONE("three"), NULL};
    begin(&f, answers);
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
    peer_free(&f.peer);
}

static void a_cancelled_wait_ends(void **state) {
    (void)state;
    struct linked f;
    static const char *const answers[] = {"*2\r\n+half", NULL};
    const struct rlock__limit limit = {RLOCK_FOREVER, eventfd(1, EFD_CLOEXEC), NULL};
    rlock__reply *reply;
    begin(&f, answers);
    send_all(&f);
    assert_int_equal(rlock__link_call(&f.link, &limit, &reply), RLOCK_CANCELLED);
    assert_null(reply);
    assert_int_equal(f.link.stage, RLOCK__CLOSED);
    assert_true(f.link.in_doubt);
    close(limit.cancel_fd);
    end(&f);
    peer_free(&f.peer);
}

static void a_closed_connection_is_opened_again(void **state) {
    (void)state;
    static const struct {
        const char *answer, *error;
    } rows[] = {{PEER_CLOSE, "the server closed the connection"},
                {"HTTP/1.1 400 Bad\r\n", "does not speak Redis's protocol"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct linked f;
        const char *const answers[] = {ONE("one"), rows[i].answer, ONE("three"), NULL};
        begin(&f, answers);
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
        peer_free(&f.peer);
    }
}

static void what_never_went_out_is_not_in_doubt(void **state) {
    (void)state;
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
static void who_is_turned_away_is_told_why(void **state) {
    (void)state;
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

/* --- moving -------------------------------------------------------------------------------------
 */

static void it_goes_where_the_server_is_now(void **state) {
    (void)state;
    struct linked f, other;
    static const char *const answers[] = {ONE("here"), ONE("here again"), NULL};
    static const char *const others[] = {ONE("there"), NULL};
    begin(&f, answers);
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
    peer_free(&f.peer);
    peer_free(&other.peer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_has_its_answer),
        cmocka_unit_test(of_several_commands_the_last_is_answered),
        cmocka_unit_test(without_a_request_it_is_ready),
        cmocka_unit_test(an_answer_too_many_ends_the_connection),
        cmocka_unit_test(an_errors_text_is_judged),
        cmocka_unit_test(silence_ends_at_the_limit),
        cmocka_unit_test(an_answer_has_a_time_of_its_own),
        cmocka_unit_test(a_cancelled_wait_ends),
        cmocka_unit_test(a_closed_connection_is_opened_again),
        cmocka_unit_test(what_never_went_out_is_not_in_doubt),
        cmocka_unit_test(who_is_turned_away_is_told_why),
        cmocka_unit_test(it_goes_where_the_server_is_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
