/* test_resource.c: a lock on a server that answers oddly, late or not at all: no such answer makes
 * a lock that is held. */
#include "support/locked.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "rlock_admin.h"
#include "rlock_count.h"
#include "rlock_handle.h"

static void begin_one(struct locked *f, const char *const *answers) {
    *f = (struct locked){.timeout_ms = patience_ms(100)};
    begin(f, 1, &answers);
}

static void assert_answer(const char *answer, bool renewal, enum rlock_status expected) {
    struct locked f;
    enum rlock_status status;
    if (renewal) {
        begin_one(&f, ANSWERS(GRANTED(17), answer));
        assert_int_equal(try_once(&f), RLOCK_OK);
        const int64_t end_ms = rlock_lease_end_ms(f.lock);
        status = rlock_renew(f.lock);
        assert_int_equal(rlock_lease_end_ms(f.lock), end_ms);
    } else {
        begin_one(&f, ANSWERS(answer, GONE));
        status = try_once(&f);
        assert_null(rlock_hold_at(f.lock, 0));
    }
    if (status != expected)
        fail_msg("%s: %s, not %s (%s)", answer, rlock_status_text(status),
                 rlock_status_text(expected), rlock_error(f.client));
    if (status != RLOCK_OK && status != RLOCK_BUSY)
        assert_string_not_equal(rlock_error(f.client), "");
    end(&f);
    /* What may stand on the server after all is taken back. */
    if (!renewal && status == RLOCK_UNAVAILABLE)
        assert_string_equal(asked(&f, 0), "ab");
}

TEST(an_odd_answer_holds_and_renews_nothing) {
#define ODD RLOCK_UNAVAILABLE, RLOCK_UNAVAILABLE
    static const struct {
        const char *answer;
        enum rlock_status taken, renewed; /* RLOCK_OK: not tried */
    } rows[] = {
        {":1\r\n", ODD},
        {"$1\r\n1\r\n", ODD},
        {"$-1\r\n", ODD},
        {"*-1\r\n", ODD},
        {"*0\r\n", ODD},
        {"*1\r\n:1\r\n", ODD},
        {"*2\r\n:1\r\n:17\r\n", ODD},
        {"*3\r\n$1\r\n1\r\n:17\r\n:30000\r\n", ODD},
        {"*3\r\n:1\r\n$2\r\n17\r\n:30000\r\n", ODD},
        {"*3\r\n:1\r\n:17\r\n$-1\r\n", ODD},
        {"*3\r\n:7\r\n:17\r\n:30000\r\n", ODD},
        {"*3\r\n:2\r\n:17\r\n:30000\r\n", ODD},  /* re-entered: there was no proof */
        {"*3\r\n:-2\r\n:17\r\n:30000\r\n", ODD}, /* it says why, or is none */
        {"*4\r\n:-3\r\n:0\r\n:0\r\n$-1\r\n", ODD},
        {"*3\r\n*3\r\n:1\r\n:17\r\n:30000\r\n:1\r\n:1\r\n", ODD},
        {"-ERR user_script:1: odd\r\n", ODD},
        {"*3\r\n:1\r\n:0\r\n:30000\r\n", RLOCK_UNAVAILABLE, RLOCK_OK}, /* no token is 0 */
        {"*3\r\n:1\r\n:-17\r\n:30000\r\n", RLOCK_UNAVAILABLE, RLOCK_OK},
        {"-NOPERM no\r\n", RLOCK_DENIED, RLOCK_DENIED},
        {"-READONLY no\r\n", RLOCK_OK, RLOCK_UNAVAILABLE},
        {"-WRONGTYPE no\r\n", RLOCK_WRONG_KIND, RLOCK_OK},
        {"*3\r\n:-1\r\n:0\r\n:0\r\n", RLOCK_WRONG_KIND, RLOCK_UNAVAILABLE},
        {"*4\r\n:-2\r\n:0\r\n:0\r\n$2\r\nno\r\n", RLOCK_REFUSED, RLOCK_OK},
        {"*4\r\n:-3\r\n:0\r\n:0\r\n$2\r\nno\r\n", RLOCK_OUSTED, RLOCK_OK},
        {"*3\r\n:0\r\n:-1\r\n:1\r\n", RLOCK_BUSY, RLOCK_LOST},
        {"*9\r\n:0\r\n:9\r\n:1\r\n$-1\r\n:5\r\n$1\r\nx\r\n*0\r\n$-1\r\n$1\r\n9\r\n", RLOCK_BUSY,
         RLOCK_OK},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].taken != RLOCK_OK)
            assert_answer(rows[i].answer, false, rows[i].taken);
        if (rows[i].renewed != RLOCK_OK)
            assert_answer(rows[i].answer, true, rows[i].renewed);
    }
}

