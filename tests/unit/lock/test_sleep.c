/* test_sleep.c: when a waiter sleeps, what it listens to, and what wakes it. */
#include "support/world.h"

#include <string.h>

/* Subscribed, confirmed, then a second try, which stands in line: no message is missed between. */
static void listens_before_it_sleeps(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 1), GRANTED(0), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTn");
    assert_int_equal(time_of(2), 0);
}

/* As the server says: a few at the front, and those behind them seldom. */
static void sleeps_as_long_as_it_is_told(void **state) {
    (void)state;
    static const int64_t asked_ms[] = {0, 2500, 125000};
    for (size_t k = 0; k < COUNT(asked_ms); k++) {
        const struct answer answers[] = {BUSY_FOR(asked_ms[k], 70), AND_SO_ON};
        const int64_t most = asked_ms[k] != 0 ? asked_ms[k] : 5000;
        begin(1, answers, NULL);
        assert_int_equal(acquire(RLOCK_FOREVER, 12 * most), RLOCK_AGAIN);
        assert_int_equal(strncmp(deeds(), "tlTTTTT", 7), 0);
        assert_in_range(count_of('T'), 12, 14);
        for (size_t i = 3; i < world.deed_count; i++)
            assert_in_range(time_of(i) - time_of(i - 1), most - most / 10, most);
    }
}

static void a_waiter_asked_for_heartbeats_does_not_sleep_on(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY_FOR(125000, 20), BUSY_FOR(125000, 20),
                                            BUSY_FOR(2500, 16), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 37, .heartbeat = true}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, 4000), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tlTT");
    assert_in_range(time_of(3), 37 + 2250, 37 + 2500);
}

static void the_first_is_there_when_the_hold_expires(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), BUSY(800, 1), GRANTED(0), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTTn");
    assert_int_equal(time_of(3), 801);
}

static void the_others_leave_the_expiry_to_the_first(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(800, 2), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 4400), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tlT");
}

/* A latch that is not there yet is waited for; once there was word of it, it has been. */
static void what_was_heard_of_has_been_there(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(-1, 0), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 37, .released = true}, {0}};
    begin(1, answers, hearing);
    world.lock.kind = rlock__kind_find("latch");
    assert_int_equal(acquire(RLOCK_FOREVER, 30), RLOCK_AGAIN);
    assert_int_equal(world.lock.busy.place, 0);
    static const struct answer opened[] = {GRANTED(0), AND_SO_ON};
    world.answers = opened;
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_int_equal(world.lock.busy.place, 1);
}

static void wakes_at_its_own_message(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 3), BUSY(29000, 3), GRANTED(0), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 37, .woken = true}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tlTTn");
    assert_int_equal(time_of(3), 37);
}

/* A try without an answer makes nobody deaf: the listener's connection is another one. */
static void listens_on_after_a_lost_answer(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 1), BUSY(29000, 1), NO_ANSWER(0),
                                            BUSY(20000, 1), GRANTED(0),     AND_SO_ON};
    static const struct heard hearing[] = {
        {.at_ms = 37, .woken = true}, {.at_ms = 300, .woken = true}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTTTTn");
    assert_int_equal(time_of(5), 300);
}

/* Redisson's release is everybody's message; only the first in line acts on it. */
static void the_shared_message_is_for_the_first(void **state) {
    (void)state;
    static const struct heard hearing[] = {{.at_ms = 37, .released = true}, {0}};
    static const struct answer first[] = {BUSY(29000, 1), BUSY(29000, 1), GRANTED(0), AND_SO_ON};
    begin(1, first, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTTn");
    assert_int_equal(time_of(3), 37);

    static const struct answer third[] = {BUSY(29000, 3), AND_SO_ON};
    begin(1, third, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, 4400), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tlT");
}

/* "You are first now, the hold ends in 700 ms": no try, but the shared channel and the expiry. */
static void who_becomes_first_listens_to_redisson_too(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 2), BUSY(29000, 2), GRANTED(0), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 50, .first_ms = 700}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tlTLTn");
    assert_int_equal(time_of(3), 50);
    assert_int_equal(time_of(4), 751);
}

/* One with an earlier ticket has come back: who listens is one too many, rather than none. */
static void who_is_first_no_more_listens_on(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), BUSY(29000, 2), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 3000), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tLT");
}

static void until_keeps_the_place(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 4), AND_SO_ON};
    begin(1, answers, NULL);
    for (int64_t until_ms = 100; until_ms <= 4400; until_ms += 100) {
        assert_int_equal(acquire(60000, until_ms), RLOCK_AGAIN);
        assert_int_equal(world.now_ms, START_MS + until_ms);
    }
    assert_string_equal(deeds(), "tlT"); /* looking at the clock costs the server nothing */
    rlock_withdraw(&world.lock);
    assert_int_equal(count_of('b'), 1);
    assert_null(world.lock.listener.resource);
}

/* Subscribing fails although tries are answered: no storm, and no sleep without subscriptions. */
static void a_deaf_waiter_tries_now_and_then(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 1), AND_SO_ON};
    begin(1, answers, NULL);
    world.deaf = true;
    assert_int_equal(acquire(RLOCK_FOREVER, 60000), RLOCK_AGAIN);
    assert_in_range(count_of('t'), 60, 140);
}

