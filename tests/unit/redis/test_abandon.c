/* test_abandon.c: requests that nobody waits for any more: their answers may come late, and must
 * not be taken for another's. */
#include "support/linked.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

TEST(a_late_answer_is_passed_over) {
    struct linked f;
    begin(&f, ANSWERS(PEER_SILENT, ONE("late") ONE("two"), ONE("three")));
    send_all(&f);
    rlock__link_abandon(&f.link);
    assert_int_equal(f.link.owed, 1);
    assert_true(f.link.in_doubt);
    assert_int_equal(f.link.stage, RLOCK__READY);
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "two"), RLOCK_OK);
    assert_int_equal(f.link.owed, 0);
    assert_false(f.link.in_doubt); /* the server has done the one before the other */
    ask(&f, "THIRD");
    assert_int_equal(call(&f, LONG_MS, "three"), RLOCK_OK);
    end(&f);
    assert_asked(&f, 2, 1, "THIRD");
}

TEST(each_abandoned_answer_is_owed) {
    struct linked f;
    begin(&f,
          ANSWERS(PEER_SILENT, PEER_SILENT, PEER_SILENT, ONE("a") ONE("b") ONE("c") ONE("mine")));
    ask(&f, "ASKING");
    send_all(&f);
    rlock__link_abandon(&f.link);
    assert_int_equal(f.link.owed, 2);
    send_all(&f);
    rlock__link_abandon(&f.link);
    assert_int_equal(f.link.owed, 3);
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "mine"), RLOCK_OK);
    end(&f);
    assert_int_equal(f.peer.request_count, 4);
}

/* A new connection owes nothing. */
TEST(debts_end_with_the_connection) {
    struct linked f;
    begin(&f, ANSWERS(PEER_SILENT, PEER_CLOSE, ONE("three")));
    send_all(&f);
    rlock__link_abandon(&f.link);
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, NULL), RLOCK_AGAIN);
    assert_int_equal(f.link.owed, 0);
    ask(&f, "THIRD");
    assert_int_equal(call(&f, LONG_MS, "three"), RLOCK_OK);
    end(&f);
}

TEST(what_was_not_sent_is_not_asked) {
    struct linked f;
    begin(&f, ANSWERS(ONE("mine")));
    ask(&f, "FIRST");
    rlock__link_abandon(&f.link);
    assert_int_equal(f.link.owed, 0);
    assert_false(f.link.in_doubt);
    ask(&f, "SECOND");
    assert_int_equal(call(&f, LONG_MS, "mine"), RLOCK_OK);
    end(&f);
    assert_int_equal(f.peer.request_count, 1);
    assert_asked(&f, 0, 1, "SECOND");
}

/* --- a server that takes no bytes ------------------------------------------------------------- */

static int open_door(struct linked *f) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *f = (struct linked){.peer.directory = "/tmp/rlock-door-XXXXXX"};
    assert_non_null(mkdtemp(f->peer.directory));
    (void)snprintf(f->peer.path, sizeof f->peer.path, "%s/sock", f->peer.directory);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", f->peer.path);
    const int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(door, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(door, 1), 0);
    f->access.connect_timeout_ms = LONG_MS;
    rlock__link_init(&f->link, f->peer.path, "", &f->access, &f->error);
    return door;
}

TEST(sending_has_a_deadline) {
    static char much[8 << 20];
    const struct rlock__arg args[] = {{much, sizeof much}};
    struct linked f;
    struct pollfd about;
    int64_t deadline_ms = RLOCK_FOREVER;
    rlock__reply *reply;
    const int door = open_door(&f);
    assert_true(rlock__link_ask(&f.link, 1, args));
    assert_int_equal(rlock__link_step(&f.link, &reply), RLOCK__IO_WAIT);
    rlock__link_poll(&f.link, &about, &deadline_ms);
    assert_int_equal(about.events, POLLOUT);
    assert_true(deadline_ms == RLOCK_FOREVER); /* it is connected: the caller's limit counts */
    assert_int_equal(call(&f, SHORT_MS, NULL), RLOCK_AGAIN);
    assert_string_equal(f.error.text, "no answer in time");
    assert_int_equal(f.link.stage, RLOCK__CLOSED);

    /* Behind half a request no other can be sent. */
    assert_true(rlock__link_ask(&f.link, 1, args));
    assert_int_equal(rlock__link_step(&f.link, &reply), RLOCK__IO_WAIT);
    assert_in_range(f.link.request.sent, 1, f.link.request.size - 1);
    rlock__link_abandon(&f.link);
    assert_int_equal(f.link.stage, RLOCK__CLOSED);
    assert_true(f.link.in_doubt);
    close(door);
    unlink(f.peer.path);
    rmdir(f.peer.directory);
}

/* --- TLS ----------------------------------------------------------------------------------------
 * What takes no bytes has begun a record all the same, which would go out before the next request.
 */

enum rlock__io __wrap_rlock__tls_write(struct rlock__tls *tls, const char *from, size_t size,
                                       size_t *n, short *events, struct rlock__error *error);
enum rlock__io __wrap_rlock__tls_write(struct rlock__tls *tls, const char *from, size_t size,
                                       size_t *n, short *events, struct rlock__error *error) {
    (void)tls, (void)from, (void)size, (void)error;
    *n = 0;
    *events = POLLOUT;
    return RLOCK__IO_WAIT;
}

void __wrap_rlock__tls_close(struct rlock__tls *tls);
void __wrap_rlock__tls_close(struct rlock__tls *tls) {
    (void)tls;
}

TEST(behind_an_unfinished_record_nothing_is_sent) {
    struct linked f;
    static const char *const answers[] = {NULL};
    char session;
    rlock__reply *reply;
    begin(&f, answers);
    assert_int_equal(call(&f, LONG_MS, NULL), RLOCK_OK); /* connected */
    f.link.conn.tls = (struct rlock__tls *)&session;
    ask(&f, "FIRST");
    assert_int_equal(rlock__link_step(&f.link, &reply), RLOCK__IO_WAIT);
    assert_int_equal(f.link.request.sent, 0);
    rlock__link_abandon(&f.link);
    assert_int_equal(f.link.stage, RLOCK__CLOSED);
    assert_int_equal(f.link.owed, 0);
    end(&f);
}
