/* linked.c: a link to a peer. */
#include "support/linked.h"

#include "os/clock.h"

#include <poll.h>

void begin(struct linked *f, const char *const *answers) {
    peer_start(&f->peer, answers);
    f->access = (struct rlock__access){.connect_timeout_ms = LONG_MS};
    f->error.text[0] = '\0';
    rlock__link_init(&f->link, f->peer.path, "", &f->access, &f->error);
}

void end(struct linked *f) {
    rlock__link_close(&f->link);
    peer_stop(&f->peer);
}

void ask(struct linked *f, const char *word) {
    assert_true(rlock__link_ask_words(&f->link, 1, &word));
}

enum rlock_status call(struct linked *f, int64_t limit_ms, const char *expected) {
    const struct rlock__limit limit = {rlock__after_ms(rlock_now_ms(), limit_ms), -1};
    rlock__reply *reply;
    const enum rlock_status status = rlock__link_call(&f->link, &limit, &reply);
    if (status == RLOCK_OK && reply != NULL) {
        const char *error = rlock__reply_error(reply);
        const char *text = error != NULL ? error : rlock__reply_text(reply, 0);
        assert_non_null(expected);
        assert_string_equal(text != NULL ? text : "", expected);
    }
    rlock__reply_free(reply);
    return status;
}

enum rlock_status ping(struct linked *f, int64_t limit_ms) {
    ask(f, "PING");
    return call(f, limit_ms, "");
}

void send_all(struct linked *f) {
    rlock__reply *reply;
    ask(f, "FIRST");
    while (rlock__link_step(&f->link, &reply) == RLOCK__IO_WAIT &&
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

void assert_asked(const struct linked *f, size_t i, size_t connection, const char *word) {
    assert_true(i < f->peer.request_count);
    assert_int_equal(f->peer.requests[i].connection, connection);
    assert_string_equal(f->peer.requests[i].words[0].data, word);
}
