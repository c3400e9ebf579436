/* test_quorum.c: a lock on three servers that answer as they like: a majority decides, and nothing
 * is left where there was none. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lock/lock.h"
#include "support/peer.h"

enum { SERVERS = 3, LEASE_MS = 30000, TOKEN_WORD = 3 + 12 + 6 };

#define GRANTED(token) "*3\r\n:1\r\n:" #token "\r\n:30000\r\n"
#define DONE           "*3\r\n:1\r\n:30000\r\n:0\r\n" /* renewed, released, raised */
#define GONE           "*3\r\n:0\r\n:0\r\n:0\r\n"
#define TAKEN(token)   "*3\r\n:0\r\n:" #token "\r\n:0\r\n" /* so much is known already */
#define HELD_BY(owner)                                                                             \
    "*10\r\n:0\r\n:29000\r\n:2\r\n$1\r\n" owner                                                    \
    "\r\n$1\r\nh\r\n:1\r\n$1\r\nu\r\n$1\r\nc\r\n:0\r\n:1\r\n"

#define ANSWERS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct fixture {
    struct peer peers[SERVERS];
    char urls[SERVERS][128];
    rlock_client *client;
    rlock_lock *lock;
};

#define NOWHERE NULL /* a server that is not there, which shows at once */

static void begin(struct fixture *f, const char *const *first, const char *const *second,
                  const char *const *third) {
    const char *const *answers[] = {first, second, third};
    const char *servers[SERVERS];
    const char *names[] = {"x"};
    for (size_t i = 0; i < SERVERS; i++) {
        f->peers[i] = (struct peer){.fd = -1, .path = "/tmp/rlock-there-is-none"};
        if (answers[i] != NOWHERE)
            peer_start(&f->peers[i], answers[i]);
        (void)snprintf(f->urls[i], sizeof f->urls[i], "unix://%s", f->peers[i].path);
        servers[i] = f->urls[i];
    }
    const struct rlock_client_options client = {.size = sizeof client,
                                                .servers = servers,
                                                .server_count = SERVERS,
                                                .connect_timeout_ms = patience_ms(150),
                                                .io_timeout_ms = patience_ms(150)};
    const struct rlock_lock_options lock = {
        .size = sizeof lock, .kind = "run", .names = names, .name_count = 1, .lease_ms = LEASE_MS};
    assert_int_equal(rlock_client_new(&f->client, &client), RLOCK_OK);
    assert_int_equal(rlock_lock_new(&f->lock, f->client, &lock), RLOCK_OK);
}

static void end(struct fixture *f) {
    rlock_lock_free(f->lock);
    rlock_client_free(f->client);
    for (size_t i = 0; i < SERVERS; i++) {
        if (f->peers[i].fd >= 0)
            peer_stop(&f->peers[i]);
    }
}

static void forget(struct fixture *f) {
    for (size_t i = 0; i < SERVERS; i++)
        peer_free(&f->peers[i]);
}

static enum rlock_status try_once(struct fixture *f) {
    const struct rlock_wait wait = {
        .size = sizeof wait, .deadline_ms = 0, .until_ms = RLOCK_FOREVER, .cancel_fd = -1};
    return rlock_acquire(f->lock, &wait);
}

static enum rlock_status release(struct fixture *f) {
    return rlock_release(f->lock, 0, rlock_now_ms() + patience_ms(1500));
}

/* What a server was asked, a letter a script: 'a'cquire, 'r'enew, re's'tore, 't'oken, give 'b'ack.
 */
static const char *asked(const struct fixture *f, size_t server) {
    static char word[PEER_REQUESTS_MAX + 1];
    const struct rlock__kind *kind = rlock__kind_find("run");
    const struct {
        const struct rlock__script *script;
        char letter;
    } scripts[] = {
        {kind->acquire, 'a'}, {kind->renew, 'r'},        {kind->restore, 's'},
        {kind->release, 'b'}, {RLOCK__TOKEN_RAISE, 't'},
    };
    const struct peer *peer = &f->peers[server];
    memset(word, 0, sizeof word);
    for (size_t i = 0; i < peer->request_count; i++) {
        word[i] = '?';
        for (size_t k = 0; k < COUNT(scripts); k++) {
            if (strcmp(peer->requests[i].words[1].data, scripts[k].script->sha1) == 0)
                word[i] = scripts[k].letter;
        }
    }
    return word;
}

