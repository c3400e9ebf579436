/* test_acquire.c: when a lock is tried for, given up and left. */
#include "support/world.h"

TEST(who_waits_tries_and_leaves) {
    const struct wait rows[] = {
        {"a free lock is taken at once", FOREVER, RLOCK_OK, "t", .answers = ANSWERED(GRANTED(3))},
        {"who does not wait tries once", 0, RLOCK_BUSY, "t", .answers = ANSWERED(BUSY(900, 1))},
        /* It may have been a grant; where nothing went out there is nothing to find out. */
        {"a lost answer is asked for", 0, RLOCK_OK, "tt",
         .answers = ANSWERED(NO_ANSWER(50), GRANTED(0))},
        {"a lost answer twice", 0, RLOCK_UNAVAILABLE, "ttb", .answers = ANSWERED(NO_ANSWER(50))},
        {"nothing went out", 0, RLOCK_UNAVAILABLE, "t", .answers = ANSWERED(NOT_SENT)},
        {"who queues stands from the first try", FOREVER, RLOCK_OK, "TlTn",
         .answers = ANSWERED(BUSY(29000, 2), GRANTED(0)), .kind = "fair"},
        {"who does not wait does not queue", 0, RLOCK_BUSY, "t",
         .answers = ANSWERED(BUSY(29000, 2)), .kind = "fair"},
        {"several names are all or none", 0, RLOCK_BUSY, "t0t1t2b1b0",
         .answers = ANSWERED(GRANTED(0), GRANTED(0), BUSY(900, 1)), .names = 3},
        /* It waits for the busy one only, holding nothing, and begins anew with the first. */
        {"several names are waited for one by one", FOREVER, RLOCK_OK, "t0t1b0L1t0T1n1",
         .answers = ANSWERED(GRANTED(0), BUSY(900, 1), GRANTED(0), GRANTED(0)), .names = 2},
    };
    assert_waits(rows, COUNT(rows));
}

/* One queue at a time: the second name's turn would be swallowed by who waits for the first. */
TEST(of_two_queues_one_is_left) {
    begin(2, ANSWERED(GRANTED(0), BUSY(-1, 1), BUSY(29000, 1), BUSY(29000, 1)), NULL);
    world.lock.kind = rlock__kind_find("fair");
    assert_int_equal(acquire(FOREVER, 1000), RLOCK_AGAIN);
    /* took 0, queued for 1; gave 0 back; 0 is busy: queued there, and left 1's */
    assert_memory_equal(deeds(), "T0T1b0L1T0n1b1", 14);
    assert_int_equal(world.instances[0].state, RLOCK__IN_LINE);
    assert_int_equal(world.instances[1].state, RLOCK__NOTHING);
}

TEST(gives_up_at_its_deadline_and_leaves_the_line) {
    begin(1, ANSWERED(BUSY(29000, 4)), NULL);
    assert_int_equal(acquire(7321, FOREVER), RLOCK_BUSY);
    assert_int_equal(world.now_ms, START_MS + 7321);
    assert_string_equal(deeds(), "tlTTnb");
    assert_false(rlock_in_doubt(&world.lock));
}

TEST(final_answers_end_the_wait) {
    static const enum rlock_status ends[] = {RLOCK_REFUSED,  RLOCK_OUSTED,      RLOCK_WRONG_KIND,
                                             RLOCK_DENIED,   RLOCK_UNAVAILABLE, RLOCK_SYSTEM,
                                             RLOCK_CANCELLED};
    for (size_t i = 0; i < COUNT(ends); i++) {
        const struct answer answer = {.status = ends[i]};
        begin(1, ANSWERED(answer), NULL);
        assert_int_equal(acquire(FOREVER, FOREVER), ends[i]);
        assert_int_equal(count_of('t'), 1);
        assert_int_equal(world.now_ms, START_MS);
        begin(1, ANSWERED(BUSY(-1, 1), BUSY(-1, 1), answer), NULL);
        assert_int_equal(acquire(FOREVER, FOREVER), ends[i]);
        assert_string_equal(deeds(), "tLTTnb");
    }
}

/* 75 is for "held by others"; when the last word was none it is 69. */
TEST(the_last_answer_decides) {
    begin(1, ANSWERED(BUSY(900, 1), BUSY(900, 1), NO_ANSWER(50)), NULL);
    assert_int_equal(acquire(8000, FOREVER), RLOCK_UNAVAILABLE);
    assert_true(world.now_ms >= START_MS + 8000);
    assert_int_equal(deeds()[world.deed_count - 1], 'b');
}

/* A granted answer that comes when half of the lease is over: it is given back, not used. */
TEST(a_late_grant_is_none) {
    begin(1, ANSWERED(GRANTED(1470), GRANTED(1)), NULL);
    world.lock.lease_ms = 3000;
    assert_int_equal(acquire(FOREVER, FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tbt");
    assert_in_range(time_of(2), 1470 + 10, 1470 + 20);
    assert_int_equal(rlock_lease_end_ms(&world.lock), START_MS + time_of(2) + 3000 - 32);
}

/* No holder is known of: it is no "held by others". */
TEST(a_late_grant_at_the_end_is_no_busy) {
    const struct answer busy = {.status = RLOCK_BUSY, .hint_ms = 900, .place = 1, .takes_ms = 50};
    begin(1, ANSWERED(busy, busy, GRANTED(60)), NULL);
    world.lock.lease_ms = 100;
    assert_int_equal(acquire(1050, FOREVER), RLOCK_UNAVAILABLE);
    assert_string_equal(deeds(), "tLTTnb");
    assert_null(rlock_blocker(&world.lock));
    assert_string_equal(rlock_error(&world.client), "the answer took more than half of the lease");
}

TEST(a_server_that_never_answers_is_given_up) {
    begin(1, ANSWERED(NO_ANSWER(0)), NULL);
    assert_int_equal(acquire(FOREVER, FOREVER), RLOCK_UNAVAILABLE);
    assert_in_range(world.now_ms, START_MS + 5000, START_MS + 6000);
    assert_in_range(count_of('t'), 8, 20); /* from 20 ms, doubling, up to a second */
    /* The last try comes when the time is over. */
    for (size_t i = 2; i < count_of('t') - 1; i++)
        assert_in_range(time_of(i) - time_of(i - 1), 10, 1000);

    /* A silent one eats a whole time-out a try: two tries, not one. */
    begin(1, ANSWERED(NO_ANSWER(5000)), NULL);
    assert_int_equal(acquire(FOREVER, FOREVER), RLOCK_UNAVAILABLE);
    assert_int_equal(count_of('t'), 2);
}

TEST(one_that_went_away_is_waited_for) {
    begin(1, ANSWERED(BUSY(900, 1), BUSY(900, 1), NO_ANSWER(0)), NULL);
    assert_int_equal(acquire(FOREVER, 600000), RLOCK_AGAIN);
    assert_in_range(count_of('T') + count_of('t'), 600, 1300);
}
