/* test_login.c: what a link says before anything else, and that it is let in. */
#include "support/linked.h"

#include <string.h>

TEST(logs_in_before_anything_else) {
    static const struct {
        const char *user, *password;
        int db;
        size_t answers; /* before the first one's */
        const char *asked;
    } rows[] = {
        {NULL, NULL, 0, 0, "FIRST; SECOND"},
        {NULL, "s3cr3t", 0, 1, "AUTH s3cr3t; FIRST; SECOND"},
        {NULL, "s3cr3t", 2, 2, "AUTH s3cr3t; SELECT 2; FIRST; SECOND"},
        {"alice", "s3cr3t", 0, 1, "AUTH alice s3cr3t; FIRST; SECOND"},
        {"alice", "s3cr3t", 3, 2, "AUTH alice s3cr3t; SELECT 3; FIRST; SECOND"},
        /* Without a password there is nothing to prove. */
        {"alice", NULL, 12, 1, "SELECT 12; FIRST; SECOND"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct linked f;
        begin(&f, ANSWERS("+OK\r\n", "+OK\r\n", ONE("pong"), ONE("pong")) + 2 - rows[i].answers);
        f.access.user = rows[i].user;
        f.access.password = rows[i].password;
        f.access.db = rows[i].db;
        ask(&f, "FIRST");
        assert_int_equal(call(&f, LONG_MS, "pong"), RLOCK_OK);
        ask(&f, "SECOND"); /* once a connection */
        assert_int_equal(call(&f, LONG_MS, "pong"), RLOCK_OK);
        end(&f);
        assert_string_equal(peer_asked(&f.peer), rows[i].asked);
        assert_int_equal(f.peer.requests[f.peer.request_count - 1].connection, 1);
    }
}

/* A lock must not be taken as the wrong user or in the wrong database. */
TEST(a_refused_log_in_asks_nothing) {
    static const struct {
        const char *answer;
        enum rlock_status status;
        const char *text;
    } rows[] = {
        {"-WRONGPASS no\r\n", RLOCK_DENIED, "no"},
        {"-NOAUTH no\r\n", RLOCK_DENIED, "the server wants a password"},
        {"-ERR whatever\r\n", RLOCK_DENIED, "ERR whatever"},
        {"-ERR wrong number of arguments for 'auth' command\r\n", RLOCK_UNAVAILABLE,
         "the server is older than Redis 6.0"},
        {"-LOADING wait\r\n", RLOCK_AGAIN, "LOADING wait"},         /* it may pass */
        {"-upstream failure\r\n", RLOCK_AGAIN, "upstream failure"}, /* so may a proxy's */
        {"-ERR max number of clients reached\r\n", RLOCK_AGAIN, "ERR max number"},
        {":1\r\n", RLOCK_UNAVAILABLE, "can't be understood"},
        {"$2\r\nOK\r\n", RLOCK_UNAVAILABLE, "can't be understood"},
        {"*-1\r\n", RLOCK_UNAVAILABLE, "can't be understood"},
        {"+PONG\r\n", RLOCK_UNAVAILABLE, "can't be understood"},
        {PEER_CLOSE, RLOCK_AGAIN, "the server closed the connection"},
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        struct linked f;
        const bool select = i >= COUNT(rows); /* the same of SELECT */
        const char *answer = rows[i % COUNT(rows)].answer, *text = rows[i % COUNT(rows)].text;
        begin(&f, ANSWERS(select ? "+OK\r\n" : answer, answer, ONE("pong")));
        f.access.password = "s3cr3t";
        f.access.db = 1;
        ask(&f, "FIRST");
        const enum rlock_status status = call(&f, LONG_MS, "pong");
        if (status != rows[i % COUNT(rows)].status || strstr(f.error.text, text) == NULL)
            fail_msg("%s: %s: %s", answer, rlock_status_text(status), f.error.text);
        assert_int_equal(f.link.stage, RLOCK__CLOSED);
        assert_false(f.link.in_doubt);
        end(&f);
        assert_int_equal(f.peer.request_count, select ? 2 : 1);
        assert_asked(&f, 0, 1, "AUTH");
        if (select)
            assert_asked(&f, 1, 1, "SELECT");
    }
}

/* As redis-cli: it goes on. */
TEST(who_wants_no_password_gets_one) {
    static const char *const texts[] = {
        "-ERR AUTH <password> called without any password configured for the default user.\r\n",
        "-ERR Client sent AUTH, but no password is set\r\n"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct linked f;
        begin(&f, ANSWERS(texts[i], ONE("pong")));
        f.access.password = "s3cr3t";
        ask(&f, "FIRST");
        assert_int_equal(call(&f, LONG_MS, "pong"), RLOCK_OK);
        end(&f);
    }
}

TEST(a_silent_log_in_ends_in_time) {
    static const struct {
        int64_t connect_ms, limit_ms;
        const char *text;
    } rows[] = {
        {SHORT_MS, LONG_MS, "no answer in time"},
        {LONG_MS, SHORT_MS, "no answer in time"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct linked f;
        begin(&f, ANSWERS(PEER_SILENT));
        f.access.password = "s3cr3t";
        f.access.connect_timeout_ms = rows[i].connect_ms;
        ask(&f, "FIRST");
        const int64_t begun_ms = rlock_now_ms();
        assert_int_equal(call(&f, rows[i].limit_ms, NULL), RLOCK_AGAIN);
        assert_in_range(rlock_now_ms() - begun_ms, SHORT_MS, LONG_MS - 1);
        assert_string_equal(f.error.text, rows[i].text);
        assert_int_equal(f.link.stage, RLOCK__CLOSED);
        assert_false(f.link.in_doubt); /* what was asked has not gone out */
        end(&f);
        assert_int_equal(f.peer.request_count, 1);
    }
}

/* Half of a log-in in one round, its other half in the next: nothing is lost and nothing waits. */
TEST(a_log_in_goes_on_when_another_is_waited_for) {
    static const char *const answers[] = {"+OK\r\n", ONE("mine"), NULL};
    struct linked f = {.access = {.password = "s3cr3t", .connect_timeout_ms = LONG_MS}};
    rlock__reply *reply;
    peer_listen_tcp(&f.peer); /* it does not answer yet */
    rlock__link_init(&f.link, "127.0.0.1", f.peer.port, &f.access, &f.error);
    ask(&f, "FIRST");
    assert_int_equal(rlock__link_step(&f.link, &reply), RLOCK__IO_WAIT);
    rlock__link_abandon(&f.link); /* what was asked, not the way there */
    assert_int_equal(f.link.owed, 0);
    peer_serve(&f.peer, answers);
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "mine"), RLOCK_OK);
    end(&f);
    assert_int_equal(f.peer.request_count, 2);
    assert_asked(&f, 1, 1, "SECOND");
}