static void assert_asked(const struct fixture *f, const char *first, const char *second,
                         const char *third) {
    static const struct timespec moment = {.tv_nsec = 1000000};
    const char *expected[] = {first, second, third};
    for (size_t i = 0; i < SERVERS; i++) {
        /* Where a majority has answered the last one's thread may not have read its request yet. */
        for (int n = 0; n < 5000 && strcmp(asked(f, i), expected[i]) != 0; n++)
            nanosleep(&moment, NULL);
        assert_string_equal(asked(f, i), expected[i]);
    }
}

/* --- taking it ----------------------------------------------------------------------------------
 */

static void all_are_asked_for_the_same_hold(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED(7), DONE), ANSWERS(GRANTED(7), DONE), ANSWERS(GRANTED(7), DONE));
    const int64_t before_ms = rlock_now_ms();
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(rlock_hold_at(f.lock, 0)->token, 7);
    assert_in_range(rlock_lease_end_ms(f.lock), before_ms + LEASE_MS - 302,
                    rlock_now_ms() + LEASE_MS - 302);
    assert_int_equal(release(&f), RLOCK_OK);
    assert_null(rlock_hold_at(f.lock, 0));
    end(&f);
    assert_asked(&f, "ab", "ab", "ab");
    for (size_t i = 0; i < SERVERS; i++) {
        for (size_t k = 10; k <= 12; k++) /* owner, lease, attempt */
            assert_string_equal(f.peers[i].requests[0].words[k].data,
                                f.peers[0].requests[0].words[k].data);
    }
    forget(&f);
}

/* The next holder's token must be larger whichever majority gives it. */
static void the_largest_token_is_told_to_the_others(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED(5), DONE), ANSWERS(GRANTED(9)), ANSWERS(HELD_BY("o")));
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(rlock_hold_at(f.lock, 0)->token, 9);
    end(&f);
    assert_asked(&f, "at", "a", "a");
    assert_string_equal(f.peers[0].requests[1].words[TOKEN_WORD].data, "9");
    forget(&f);
}

static void what_a_majority_knows_is_told_to_nobody(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED(9)), ANSWERS(GRANTED(9)), ANSWERS(HELD_BY("o")));
    assert_int_equal(try_once(&f), RLOCK_OK);
    end(&f);
    assert_asked(&f, "a", "a", "a");
    forget(&f);
}

static void a_token_that_no_majority_knows_is_none(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED(5), "-READONLY no\r\n", DONE), ANSWERS(GRANTED(9), DONE), NOWHERE);
    assert_int_equal(try_once(&f), RLOCK_UNAVAILABLE);
    assert_string_equal(rlock_error(f.client), "no majority of the servers agrees on a token");
    assert_null(rlock_hold_at(f.lock, 0));
    assert_false(rlock_in_doubt(f.lock));
    end(&f);
    assert_asked(&f, "atb", "ab", "");
    forget(&f);
}

/* Another reader was faster: it has the very token that we want. */
static void a_token_that_another_has_is_left_to_it(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED(5), TAKEN(9), DONE), ANSWERS(GRANTED(9), DONE), NOWHERE);
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(rlock_hold_at(f.lock, 0)->token, 10);
    end(&f);
    assert_asked(&f, "att", "at", "");
    forget(&f);
}

/* Of readers that come together one may lose each round: that is no failure of the servers. */
static void who_always_finds_its_token_taken_tries_again(void **state) {
    (void)state;
    struct fixture f;
    begin(&f,
          ANSWERS(GRANTED(5), TAKEN(11), TAKEN(13), TAKEN(15), TAKEN(17), TAKEN(19), TAKEN(21),
                  TAKEN(23), TAKEN(25), DONE, HELD_BY("o")),
          ANSWERS(GRANTED(9), TAKEN(13), TAKEN(15), TAKEN(17), TAKEN(19), TAKEN(21), TAKEN(23),
                  TAKEN(25), DONE, HELD_BY("o")),
          NOWHERE);
    assert_int_equal(try_once(&f), RLOCK_BUSY);
    assert_string_equal(rlock_blocker(f.lock)->owner, "o");
    assert_false(rlock_in_doubt(f.lock));
    end(&f);
    assert_asked(&f, "attttttttba", "atttttttba", "");
    forget(&f);
}