/* After an answer that no script gives, nobody knows. */
TEST(a_count_that_is_not_done_has_a_reason) {
#define NOT_UNDERSTOOD(script, code)                                                               \
    "the server's answer to " script " can't be understood: code " code                            \
    "; it may be carried out all the same"
    static const struct {
        enum rlock_status (*change)(rlock_client *, const struct rlock_count *, int64_t *);
        const char *answer;
        enum rlock_status status;
        const char *why;
    } rows[] = {
        {rlock_latch_set, "*3\r\n:-1\r\n:0\r\n:0\r\n", RLOCK_WRONG_KIND,
         "y is another kind of lock, or none"},
        {rlock_latch_set, GONE, RLOCK_BUSY, "the latch is set already"},
        {rlock_latch_down, GONE, RLOCK_LOST, "there is no such latch"},
        {rlock_latch_set, ODD_CODE, RLOCK_UNAVAILABLE, NOT_UNDERSTOOD("latch_set", "9")},
        {rlock_latch_down, ODD_CODE, RLOCK_UNAVAILABLE, NOT_UNDERSTOOD("latch_down", "9")},
        {rlock_sem_resize, GONE, RLOCK_UNAVAILABLE, NOT_UNDERSTOOD("sem_resize", "0")},
    };
    const struct rlock_count count = {.size = sizeof count,
                                      .name = "y",
                                      .number = 1,
                                      .deadline_ms = RLOCK_FOREVER,
                                      .cancel_fd = -1};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct locked f;
        int64_t number;
        begin_one(&f, ANSWERS(rows[i].answer));
        assert_int_equal(rows[i].change(f.client, &count, &number), rows[i].status);
        assert_string_equal(rlock_error(f.client), rows[i].why);
        end(&f);
    }
}

/* One script takes away all of `run`; of a semaphore one takes some, but not for ever. */
TEST(what_is_not_taken_away_has_a_reason) {
    static const struct {
        const char *kind, *answer; /* to each request */
        size_t requests;
        enum rlock_status status;
        const char *why;
    } rows[] = {
        {"run", GONE, 1, RLOCK_LOST, ""},
        {"run", ODD_CODE, 1, RLOCK_UNAVAILABLE,
         "the server's answer to mutex_break can't be understood: code 9"},
        {"run", IN_PART, 1, RLOCK_UNAVAILABLE,
         "the server's answer to mutex_break can't be understood: code 2"},
        {"sem", IN_PART, 101, RLOCK_UNAVAILABLE,
         "the server's answer to sem_break can't be understood: code 2"},
    };
    const char *const owner = "o";
    struct rlock_break_options options = {
        .size = sizeof options, .name = "x", .owners = &owner, .owner_count = 1, .cancel_fd = -1};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct locked f;
        const char *answers[PEER_REQUESTS_MAX] = {NULL};
        int64_t broken;
        for (size_t k = 0; k < rows[i].requests; k++)
            answers[k] = rows[i].answer;
        begin_one(&f, answers);
        options.kind = rows[i].kind;
        options.deadline_ms = rlock_now_ms() + patience_ms(5000);
        assert_int_equal(rlock_break(f.client, &options, &broken), rows[i].status);
        assert_string_equal(rlock_error(f.client), rows[i].why);
        assert_int_equal(broken, 0);
        end(&f);
        assert_int_equal(f.peers[0].request_count, rows[i].requests);
    }
}

