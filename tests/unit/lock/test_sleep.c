/* test_sleep.c: when a waiter sleeps, what it listens to, and what wakes it. */
#include "support/world.h"

#include <string.h>

TEST(what_wakes_a_sleeper) {
    const struct wait rows[] = {
        /* Subscribed, confirmed, then a second try, which stands in line: no message is missed. */
        {"it listens before it sleeps", FOREVER, RLOCK_OK, "tLTn",
         .answers = ANSWERED(BUSY(29000, 1), GRANTED(0))},
        {"the first is there when the hold expires", FOREVER, RLOCK_OK, "tLT 801:Tn",
         .answers = ANSWERED(BUSY(900, 1), BUSY(800, 1), GRANTED(0))},
        {"the others leave the expiry to the first", FOREVER, RLOCK_AGAIN, "tlT",
         .answers = ANSWERED(BUSY(800, 2)), .until_ms = 4400},
        {"it wakes at its own message", FOREVER, RLOCK_OK, "tlT 37:Tn",
         .answers = ANSWERED(BUSY(29000, 3), BUSY(29000, 3), GRANTED(0)),
         .hearing = HEARS(WOKEN(37))},
        /* Redisson's release is everybody's message; only the first in line acts on it. */
        {"the shared message is for the first", FOREVER, RLOCK_OK, "tLT 37:Tn",
         .answers = ANSWERED(BUSY(29000, 1), BUSY(29000, 1), GRANTED(0)),
         .hearing = HEARS(RELEASED(37))},
        {"the shared message is not for the third", FOREVER, RLOCK_AGAIN, "tlT",
         .answers = ANSWERED(BUSY(29000, 3)), .hearing = HEARS(RELEASED(37)), .until_ms = 4400},
        /* "You are first now, the hold ends in 700 ms": no try, but the shared channel and the
         * expiry. */
        {"who becomes first listens to Redisson, too", FOREVER, RLOCK_OK, "tlT 50:L 751:Tn",
         .answers = ANSWERED(BUSY(29000, 2), BUSY(29000, 2), GRANTED(0)),
         .hearing = HEARS(FIRST(50, 700))},
        /* One with an earlier ticket has come back: better one too many who listens than none. */
        {"who is first no more listens on", FOREVER, RLOCK_AGAIN, "tLT",
         .answers = ANSWERED(BUSY(900, 1), BUSY(29000, 2)), .until_ms = 3000},
    };
    assert_waits(rows, COUNT(rows));
}