static void a_minority_is_given_back(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(HELD_BY("o")), ANSWERS(GRANTED(5), DONE), ANSWERS(HELD_BY("o")));
    assert_int_equal(try_once(&f), RLOCK_BUSY);
    assert_string_equal(rlock_blocker(f.lock)->owner, "o");
    assert_false(f.lock->busy.split);
    assert_false(rlock_in_doubt(f.lock));
    end(&f);
    assert_asked(&f, "a", "ab", "a");
    forget(&f);
}

static void a_split_vote_is_known_as_one(void **state) {
    (void)state;
    struct fixture f;
    const struct rlock_wait once = {.size = sizeof once, .cancel_fd = -1};
    begin(&f, ANSWERS(HELD_BY("o")), ANSWERS(GRANTED(5), DONE), ANSWERS(HELD_BY("p")));
    assert_int_equal(rlock_acquire(f.lock, &once), RLOCK_AGAIN);
    assert_true(f.lock->busy.split);
    assert_non_null(rlock_blocker(f.lock));
    end(&f);
    assert_asked(&f, "a", "ab", "a");
    forget(&f);
}

/* It may be held there, too: what is given back is given back there as well. */
static void a_silent_one_is_not_needed_but_remembered(void **state) {
    (void)state;
    struct fixture f;
    static const char *const good[] = {GRANTED(7), DONE, NULL};
    begin(&f, good, good, ANSWERS(PEER_SILENT, GRANTED(7) DONE));
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_true(rlock_in_doubt(f.lock));
    assert_int_equal(release(&f), RLOCK_OK);
    end(&f);
    assert_asked(&f, "ab", "ab", "ab");
    forget(&f);
}

static void without_a_majority_it_is_given_back_everywhere(void **state) {
    (void)state;
    struct fixture f;
    static const char *const silent[] = {PEER_SILENT, PEER_SILENT, PEER_SILENT, PEER_SILENT,
                                         PEER_SILENT, PEER_SILENT, NULL};
    begin(&f, ANSWERS(GRANTED(7), DONE), silent, silent);
    assert_int_equal(try_once(&f), RLOCK_UNAVAILABLE);
    char error[300];
    (void)snprintf(error, sizeof error,
                   "1 of 3 servers have answered, 2 are needed; %s: no answer in time", f.urls[1]);
    assert_string_equal(rlock_error(f.client), error);
    assert_true(rlock_in_doubt(f.lock));
    end(&f);
    assert_string_equal(asked(&f, 0), "ab");
    assert_non_null(strchr(asked(&f, 1), 'b'));
    assert_non_null(strchr(asked(&f, 2), 'b'));
    forget(&f);
}

static void a_final_answer_of_most_ends_it(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        enum rlock_status status;
    } rows[] = {
        {"-NOPERM no\r\n", RLOCK_DENIED},
        {"-WRONGTYPE no\r\n", RLOCK_WRONG_KIND},
        {"*3\r\n:-1\r\n:0\r\n:0\r\n", RLOCK_WRONG_KIND},
        {"*4\r\n:-2\r\n:0\r\n:0\r\n$2\r\nno\r\n", RLOCK_REFUSED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const answers[] = {rows[i].answer, NULL};
        begin(&f, answers, ANSWERS(GRANTED(5), DONE), answers);
        assert_int_equal(try_once(&f), rows[i].status);
        assert_null(rlock_hold_at(f.lock, 0));
        end(&f);
        assert_asked(&f, "a", "ab", "a");
        forget(&f);
    }
}

/* --- keeping it ---------------------------------------------------------------------------------
 */

