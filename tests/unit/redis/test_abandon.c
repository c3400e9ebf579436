/* test_abandon.c: requests that nobody waits for any more: their answers may come late, and must
 * not be taken for another's. */
#include "support/linked.h"

#include <poll.h>
#include <string.h>

/* Asks "FIRST" and steps until the request is out and its answer is all that is missing. */
static void send_all(struct linked *f) {
    ask(f, "FIRST");
    while (rlock__link_step(&f->link) == RLOCK__IO_WAIT &&
           f->link.request.sent < f->link.request.size) {
        struct pollfd about;
        int64_t deadline_ms = RLOCK_FOREVER;
        rlock__link_poll(&f->link, &about, &deadline_ms);
        assert_true(deadline_ms <= rlock_now_ms() + LONG_MS);
        assert_int_equal(poll(&about, 1, LONG_MS), 1);
    }
    assert_int_equal(f->link.stage, RLOCK__READY);
    assert_int_equal(f->link.request.sent, f->link.request.size);
}

static void abandon(struct linked *f, size_t owed) {
    rlock__link_abandon(&f->link);
    assert_int_equal(f->link.owed, owed);
    assert_int_equal(f->link.in_doubt, owed > 0);
}

/* One of them is there before the next request: the server has not hung up. */
TEST(late_answers_are_passed_over) {
    struct linked f;
    begin(&f, ANSWERS(ONE("first"), PEER_SILENT, PEER_SILENT, ONE("late"),
                      ONE("later") ONE("latest") ONE("mine"), ONE("next")));
    assert_answered(&f, "FIRST", "first");
    ask(&f, "ASKING");
    send_all(&f);
    abandon(&f, 2);
    send_all(&f);
    abandon(&f, 3);
    assert_int_equal(poll(&(struct pollfd){.fd = f.link.conn.fd, .events = POLLIN}, 1, LONG_MS), 1);
    assert_answered(&f, "SECOND", "mine");
    assert_int_equal(f.link.owed, 0);
    assert_false(f.link.in_doubt); /* the server has done the ones before */
    assert_answered(&f, "THIRD", "next");
    end(&f, "FIRST; ASKING; FIRST; FIRST; SECOND; THIRD");
}

/* A new connection owes nothing. */
TEST(debts_end_with_the_connection) {
    struct linked f;
    begin(&f, ANSWERS(PEER_SILENT, PEER_CLOSE, ONE("three")));
    send_all(&f);
    abandon(&f, 1);
    assert_unanswered(&f, "SECOND", LONG_MS, "the server closed the connection");
    assert_int_equal(f.link.owed, 0);
    assert_answered(&f, "THIRD", "three");
    end(&f, "FIRST; SECOND | THIRD");
}

/* A server that takes no more bytes. */
TEST(sending_has_a_deadline) {
    static char much[8 << 20];
    const char *words[] = {memset(much, 'x', sizeof much - 1)};
    struct linked f;
    struct pollfd about;
    int64_t deadline_ms = RLOCK_FOREVER;
    begin_to(&f, "", "");
    peer_listen(&f.peer);
    rlock__link_move(&f.link, f.peer.path, "");
    assert_true(rlock__link_ask_words(&f.link, 1, words));
    assert_int_equal(rlock__link_step(&f.link), RLOCK__IO_WAIT);
    rlock__link_poll(&f.link, &about, &deadline_ms);
    assert_int_equal(about.events, POLLOUT);
    assert_true(deadline_ms == RLOCK_FOREVER); /* it is connected: the caller's limit counts */
    assert_unanswered(&f, "MORE", SHORT_MS, "no answer in time");

    /* Behind half a request no other can be sent. */
    assert_true(rlock__link_ask_words(&f.link, 1, words));
    assert_int_equal(rlock__link_step(&f.link), RLOCK__IO_WAIT);
    assert_in_range(f.link.request.sent, 1, f.link.request.size - 1);
    rlock__link_abandon(&f.link);
    assert_closed(&f);
    assert_true(f.link.in_doubt);
    peer_stop(&f.peer);
}

/* --- TLS ----------------------------------------------------------------------------------------
 * What takes no bytes has begun a record all the same, which would go out before the next request.
 */

static enum rlock__io take_nothing(struct rlock__tls *tls, const char *from, size_t size, size_t *n,
                                   short *events, struct rlock__error *error) {
    (void)tls, (void)from, (void)size, (void)error;
    *n = 0;
    *events = POLLOUT;
    return RLOCK__IO_WAIT;
}

static void close_nothing(struct rlock__tls *tls) {
    (void)tls;
}

TEST(behind_an_unfinished_record_nothing_is_sent) {
    static const struct rlock__tls_module module = {.write = take_nothing, .close = close_nothing};
    struct linked f;
    char session;
    begin(&f, (const char *const[]){NULL});
    assert_int_equal(call(&f, LONG_MS, NULL), RLOCK_OK); /* connected */
    f.link.conn.module = &module;
    f.link.conn.tls = (struct rlock__tls *)&session;
    ask(&f, "FIRST");
    assert_int_equal(rlock__link_step(&f.link), RLOCK__IO_WAIT);
    assert_int_equal(f.link.request.sent, 0);
    abandon(&f, 0);
    assert_closed(&f);
    end(&f, "");
}
