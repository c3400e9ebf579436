/* test_acquire.c: when a lock is tried for, given up and left. */
#include "support/world.h"

#include <string.h>

static void a_free_lock_is_taken_at_once(void **state) {
    (void)state;
    static const struct answer answers[] = {GRANTED(3), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "t");
    /* Counted from before the request went out. */
    assert_int_equal(rlock_lease_end_ms(&world.lock), START_MS + 30000 - 302);
}

static void who_does_not_wait_tries_once(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_BUSY);
    assert_string_equal(deeds(), "t");
}

/* A lost answer may have been a grant; where nothing went out there is nothing to find out. */
static void who_does_not_wait_asks_for_a_lost_answer(void **state) {
    (void)state;
    static const struct answer found[] = {NO_ANSWER(50), GRANTED(0), AND_SO_ON};
    begin(1, found, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tt");

    static const struct answer lost[] = {NO_ANSWER(50), AND_SO_ON};
    begin(1, lost, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_UNAVAILABLE);
    assert_string_equal(deeds(), "ttb");

    static const struct answer not_sent[] = {NOT_SENT, AND_SO_ON};
    begin(1, not_sent, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_UNAVAILABLE);
    assert_string_equal(deeds(), "t");
}

static void who_queues_stands_from_the_first_try(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 2), GRANTED(0), AND_SO_ON};
    begin(1, answers, NULL);
    world.lock.kind = rlock__kind_find("fair");
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "TlTn");
}

static void who_does_not_wait_does_not_queue(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 2), AND_SO_ON};
    begin(1, answers, NULL);
    world.lock.kind = rlock__kind_find("fair");
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_BUSY);
    assert_string_equal(deeds(), "t");
}

/* One queue at a time: the second name's turn would be swallowed by who waits for the first. */
static void of_two_queues_one_is_left(void **state) {
    (void)state;
    static const struct answer answers[] = {GRANTED(0), BUSY(-1, 1), BUSY(29000, 1), BUSY(29000, 1),
                                            AND_SO_ON};
    begin(2, answers, NULL);
    world.lock.kind = rlock__kind_find("fair");
    assert_int_equal(acquire(RLOCK_FOREVER, 1000), RLOCK_AGAIN);
    /* took 0, queued for 1; gave 0 back; 0 is busy: queued there, and left 1's */
    assert_int_equal(strncmp(deeds(), "TTbLT", 5), 0);
    assert_int_equal(world.deeds[5].what, 'n');
    assert_int_equal(world.deeds[6].what, 'b');
    assert_int_equal(world.deeds[6].resource, 1);
    assert_int_equal(world.instances[0].state, RLOCK__IN_LINE);
    assert_int_equal(world.instances[1].state, RLOCK__NOTHING);
}

static void what_could_never_succeed_ends_the_wait(void **state) {
    (void)state;
    static const enum rlock_status ends[] = {RLOCK_REFUSED, RLOCK_OUSTED, RLOCK_WRONG_KIND};
    for (size_t i = 0; i < COUNT(ends); i++) {
        const struct answer answers[] = {BUSY(-1, 1), BUSY(-1, 1), {.status = ends[i]}, AND_SO_ON};
        begin(1, answers, NULL);
        assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), ends[i]);
        assert_string_equal(deeds(), "tLTTnb");
    }
}

static void gives_up_at_its_deadline_and_leaves_the_line(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(29000, 4), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(7321, RLOCK_FOREVER), RLOCK_BUSY);
    assert_int_equal(world.now_ms, START_MS + 7321);
    assert_string_equal(deeds(), "tlTTnb");
    assert_false(rlock_in_doubt(&world.lock));
}

/* 75 is for "held by others"; when the last word was none it is 69. */
static void the_last_answer_decides(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), BUSY(900, 1), NO_ANSWER(50), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(8000, RLOCK_FOREVER), RLOCK_UNAVAILABLE);
    assert_true(world.now_ms >= START_MS + 8000);
    assert_int_equal(deeds()[world.deed_count - 1], 'b');
}