static void a_majority_renews(void **state) {
    (void)state;
    static const struct {
        const char *one, *another; /* of the three; the third renews */
        enum rlock_status status;
    } rows[] = {
        {DONE, DONE, RLOCK_OK},
        {DONE, GONE, RLOCK_OK},
        {DONE, "-LOADING wait\r\n", RLOCK_OK},
        {GONE, GONE, RLOCK_LOST},
        {GONE, "-LOADING wait\r\n", RLOCK_UNAVAILABLE},
        {"-LOADING wait\r\n", "-NOPERM no\r\n", RLOCK_UNAVAILABLE},
        {"-NOPERM no\r\n", "-NOPERM no\r\n", RLOCK_DENIED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        begin(&f, ANSWERS(GRANTED(7), DONE), ANSWERS(GRANTED(7), rows[i].one),
              ANSWERS(GRANTED(7), rows[i].another));
        assert_int_equal(try_once(&f), RLOCK_OK);
        /* As if it had been long ago. */
        for (size_t k = 0; k < SERVERS; k++)
            f.lock->resources[0].instances[k].granted_ms -= 1000;
        f.lock->resources[0].granted_ms -= 1000;
        rlock__lock_update_lease(f.lock);
        const int64_t end_ms = rlock_lease_end_ms(f.lock);
        const enum rlock_status status = rlock_renew(f.lock);
        if (status != rows[i].status)
            fail_msg("row %zu: %s", i, rlock_status_text(status));
        if (status == RLOCK_OK)
            assert_true(rlock_lease_end_ms(f.lock) >= end_ms + 1000);
        else
            assert_int_equal(rlock_lease_end_ms(f.lock), end_ms);
        end(&f);
        /* Where it has gone while the others keep it, it is put back. */
        const bool healed = status == RLOCK_OK && strcmp(rows[i].another, GONE) == 0;
        assert_asked(&f, "ar", "ar", healed ? "ars" : "ar");
        forget(&f);
    }
}

/* --- giving it back -----------------------------------------------------------------------------
 */

/* The end of a hold says whether it was one: by then, too, a majority must have kept it. */
static void a_hold_that_no_majority_kept_was_lost(void **state) {
    (void)state;
    static const struct {
        const char *answers[SERVERS]; /* NULL: it was never there */
        enum rlock_status status;
    } rows[] = {
        {{DONE, DONE, DONE}, RLOCK_OK},   {{DONE, DONE, GONE}, RLOCK_OK},
        {{DONE, GONE, GONE}, RLOCK_LOST}, {{GONE, GONE, GONE}, RLOCK_LOST},
        {{DONE, DONE, NULL}, RLOCK_OK},   {{DONE, GONE, NULL}, RLOCK_LOST},
        {{GONE, GONE, NULL}, RLOCK_LOST},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const *third = ANSWERS(GRANTED(7), rows[i].answers[2]);
        begin(&f, ANSWERS(GRANTED(7), rows[i].answers[0]), ANSWERS(GRANTED(7), rows[i].answers[1]),
              rows[i].answers[2] != NULL ? third : NOWHERE);
        assert_int_equal(try_once(&f), RLOCK_OK);
        const enum rlock_status status = release(&f);
        if (status != rows[i].status)
            fail_msg("row %zu: %s", i, rlock_status_text(status));
        assert_null(rlock_hold_at(f.lock, 0));
        end(&f);
        assert_asked(&f, "ab", "ab", rows[i].answers[2] != NULL ? "ab" : "");
        forget(&f);
    }
}

/* One round for one, another round for the other: together they are the majority. */
static void it_may_be_given_back_in_rounds(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED(7), DONE), ANSWERS(GRANTED(7), PEER_SILENT, DONE), NOWHERE);
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(release(&f), RLOCK_OK);
    end(&f);
    assert_asked(&f, "ab", "abb", "");
    forget(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_asked_for_the_same_hold),
        cmocka_unit_test(the_largest_token_is_told_to_the_others),
        cmocka_unit_test(what_a_majority_knows_is_told_to_nobody),
        cmocka_unit_test(a_token_that_no_majority_knows_is_none),
        cmocka_unit_test(a_token_that_another_has_is_left_to_it),
        cmocka_unit_test(who_always_finds_its_token_taken_tries_again),
        cmocka_unit_test(a_minority_is_given_back),
        cmocka_unit_test(a_split_vote_is_known_as_one),
        cmocka_unit_test(a_silent_one_is_not_needed_but_remembered),
        cmocka_unit_test(without_a_majority_it_is_given_back_everywhere),
        cmocka_unit_test(a_final_answer_of_most_ends_it),
        cmocka_unit_test(a_majority_renews),
        cmocka_unit_test(a_hold_that_no_majority_kept_was_lost),
        cmocka_unit_test(it_may_be_given_back_in_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
