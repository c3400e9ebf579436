/* linked.c: a link to a peer. */
#include "support/linked.h"

#include <string.h>

void begin_to(struct linked *f, const char *host, const char *port) {
    *f = (struct linked){.peer.fd = -1, .access = {.connect_timeout_ms = LONG_MS}};
    rlock__link_init(&f->link, host, port, &f->access, &f->error);
}

void begin(struct linked *f, const char *const *answers) {
    begin_to(f, "", "");
    peer_start(&f->peer, answers);
    rlock__link_init(&f->link, f->peer.path, "", &f->access, &f->error);
}

void end(struct linked *f, const char *asked) {
    rlock__link_close(&f->link);
    peer_stop(&f->peer);
    assert_string_equal(peer_asked(&f->peer), asked);
}

void ask(struct linked *f, const char *word) {
    assert_true(rlock__link_ask_words(&f->link, 1, &word));
}

enum rlock_status call(struct linked *f, int64_t limit_ms, const char *expected) {
    const struct rlock__limit limit = {rlock__after_ms(rlock_now_ms(), limit_ms), -1};
    const enum rlock_status status = rlock__link_call(&f->link, &limit);
    if (status == RLOCK_OK && f->link.got > 0) {
        const rlock__reply *reply = f->link.replies[f->link.got - 1];
        const char *error = rlock__reply_error(reply);
        const char *text = error != NULL ? error : rlock__reply_text(reply, 0);
        assert_non_null(expected);
        assert_string_equal(text != NULL ? text : "", expected);
    }
    return status;
}

void assert_answered(struct linked *f, const char *word, const char *expected) {
    ask(f, word);
    assert_int_equal(call(f, LONG_MS, expected), RLOCK_OK);
    assert_int_equal(f->link.stage, RLOCK__READY);
}

void assert_unanswered(struct linked *f, const char *word, int64_t limit_ms, const char *why) {
    const int64_t begun_ms = rlock_now_ms();
    ask(f, word);
    assert_int_equal(call(f, limit_ms, NULL), RLOCK_AGAIN);
    assert_in_range(rlock_now_ms() - begun_ms, limit_ms < LONG_MS ? limit_ms : 0, LONG_MS - 1);
    if (strstr(f->error.text, why) == NULL)
        fail_msg("'%s', not '%s'", f->error.text, why);
    assert_closed(f);
}

void assert_closed(const struct linked *f) {
    assert_int_equal(f->link.stage, RLOCK__CLOSED);
    assert_int_equal(f->link.conn.fd, -1);
}
