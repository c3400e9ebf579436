/* test_ask.c: several names in one request: which are asked about, in which order, and which of
 * their outcomes counts. */
#include "support/locked.h"

#define HELD       HELD_BY("o")
#define OTHER_KIND "*3\r\n:-1\r\n:0\r\n:0\r\n"

static void begin_abc(struct locked *f, const char *const *answers) {
    *f = (struct locked){.timeout_ms = 2000, .names = {"c", "a", "b"}};
    begin(f, 1, &answers);
}

static void assert_ends(struct locked *f, const char *expected) {
    end(f);
    assert_string_equal(asked(f, 0), expected);
}

/* The first one that is busy is the one to wait for; what was granted beside it is given back. */
TEST(the_first_name_that_is_not_granted_counts) {
    struct locked f;
    begin_abc(&f, ANSWERS(GRANTED(17), HELD, OTHER_KIND, DONE));
    assert_int_equal(try_once(&f), RLOCK_BUSY);
    assert_string_equal(rlock_stuck_at(f.lock), "b");
    assert_string_equal(rlock_blocker(f.lock)->owner, "o");
    assert_null(rlock_hold_at(f.lock, 0));
    assert_false(rlock_in_doubt(f.lock));
    assert_ends(&f, "aa ab ac ba");
}

/* What is lost is known, however the others fare. They are taken in the order of their names, and
 * given back the last first. */
TEST(a_lost_name_counts_before_one_that_was_not_answered) {
    struct locked f;
    begin_abc(&f, ANSWERS(GRANTED(17), GRANTED(17), GRANTED(17), "-LOADING wait\r\n", GONE,
                          "-NOPERM no\r\n", DONE, DONE, DONE));
    assert_int_equal(try_once(&f), RLOCK_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rlock_hold_at(f.lock, i)->token, 17);
    assert_int_equal(rlock_renew(f.lock), RLOCK_LOST);
    assert_string_equal(rlock_stuck_at(f.lock), "b");
    assert_int_equal(release(&f), RLOCK_OK);
    assert_ends(&f, "aa ab ac ra rb rc bc bb ba");
}

/* Only what was not answered is asked for again, and a name that was lost stays lost. */
TEST(a_second_request_is_about_the_rest) {
    struct locked f;
    begin_abc(
        &f, ANSWERS(GRANTED(17), GRANTED(17), GRANTED(17), GONE, "-LOADING wait\r\n", DONE, DONE));
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(release(&f), RLOCK_LOST);
    assert_string_equal(rlock_stuck_at(f.lock), "c");
    assert_string_equal(rlock_error(f.client), "c is not ours any more");
    for (size_t i = 0; i < 3; i++)
        assert_null(rlock_hold_at(f.lock, i));
    assert_ends(&f, "aa ab ac bc bb ba bb");
}

/* The names that are waited for are those that are asked for again: also where the time of their
 * next try, of a wait before, has not come. */
TEST(a_pool_asks_again_for_names_that_did_not_answer) {
    struct locked f = {.timeout_ms = 2000, .names = {"c", "a", "b"}, .any = 2};
    begin(&f, 1, SCRIPTS(ANSWERS(HELD, HELD, PEER_CLOSE, HELD, HELD, GONE, GONE)));
    assert_int_equal(try_once(&f), RLOCK_BUSY);
    assert_int_equal(try_once(&f), RLOCK_BUSY);
    assert_string_equal(rlock_stuck_at(f.lock), "c");
    assert_int_equal(rlock_renew(f.lock), RLOCK_LOST); /* which asks nobody */
    assert_string_equal(rlock_error(f.client), "a is not held");
    assert_ends(&f, "aa ac aa aa ac bc ba");
}

/* Four that were busy, of which one is due and is granted: the others' times have not come, and
 * what was in their way is known. */
TEST(a_pool_that_waits_for_all_other_names_ends_where_it_did_before) {
    struct locked f = {.timeout_ms = 2000, .names = {"d", "c", "a", "b"}, .any = 2};
    begin(&f, 1, SCRIPTS(ANSWERS(GRANTED(17), DONE)));
    struct rlock__busy busy = {.resource = NULL};
    const struct rlock__limit limit = rlock__client_limit(f.client, rlock_now_ms() + 2000, -1);
    for (size_t i = 0; i < 4; i++) {
        f.lock->resources[i].waited = true;
        f.lock->resources[i].next_try_ms = i == 0 ? 0 : RLOCK_FOREVER;
    }
    f.lock->stuck_at = 2;
    assert_int_equal(rlock__take_any(f.lock, &limit, 0, &busy), RLOCK_BUSY);
    assert_null(busy.resource);
    assert_string_equal(rlock_stuck_at(f.lock), "c");
    rlock_withdraw(f.lock);
    assert_ends(&f, "aa ba");
}

/* The grant is given back, whichever name stood in the way before. */
TEST(a_pool_that_was_granted_too_late_begins_anew_with_what_is_preferred) {
    struct locked f = {.timeout_ms = 2000, .names = {"c", "a", "b"}, .any = 1};
    begin(&f, 1, SCRIPTS(ANSWERS(GRANTED(17), DONE)));
    f.lock->lease_ms = 0; /* the answer takes more than half of it */
    assert_int_equal(try_once(&f), RLOCK_UNAVAILABLE);
    assert_string_equal(rlock_stuck_at(f.lock), "c");
    assert_ends(&f, "ac bc");
}

TEST(a_server_that_is_not_there_is_waited_for_as_long_as_was_asked) {
    struct locked f = {.timeout_ms = RLOCK_FOREVER, .urls = {"unix:///none/sock"}};
    const int64_t by_ms = rlock_now_ms() + 100;
    const struct rlock_wait wait = {sizeof wait, by_ms, RLOCK_FOREVER, -1};
    make(&f, 1);
    assert_int_equal(rlock_acquire(f.lock, &wait), RLOCK_UNAVAILABLE);
    assert_true(rlock_now_ms() >= by_ms);
    rlock_lock_free(f.lock);
    rlock_client_free(f.client);
}