static void a_lost_connection_is_listened_on_anew(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 2), BUSY(29000, 2), BUSY(29000, 2),
                                            GRANTED(0), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 100, .dead = true}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    /* A try behind the new subscription finds what was said meanwhile. */
    const char *last = strrchr(deeds(), 'l');
    assert_non_null(last);
    assert_true(last > deeds() + 1);
    assert_non_null(strchr(last, 'T'));
    assert_true(world.now_ms < START_MS + 2000);
}

/* --- several servers ----------------------------------------------------------------------------
 */

static void begin_quorum(const struct answer *answers, const struct heard *hearing) {
    begin(1, answers, hearing);
    world.client.count = world.client.routes.count = SERVERS_MAX;
}

/* Each has a minority: nobody's release will wake anybody, so all try again by themselves, and
 * further apart each time. */
static void after_a_split_vote_it_tries_soon_again(void **state) {
    (void)state;
    static const struct answer answers[] = {SPLIT, AND_SO_ON};
    static const int64_t most_ms[] = {20, 40, 80, 160, 320, 320, 320, 320};
    int64_t longest_ms = 0;
    begin_quorum(answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 2000), RLOCK_AGAIN);
    assert_int_equal(strncmp(deeds(), "tLTTT", 5), 0);
    for (size_t i = 3; i < world.deed_count; i++) {
        const int64_t slept_ms = time_of(i) - time_of(i - 1);
        const size_t round = i - 2 < COUNT(most_ms) ? i - 2 : COUNT(most_ms) - 1;
        assert_in_range(slept_ms, 1, most_ms[round]);
        longest_ms = slept_ms > longest_ms ? slept_ms : longest_ms;
    }
    assert_true(longest_ms > 20);
}

static void a_winner_ends_the_hurry(void **state) {
    (void)state;
    static const struct answer answers[] = {SPLIT, SPLIT, BUSY(29000, 1), SPLIT, AND_SO_ON};
    begin_quorum(answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 6000), RLOCK_AGAIN);
    assert_in_range(time_of(3) - time_of(2), 1, 40);
    assert_in_range(time_of(4) - time_of(3), 4500, 5000);
    assert_in_range(time_of(5) - time_of(4), 1, 20); /* from the beginning */
}

/* Of several that do not wait one must get what nobody has. */
static void who_does_not_wait_outlasts_a_split_vote(void **state) {
    (void)state;
    static const struct answer won[] = {SPLIT, SPLIT, GRANTED(0), AND_SO_ON};
    begin_quorum(won, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "ttt");

    static const struct answer lost[] = {SPLIT, SPLIT, BUSY(29000, 1), AND_SO_ON};
    begin_quorum(lost, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_BUSY);
    assert_string_equal(deeds(), "ttt");

    static const struct answer never[] = {SPLIT, AND_SO_ON};
    begin_quorum(never, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_BUSY);
    assert_in_range(world.now_ms, START_MS + 1500, START_MS + 1900);
    assert_int_equal(count_of('l') + count_of('L') + count_of('T'), 0);
}

/* --- a lock that moves --------------------------------------------------------------------------
 */

/* The master is another one now, the old one may live on: what it says is not of our lock. */
static void listens_where_the_lock_was_asked_for_last(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 1), BUSY(29000, 1), BUSY(29000, 1),
                                            GRANTED(0), AND_SO_ON};
    static const struct heard hearing[] = {{.at_ms = 37, .woken = true}, {0}};
    begin(1, answers, hearing);
    assert_int_equal(acquire(RLOCK_FOREVER, 30), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tLT");
    world.moved = true;
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTnLTTn");
    assert_int_equal(time_of(4), 30); /* and tries at once, for what was said there was not heard */
    assert_int_equal(time_of(5), 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listens_before_it_sleeps),
        cmocka_unit_test(sleeps_as_long_as_it_is_told),
        cmocka_unit_test(a_waiter_asked_for_heartbeats_does_not_sleep_on),
        cmocka_unit_test(the_first_is_there_when_the_hold_expires),
        cmocka_unit_test(the_others_leave_the_expiry_to_the_first),
        cmocka_unit_test(what_was_heard_of_has_been_there),
        cmocka_unit_test(wakes_at_its_own_message),
        cmocka_unit_test(listens_on_after_a_lost_answer),
        cmocka_unit_test(the_shared_message_is_for_the_first),
        cmocka_unit_test(who_becomes_first_listens_to_redisson_too),
        cmocka_unit_test(who_is_first_no_more_listens_on),
        cmocka_unit_test(until_keeps_the_place),
        cmocka_unit_test(after_a_split_vote_it_tries_soon_again),
        cmocka_unit_test(a_winner_ends_the_hurry),
        cmocka_unit_test(who_does_not_wait_outlasts_a_split_vote),
        cmocka_unit_test(listens_where_the_lock_was_asked_for_last),
        cmocka_unit_test(a_deaf_waiter_tries_now_and_then),
        cmocka_unit_test(a_lost_connection_is_listened_on_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
