/* test_resource.c: a lock on a server that answers oddly, late or not at all: no such answer makes
 * a lock that is held. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"
#include "support/peer.h"

#define GRANTED "*3\r\n:1\r\n:17\r\n:30000\r\n"
#define GONE    "*3\r\n:0\r\n:0\r\n:0\r\n"

struct fixture {
    struct peer peer;
    rlock_client *client;
    rlock_lock *lock;
};

static void begin(struct fixture *f, const char *const *answers, const char *password) {
    char url[128];
    const char *names[] = {"x"};
    peer_start(&f->peer, answers);
    (void)snprintf(url, sizeof url, "unix://%s", f->peer.path);
    const char *const servers[] = {url};
    const struct rlock_client_options client = {.size = sizeof client,
                                                .servers = servers,
                                                .server_count = 1,
                                                .password = password,
                                                .connect_timeout_ms = patience_ms(100),
                                                .io_timeout_ms = patience_ms(100)};
    const struct rlock_lock_options lock = {
        .size = sizeof lock, .kind = "run", .names = names, .name_count = 1, .lease_ms = 30000};
    assert_int_equal(rlock_client_new(&f->client, &client), RLOCK_OK);
    assert_int_equal(rlock_lock_new(&f->lock, f->client, &lock), RLOCK_OK);
}

static void end(struct fixture *f) {
    rlock_lock_free(f->lock);
    rlock_client_free(f->client);
    peer_stop(&f->peer);
}

static enum rlock_status try_once(struct fixture *f) {
    const struct rlock_wait wait = {
        .size = sizeof wait, .deadline_ms = 0, .until_ms = RLOCK_FOREVER, .cancel_fd = -1};
    return rlock_acquire(f->lock, &wait);
}

static void assert_word(const struct fixture *f, size_t request, size_t word, const char *text) {
    assert_true(request < f->peer.request_count);
    assert_true(word < f->peer.requests[request].word_count);
    assert_string_equal(f->peer.requests[request].words[word].data, text);
}

/* --- what is asked ------------------------------------------------------------------------------
 */

static void one_request_takes_it_and_one_gives_it_back(void **state) {
    (void)state;
    struct fixture f;
    static const char *const answers[] = {GRANTED, GRANTED, NULL};
    const struct rlock__kind *kind = rlock__kind_find("run");
    begin(&f, answers, NULL);
    const int64_t before_ms = rlock_now_ms();
    assert_int_equal(try_once(&f), RLOCK_OK);
    const struct rlock_hold *hold = rlock_hold_at(f.lock, 0);
    assert_non_null(hold);
    assert_int_equal(hold->token, 17);
    assert_in_range(rlock_lease_end_ms(f.lock), before_ms + 30000 - 302,
                    rlock_now_ms() + 30000 - 302);
    assert_int_equal(rlock_release(f.lock, 0, rlock_now_ms() + 1000), RLOCK_OK);
    assert_null(rlock_hold_at(f.lock, 0));
    end(&f);
    assert_int_equal(f.peer.request_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const size_t taken = 3 + 8, arg = i == 0 ? taken : 3 + 13;
        assert_word(&f, i, 0, "EVALSHA");
        assert_word(&f, i, 1, (i == 0 ? kind->acquire : kind->release)->sha1);
        assert_word(&f, i, 2, i == 0 ? "8" : "13");
        assert_word(&f, i, 3, "x");
        assert_word(&f, i, 4, "redisson_lock_token:{x}");
        assert_word(&f, i, arg + 1, "30000");
        /* The same owner and the same try. */
        assert_word(&f, i, arg, f.peer.requests[0].words[taken].data);
        assert_word(&f, i, arg + 2, f.peer.requests[0].words[taken + 2].data);
    }
    peer_free(&f.peer);
}

/* --- what is answered ---------------------------------------------------------------------------
 */

