/* test_login.c: what a link says before anything else, and that it is let in. */
#include "support/linked.h"

#include <string.h>

TEST(logs_in_before_anything_else) {
    static const char ok[] = "+OK\r\n";
    static const struct {
        const char *user, *password;
        int db;
        size_t count; /* of answers before the first one's */
        const char *answer, *asked;
    } rows[] = {
        {NULL, NULL, 0, 0, ok, "FIRST; SECOND"},
        {NULL, "s3cr3t", 0, 1, ok, "AUTH s3cr3t; FIRST; SECOND"},
        {NULL, "s3cr3t", 2, 2, ok, "AUTH s3cr3t; SELECT 2; FIRST; SECOND"},
        {"alice", "s3cr3t", 0, 1, ok, "AUTH alice s3cr3t; FIRST; SECOND"},
        /* Without a password there is nothing to prove. */
        {"alice", NULL, 12, 1, ok, "SELECT 12; FIRST; SECOND"},
        /* A server that wants none gets one, as from redis-cli. */
        {NULL, "s3cr3t", 0, 1, "-ERR AUTH <password> called without any password configured\r\n",
         "AUTH s3cr3t; FIRST; SECOND"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *answer = rows[i].answer;
        struct linked f;
        begin(&f, ANSWERS(answer, answer, ONE("pong"), ONE("pong")) + 2 - rows[i].count);
        f.access.user = rows[i].user;
        f.access.password = rows[i].password;
        f.access.db = rows[i].db;
        assert_answered(&f, "FIRST", "pong");
        assert_answered(&f, "SECOND", "pong"); /* once a connection */
        end(&f, rows[i].asked);
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
        {":1\r\n", RLOCK_UNAVAILABLE, "can't be understood"},
        {"+PONG\r\n", RLOCK_UNAVAILABLE, "can't be understood"},
        {PEER_CLOSE, RLOCK_AGAIN, "the server closed the connection"},
        {PEER_SILENT, RLOCK_AGAIN, "no answer in time"},
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        struct linked f;
        const bool select = i >= COUNT(rows); /* the same of SELECT */
        const char *answer = rows[i % COUNT(rows)].answer, *text = rows[i % COUNT(rows)].text;
        begin(&f, ANSWERS(select ? "+OK\r\n" : answer, answer, ONE("pong")));
        f.access.password = "s3cr3t";
        f.access.db = 1;
        const int64_t least_ms = answer == PEER_SILENT ? SHORT_MS : 0, begun_ms = rlock_now_ms();
        if (answer == PEER_SILENT && select)
            f.access.connect_timeout_ms = SHORT_MS;
        ask(&f, "FIRST");
        const enum rlock_status status =
            call(&f, answer == PEER_SILENT && !select ? SHORT_MS : LONG_MS, "pong");
        assert_in_range(rlock_now_ms() - begun_ms, least_ms, LONG_MS - 1);
        if (status != rows[i % COUNT(rows)].status || strstr(f.error.text, text) == NULL)
            fail_msg("%s: %s: %s", answer, rlock_status_text(status), f.error.text);
        assert_closed(&f);
        assert_false(f.link.in_doubt);
        end(&f, select ? "AUTH s3cr3t; SELECT 1" : "AUTH s3cr3t");
    }
}

/* Half of a log-in in one round, its other half in the next: nothing is lost and nothing waits. */
TEST(a_log_in_goes_on_when_another_is_waited_for) {
    struct linked f;
    begin_to(&f, "", "");
    f.access.password = "s3cr3t";
    peer_listen(&f.peer); /* it does not answer yet */
    rlock__link_move(&f.link, f.peer.path, "");
    ask(&f, "FIRST");
    assert_int_equal(rlock__link_step(&f.link), RLOCK__IO_WAIT);
    rlock__link_abandon(&f.link); /* what was asked, not the way there */
    assert_int_equal(f.link.owed, 0);
    peer_serve(&f.peer, ANSWERS("+OK\r\n", ONE("mine")));
    assert_answered(&f, "SECOND", "mine");
    end(&f, "AUTH s3cr3t; SECOND");
}