/* A granted answer that comes when the lease is over: it is given back, not used. */
static void a_late_grant_is_none(void **state) {
    (void)state;
    static const struct answer answers[] = {GRANTED(2980), GRANTED(1), AND_SO_ON};
    begin(1, answers, NULL);
    world.lock.lease_ms = 3000;
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    assert_string_equal(deeds(), "tbt");
    assert_in_range(time_of(2), 2980 + 10, 2980 + 20);
    assert_int_equal(rlock_lease_end_ms(&world.lock), START_MS + time_of(2) + 3000 - 32);
}

static void a_server_that_never_answers_is_given_up(void **state) {
    (void)state;
    static const struct answer refused[] = {NO_ANSWER(0), AND_SO_ON};
    begin(1, refused, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_UNAVAILABLE);
    assert_in_range(world.now_ms, START_MS + 5000, START_MS + 6000);
    assert_in_range(count_of('t'), 8, 20); /* from 20 ms, doubling, up to a second */
    /* The last try comes when the time is over. */
    for (size_t i = 2; i < count_of('t') - 1; i++)
        assert_in_range(time_of(i) - time_of(i - 1), 10, 1000);

    /* A silent one eats a whole time-out a try: two tries, not one. */
    static const struct answer silent[] = {NO_ANSWER(5000), AND_SO_ON};
    begin(1, silent, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_UNAVAILABLE);
    assert_int_equal(count_of('t'), 2);
}

static void one_that_went_away_is_waited_for(void **state) {
    (void)state;
    static const struct answer answers[] = {BUSY(900, 1), BUSY(900, 1), NO_ANSWER(0), AND_SO_ON};
    begin(1, answers, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, 600000), RLOCK_AGAIN);
    assert_in_range(count_of('T') + count_of('t'), 600, 1300);
}

static void several_names_are_all_or_none(void **state) {
    (void)state;
    static const struct answer answers[] = {GRANTED(0), GRANTED(0), BUSY(900, 1), AND_SO_ON};
    begin(3, answers, NULL);
    assert_int_equal(acquire(0, RLOCK_FOREVER), RLOCK_BUSY);
    assert_string_equal(deeds(), "tttbb");
    /* The last one taken goes back first. */
    assert_int_equal(world.deeds[3].resource, 1);
    assert_int_equal(world.deeds[4].resource, 0);

    static const struct answer later[] = {GRANTED(0), BUSY(900, 1), GRANTED(0), GRANTED(0),
                                          AND_SO_ON};
    begin(2, later, NULL);
    assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), RLOCK_OK);
    /* It waits for the busy one only, holding nothing, and begins anew with the first. */
    assert_string_equal(deeds(), "ttbLtTn");
    assert_int_equal(world.deeds[3].resource, 1);
    assert_int_equal(world.deeds[4].resource, 0);
}

static void final_answers_end_the_wait(void **state) {
    (void)state;
    static const enum rlock_status final[] = {RLOCK_WRONG_KIND, RLOCK_DENIED, RLOCK_UNAVAILABLE,
                                              RLOCK_SYSTEM, RLOCK_CANCELLED};
    for (size_t i = 0; i < COUNT(final); i++) {
        const struct answer answers[] = {{.status = final[i]}, AND_SO_ON};
        begin(1, answers, NULL);
        assert_int_equal(acquire(RLOCK_FOREVER, RLOCK_FOREVER), final[i]);
        assert_int_equal(count_of('t'), 1);
        assert_int_equal(world.now_ms, START_MS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_lock_is_taken_at_once),
        cmocka_unit_test(who_does_not_wait_tries_once),
        cmocka_unit_test(who_does_not_wait_asks_for_a_lost_answer),
        cmocka_unit_test(who_queues_stands_from_the_first_try),
        cmocka_unit_test(who_does_not_wait_does_not_queue),
        cmocka_unit_test(of_two_queues_one_is_left),
        cmocka_unit_test(what_could_never_succeed_ends_the_wait),
        cmocka_unit_test(gives_up_at_its_deadline_and_leaves_the_line),
        cmocka_unit_test(the_last_answer_decides),
        cmocka_unit_test(a_late_grant_is_none),
        cmocka_unit_test(a_server_that_never_answers_is_given_up),
        cmocka_unit_test(one_that_went_away_is_waited_for),
        cmocka_unit_test(several_names_are_all_or_none),
        cmocka_unit_test(final_answers_end_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