/* A release that is told that nothing is held has given it back before, if an answer of it was
 * lost; where it was refused, or a renewal has found that out, the hold was lost. */
TEST(what_went_by_a_lost_release_was_given_back) {
    static const struct {
        const char *before; /* the answer to a first release, or to a renewal */
        bool renews;
        enum rlock_status status;
    } rows[] = {
        {PEER_CLOSE, false, RLOCK_OK},
        {"-ERR odd\r\n", false, RLOCK_OK}, /* an error that is not known says nothing of it */
        {"-LOADING wait\r\n", false, RLOCK_LOST},
        {GONE, true, RLOCK_LOST},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct locked f;
        begin_one(&f, ANSWERS(GRANTED(17), rows[i].before, GONE));
        assert_int_equal(try_once(&f), RLOCK_OK);
        if (rows[i].renews) {
            assert_int_equal(rlock_renew(f.lock), RLOCK_LOST);
            assert_string_equal(rlock_error(f.client), "x is not ours any more");
        }
        const enum rlock_status status = release(&f);
        if (status != rows[i].status)
            fail_msg("%s: %s", rows[i].before, rlock_status_text(status));
        if (status == RLOCK_LOST)
            assert_string_equal(rlock_error(f.client), "x is not ours any more");
        assert_null(rlock_hold_at(f.lock, 0));
        end(&f);
    }
}

/* It is asked all the same, and has a moment for its answer; a silent one does not hold up long. */
TEST(a_release_is_confirmed_also_when_its_deadline_has_passed) {
    const int64_t past[] = {INT64_MIN, -1, 0, rlock_now_ms()};
    struct locked f;
    for (size_t i = 0; i < COUNT(past); i++) {
        begin_one(&f, ANSWERS(GRANTED(17), DONE));
        assert_int_equal(try_once(&f), RLOCK_OK);
        assert_int_equal(rlock_release(f.lock, 0, past[i]), RLOCK_OK);
        end(&f);
    }
    begin_one(&f, ANSWERS(GRANTED(17), PEER_SILENT));
    f.client->io_timeout_ms = RLOCK_FOREVER;
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(rlock_release(f.lock, 0, 0), RLOCK_UNAVAILABLE);
    end(&f);
}