/* A try without an answer makes nobody deaf: the listener's connection is another one. */
TEST(listens_on_after_a_lost_answer) {
    begin(1, ANSWERED(BUSY(29000, 1), BUSY(29000, 1), NO_ANSWER(0), BUSY(20000, 1), GRANTED(0)),
          HEARS(WOKEN(37), WOKEN(300)));
    assert_int_equal(acquire(FOREVER, FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTTTTn");
    assert_int_equal(time_of(5), 300);
}

/* As the server says: a few at the front, and those behind them seldom. */
TEST(sleeps_as_long_as_it_is_told) {
    static const int64_t asked_ms[] = {0, 2500, 125000};
    for (size_t k = 0; k < COUNT(asked_ms); k++) {
        const int64_t most = asked_ms[k] != 0 ? asked_ms[k] : 5000;
        begin(1, ANSWERED(BUSY_FOR(asked_ms[k], 70)), NULL);
        assert_int_equal(acquire(FOREVER, 12 * most), RLOCK_AGAIN);
        assert_int_equal(strncmp(deeds(), "tlTTTTT", 7), 0);
        assert_in_range(count_of('T'), 12, 14);
        for (size_t i = 3; i < world.deed_count; i++)
            assert_in_range(time_of(i) - time_of(i - 1), most - most / 10, most);
    }
}

TEST(a_waiter_asked_for_heartbeats_does_not_sleep_on) {
    begin(1, ANSWERED(BUSY_FOR(125000, 20), BUSY_FOR(125000, 20), BUSY_FOR(2500, 16)),
          HEARS({.at_ms = 37, .heartbeat = true}));
    assert_int_equal(acquire(FOREVER, 4000), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tlTT");
    assert_in_range(time_of(3), 37 + 2250, 37 + 2500);
}

TEST(until_keeps_the_place) {
    begin(1, ANSWERED(BUSY(29000, 4)), NULL);
    for (int64_t until_ms = 100; until_ms <= 4400; until_ms += 100) {
        assert_int_equal(acquire(60000, until_ms), RLOCK_AGAIN);
        assert_int_equal(world.now_ms, START_MS + until_ms);
    }
    assert_string_equal(deeds(), "tlT"); /* looking at the clock costs the server nothing */
    rlock_withdraw(&world.lock);
    assert_int_equal(count_of('b'), 1);
    assert_null(world.listener.resources);
}

/* Subscribing fails although tries are answered: no storm, and no sleep without subscriptions. */
TEST(a_deaf_waiter_tries_now_and_then) {
    begin(1, ANSWERED(BUSY(29000, 1)), NULL);
    world.deaf = true;
    assert_int_equal(acquire(FOREVER, 60000), RLOCK_AGAIN);
    assert_in_range(count_of('t'), 60, 140);
}

TEST(a_lost_connection_is_listened_on_anew) {
    begin(1, ANSWERED(BUSY(29000, 2), BUSY(29000, 2), BUSY(29000, 2), GRANTED(0)),
          HEARS({.at_ms = 100, .dead = true}));
    assert_int_equal(acquire(FOREVER, FOREVER), RLOCK_OK);
    /* A try behind the new subscription finds what was said meanwhile. */
    const char *last = strrchr(deeds(), 'l');
    assert_non_null(last);
    assert_true(last > deeds() + 1);
    assert_non_null(strchr(last, 'T'));
    assert_true(world.now_ms < START_MS + 2000);
}

static void begin_quorum(const struct answer *answers, const struct heard *hearing) {
    begin(1, answers, hearing);
    world.client.count = world.client.routes.count = SERVERS_MAX;
}

/* Each has a minority: nobody's release will wake anybody, so all try again by themselves, and
 * further apart each time. */
TEST(after_a_split_vote_it_tries_soon_again) {
    static const int64_t most_ms[] = {20, 40, 80, 160, 320, 320, 320, 320};
    int64_t longest_ms = 0;
    begin_quorum(ANSWERED(SPLIT), NULL);
    assert_int_equal(acquire(FOREVER, 2000), RLOCK_AGAIN);
    assert_int_equal(strncmp(deeds(), "tLTTT", 5), 0);
    for (size_t i = 3; i < world.deed_count; i++) {
        const int64_t slept_ms = time_of(i) - time_of(i - 1);
        const size_t round = i - 2 < COUNT(most_ms) ? i - 2 : COUNT(most_ms) - 1;
        assert_in_range(slept_ms, 1, most_ms[round]);
        longest_ms = slept_ms > longest_ms ? slept_ms : longest_ms;
    }
    assert_true(longest_ms > 20);
}

TEST(a_winner_ends_the_hurry) {
    begin_quorum(ANSWERED(SPLIT, SPLIT, BUSY(29000, 1), SPLIT), NULL);
    assert_int_equal(acquire(FOREVER, 6000), RLOCK_AGAIN);
    assert_in_range(time_of(3) - time_of(2), 1, 40);
    assert_in_range(time_of(4) - time_of(3), 4500, 5000);
    assert_in_range(time_of(5) - time_of(4), 1, 20); /* from the beginning */
}

/* Of several that do not wait one must get what nobody has. */
TEST(who_does_not_wait_outlasts_a_split_vote) {
    begin_quorum(ANSWERED(SPLIT, SPLIT, GRANTED(0)), NULL);
    assert_int_equal(acquire(0, FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "ttt");

    begin_quorum(ANSWERED(SPLIT, SPLIT, BUSY(29000, 1)), NULL);
    assert_int_equal(acquire(0, FOREVER), RLOCK_BUSY);
    assert_string_equal(deeds(), "ttt");

    /* A majority that did not answer in between has decided nothing. */
    begin_quorum(ANSWERED(SPLIT, NO_ANSWER(50), GRANTED(0)), NULL);
    assert_int_equal(acquire(0, FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "ttt");

    begin_quorum(ANSWERED(SPLIT), NULL);
    assert_int_equal(acquire(0, FOREVER), RLOCK_BUSY);
    assert_in_range(world.now_ms, START_MS + 1500, START_MS + 1900);
    assert_int_equal(count_of('l') + count_of('L') + count_of('T'), 0);
}

/* The master is another one now, the old one may live on: what it says is not of our lock. */
TEST(listens_where_the_lock_was_asked_for_last) {
    begin(1, ANSWERED(BUSY(29000, 1), BUSY(29000, 1), BUSY(29000, 1), GRANTED(0)),
          HEARS(WOKEN(37)));
    assert_int_equal(acquire(FOREVER, 30), RLOCK_AGAIN);
    assert_string_equal(deeds(), "tLT");
    world.moved = true;
    assert_int_equal(acquire(FOREVER, FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tLTnLTTn");
    assert_int_equal(time_of(4), 30); /* and tries at once, for what was said there was not heard */
    assert_int_equal(time_of(5), 30);
}