static void an_odd_answer_holds_nothing(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        enum rlock_status status;
    } rows[] = {
        {":1\r\n", RLOCK_UNAVAILABLE},
        {"+OK\r\n", RLOCK_UNAVAILABLE},
        {"$1\r\n1\r\n", RLOCK_UNAVAILABLE},
        {"$-1\r\n", RLOCK_UNAVAILABLE},
        {"*-1\r\n", RLOCK_UNAVAILABLE},
        {"*0\r\n", RLOCK_UNAVAILABLE},
        {"*1\r\n:1\r\n", RLOCK_UNAVAILABLE},
        {"*2\r\n:1\r\n:17\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n$1\r\n1\r\n:17\r\n:30000\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n+1\r\n:17\r\n:30000\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n:1\r\n$2\r\n17\r\n:30000\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n:1\r\n$-1\r\n:30000\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n:1\r\n:17\r\n$-1\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n:7\r\n:17\r\n:30000\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n:-2\r\n:17\r\n:30000\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n:2\r\n:17\r\n:30000\r\n", RLOCK_UNAVAILABLE}, /* re-entered: there was no proof */
        {"*3\r\n:1\r\n:0\r\n:30000\r\n", RLOCK_UNAVAILABLE},  /* no token is 0, none is negative */
        {"*3\r\n:1\r\n:-17\r\n:30000\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n*3\r\n:1\r\n:17\r\n:30000\r\n:1\r\n:1\r\n", RLOCK_UNAVAILABLE},
        {"-ERR user_script:1: odd\r\n", RLOCK_UNAVAILABLE},
        {"-NOPERM no\r\n", RLOCK_DENIED},
        {"-WRONGTYPE no\r\n", RLOCK_WRONG_KIND},
        {"*3\r\n:-1\r\n:0\r\n:0\r\n", RLOCK_WRONG_KIND},
        {"*4\r\n:-2\r\n:0\r\n:0\r\n$2\r\nno\r\n", RLOCK_REFUSED},
        {"*4\r\n:-3\r\n:0\r\n:0\r\n$2\r\nno\r\n", RLOCK_OUSTED},
        {"*4\r\n:-3\r\n:0\r\n:0\r\n$-1\r\n", RLOCK_UNAVAILABLE}, /* it says why, or is none */
        {"*3\r\n:0\r\n:-1\r\n:1\r\n", RLOCK_BUSY},
        {"*9\r\n:0\r\n:9\r\n:1\r\n$-1\r\n:5\r\n$1\r\nx\r\n*0\r\n$-1\r\n$1\r\n9\r\n", RLOCK_BUSY},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const answers[] = {rows[i].answer, GONE, NULL};
        begin(&f, answers, NULL);
        const enum rlock_status status = try_once(&f);
        if (status != rows[i].status)
            fail_msg("%s: %s, not %s (%s)", rows[i].answer, rlock_status_text(status),
                     rlock_status_text(rows[i].status), rlock_error(f.client));
        assert_null(rlock_hold_at(f.lock, 0));
        end(&f);
        /* What may stand on the server after all is taken back. */
        if (status == RLOCK_UNAVAILABLE) {
            assert_int_equal(f.peer.request_count, 2);
            assert_word(&f, 1, 1, rlock__kind_find("run")->release->sha1);
        }
        peer_free(&f.peer);
    }
}

static void an_odd_answer_renews_nothing(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        enum rlock_status status;
    } rows[] = {
        {GONE, RLOCK_LOST},
        {":1\r\n", RLOCK_UNAVAILABLE},
        {"$-1\r\n", RLOCK_UNAVAILABLE},
        {"*1\r\n:1\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n:2\r\n:30000\r\n:0\r\n", RLOCK_UNAVAILABLE},
        {"*3\r\n:-1\r\n:0\r\n:0\r\n", RLOCK_UNAVAILABLE},
        {"-READONLY no\r\n", RLOCK_UNAVAILABLE},
        {"-NOAUTH no\r\n", RLOCK_DENIED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const answers[] = {GRANTED, rows[i].answer, NULL};
        begin(&f, answers, NULL);
        assert_int_equal(try_once(&f), RLOCK_OK);
        const int64_t end_ms = rlock_lease_end_ms(f.lock);
        if (rlock_renew(f.lock) != rows[i].status)
            fail_msg("%s", rows[i].answer);
        assert_int_equal(rlock_lease_end_ms(f.lock), end_ms);
        end(&f);
        peer_free(&f.peer);
    }
}

/* What a renewal has found out is not forgotten by the release. */
static void what_was_lost_is_not_given_back(void **state) {
    (void)state;
    struct fixture f;
    static const char *const answers[] = {GRANTED, GONE, GONE, NULL};
    begin(&f, answers, NULL);
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(rlock_renew(f.lock), RLOCK_LOST);
    assert_int_equal(rlock_release(f.lock, 0, rlock_now_ms() + 1000), RLOCK_LOST);
    assert_string_equal(rlock_error(f.client), "x is not ours any more");
    assert_null(rlock_hold_at(f.lock, 0));
    end(&f);
    peer_free(&f.peer);
}