/* By it a handle, and a request that comes late, are told from those of the next hold. */
TEST(each_hold_has_an_id_of_its_own) {
    static const struct {
        const char *released; /* the answer to that */
        bool another;
    } rows[] = {{DONE, true}, {"-NOPERM no\r\n", false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct locked f;
        char id[RLOCK__ID_SIZE];
        begin_one(&f, ANSWERS(GRANTED(17), rows[i].released, GRANTED(18)));
        const char *now = f.lock->resources[0].hold_id;
        assert_int_equal(try_once(&f), RLOCK_OK);
        memcpy(id, now, sizeof id);
        (void)release(&f);
        assert_int_equal(try_once(&f), RLOCK_OK);
        assert_int_equal(strcmp(now, id) != 0, rows[i].another);
        end(&f);
        assert_string_equal(asked(&f, 0), "aba");
    }
}

/* Whether the lock is kept for one renewal; *verdict: what the keeper says then. */
static bool is_kept(rlock_lock *lock, enum rlock_status *verdict) {
    const struct rlock_keeper_options options = {.size = sizeof options, .report_renewals = true};
    rlock_keeper *keeper;
    lock->lease_ms = 3000;                      /* so short that it does not listen for a break */
    rlock__routes_close(&lock->client->routes); /* the peer serves one connection at a time */
    assert_int_equal(rlock_keeper_start(&keeper, lock, &options), RLOCK_OK);
    struct pollfd fds[] = {{.fd = rlock_keeper_fd(keeper), .events = POLLIN},
                           {.fd = rlock_keeper_report_fd(keeper), .events = POLLIN}};
    const struct rlock_renewal *report = NULL;
    while (fds[0].revents == 0 && (report == NULL || report->status != RLOCK_OK)) {
        assert_true(poll(fds, 2, (int)patience_ms(5000)) > 0);
        report = rlock_keeper_report(keeper);
    }
    *verdict = rlock_keeper_stop(keeper);
    return fds[0].revents == 0;
}

/* As after the machine has slept: the request finds out whether it is held still. */
TEST(a_lease_that_is_over_is_asked_for_once) {
    static const struct {
        const char *renewed;
        enum rlock_status verdict;
    } rows[] = {{DONE, RLOCK_OK}, {GONE, RLOCK_LOST}, {PEER_SILENT, RLOCK_UNAVAILABLE}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct locked f;
        enum rlock_status verdict;
        begin_one(&f, ANSWERS(GRANTED(17), rows[i].renewed));
        assert_int_equal(try_once(&f), RLOCK_OK);
        f.lock->resources[0].instances[0].granted_ms -= LEASE_MS;
        rlock__lock_update_lease(f.lock);
        assert_int_equal(is_kept(f.lock, &verdict), rows[i].verdict == RLOCK_OK);
        assert_int_equal(verdict, rows[i].verdict);
        end(&f);
        assert_string_equal(asked(&f, 0), "ar");
    }
}

/* As after a SIGSTOP that lasted longer: the thread hears of the end first. */
TEST(a_lease_that_ran_out_was_not_kept) {
    const struct rlock_keeper_options options = RLOCK_KEEPER_OPTIONS_INIT;
    struct locked f;
    rlock_keeper *keeper;
    begin_one(&f, ANSWERS(GRANTED(17)));
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(rlock_keeper_start(&keeper, f.lock, &options), RLOCK_OK);
    atomic_store(&f.lock->granted_ms, rlock_now_ms() - LEASE_MS);
    assert_int_equal(rlock_keeper_stop(keeper), RLOCK_LOST);
    assert_string_equal(rlock_error(f.client), "the lease could not be renewed in time");
    end(&f);
}

/* Of a handle nobody knows when its lease ends: there is time to find out, more than for connecting
 * to a server that has not answered this client yet. */
TEST(what_was_resumed_is_kept) {
    static const struct {
        const char *first; /* the answer to its first renewal */
        int64_t waited_ms; /* for it, at least */
    } rows[] = {{"-LOADING wait\r\n", 0}, {PEER_SILENT, 400}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct locked f = {.timeout_ms = patience_ms(5000)};
        char *text;
        struct rlock_handle *handle;
        rlock_lock *resumed;
        enum rlock_status verdict;
        begin(&f, 1, SCRIPTS(ANSWERS(GRANTED(17), rows[i].first, DONE, DONE, DONE)));
        assert_int_equal(try_once(&f), RLOCK_OK);
        assert_int_equal(rlock_handle_write(&text, f.lock, NULL), RLOCK_OK);
        assert_int_equal(rlock_handle_read(&handle, text), RLOCK_OK);
        f.client->routes.at[0].answered = false; /* as in another process */
        f.client->connect_timeout_ms = 1;
        assert_int_equal(rlock_lock_resume(&resumed, f.client, handle), RLOCK_OK);
        const int64_t began_ms = rlock_now_ms();
        assert_true(is_kept(resumed, &verdict));
        assert_true(rlock_now_ms() - began_ms >= rows[i].waited_ms);
        assert_int_equal(verdict, RLOCK_OK);
        rlock_lock_free(resumed);
        rlock_handle_free(handle);
        free(text);
        end(&f);
    }
}