/* A lost answer: the same attempt is asked for again, over a new connection. */
static void a_lost_answer_is_asked_for_again(void **state) {
    (void)state;
    static const char *const lost[] = {PEER_CLOSE, PEER_SILENT, "*3\r\n:1\r\n:17\r\n:300"};
    for (size_t i = 0; i < COUNT(lost); i++) {
        struct fixture f;
        const char *const answers[] = {lost[i], GRANTED, NULL};
        begin(&f, answers, NULL);
        assert_int_equal(try_once(&f), RLOCK_OK);
        end(&f);
        assert_int_equal(f.peer.request_count, 2);
        assert_int_equal(f.peer.requests[1].connection, 2);
        assert_int_equal(f.peer.requests[1].word_count, f.peer.requests[0].word_count);
        for (size_t k = 0; k < f.peer.requests[0].word_count; k++)
            assert_word(&f, 1, k, f.peer.requests[0].words[k].data);
        peer_free(&f.peer);
    }
}

static void without_any_answer_it_is_in_doubt(void **state) {
    (void)state;
    struct fixture f;
    static const char *const answers[] = {PEER_CLOSE, PEER_CLOSE, PEER_CLOSE, PEER_CLOSE, NULL};
    begin(&f, answers, NULL);
    assert_int_equal(try_once(&f), RLOCK_UNAVAILABLE);
    assert_true(rlock_in_doubt(f.lock));
    assert_null(rlock_hold_at(f.lock, 0));
    end(&f);
    peer_free(&f.peer);
}

/* A release that is told that nothing is held has given it back before, if an answer of it was
 * lost; where it was refused, the hold was lost. */
static void what_went_by_a_lost_release_was_given_back(void **state) {
    (void)state;
    static const struct {
        const char *first;
        enum rlock_status status;
    } rows[] = {
        {PEER_CLOSE, RLOCK_OK},
        {"-ERR odd\r\n", RLOCK_OK}, /* an error that is not known says nothing of it */
        {"-LOADING wait\r\n", RLOCK_LOST},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const answers[] = {GRANTED, rows[i].first, GONE, NULL};
        begin(&f, answers, NULL);
        assert_int_equal(try_once(&f), RLOCK_OK);
        const enum rlock_status status = rlock_release(f.lock, 0, rlock_now_ms() + 1000);
        if (status != rows[i].status)
            fail_msg("%s: %s", rows[i].first, rlock_status_text(status));
        end(&f);
        peer_free(&f.peer);
    }
}

/* --- logging in ---------------------------------------------------------------------------------
 */

static void a_refused_login_takes_nothing(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        enum rlock_status status;
    } rows[] = {
        {"-WRONGPASS no\r\n", RLOCK_DENIED},
        {"-NOAUTH no\r\n", RLOCK_DENIED},
        {"-ERR whatever\r\n", RLOCK_DENIED},
        {"-LOADING wait\r\n", RLOCK_UNAVAILABLE}, /* it may pass, but there is no time to wait */
        {":1\r\n", RLOCK_UNAVAILABLE},
        {"$2\r\nOK\r\n", RLOCK_UNAVAILABLE},
        {"*-1\r\n", RLOCK_UNAVAILABLE},
        {"+PONG\r\n", RLOCK_UNAVAILABLE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const answers[] = {rows[i].answer, rows[i].answer, GRANTED, NULL};
        begin(&f, answers, "s3cr3t");
        const enum rlock_status status = try_once(&f);
        end(&f);
        if (status != rows[i].status &&
            (status != RLOCK_DENIED || rows[i].status != RLOCK_UNAVAILABLE))
            fail_msg("%s: %s", rows[i].answer, rlock_status_text(status));
        for (size_t k = 0; k < f.peer.request_count; k++)
            assert_word(&f, k, 0, "AUTH");
        peer_free(&f.peer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_request_takes_it_and_one_gives_it_back),
        cmocka_unit_test(an_odd_answer_holds_nothing),
        cmocka_unit_test(an_odd_answer_renews_nothing),
        cmocka_unit_test(what_was_lost_is_not_given_back),
        cmocka_unit_test(a_lost_answer_is_asked_for_again),
        cmocka_unit_test(without_any_answer_it_is_in_doubt),
        cmocka_unit_test(what_went_by_a_lost_release_was_given_back),
        cmocka_unit_test(a_refused_login_takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
