/* test_clock.c: deadlines, on a clock that the test turns. */
#include "support/test.h"

#include <limits.h>
#include <poll.h>
#include <time.h>

#include "lock/lock.h"
#include "os/clock.h"
#include "os/poll.h"

static int64_t now_ms;
static clockid_t clock_read;
static int waits[8]; /* what poll(2) was asked for */
static size_t wait_count;
static int64_t poll_sleeps_ms; /* what it sleeps; 0: as long as asked */

int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out) {
    clock_read = id;
    *out = (struct timespec){now_ms / 1000, now_ms % 1000 * 1000000 + 999999};
    return 0;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
    (void)fds;
    (void)count;
    assert_true(wait_count < COUNT(waits));
    waits[wait_count++] = timeout_ms;
    now_ms += poll_sleeps_ms != 0 ? poll_sleeps_ms : timeout_ms;
    return 0;
}

/* What poll(2) is called in hardened objects. */
int __wrap___poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t size);
int __wrap___poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t size) {
    assert_true(count * sizeof *fds <= size);
    return __wrap_poll(fds, count, timeout_ms);
}

static int reset(void **state) {
    (void)state;
    now_ms = 1000000;
    wait_count = 0;
    poll_sleeps_ms = 0;
    return 0;
}

static void the_clock_counts_suspend(void **state) {
    (void)state;
    now_ms = 12345;
    assert_int_equal(rlock_now_ms(), 12345);
    assert_int_equal(clock_read, CLOCK_BOOTTIME);
}

static void drift_is_a_hundredth_and_two(void **state) {
    (void)state;
    assert_int_equal(rlock_drift_ms(RLOCK_LEASE_MIN_MS), 3);
    assert_int_equal(rlock_drift_ms(30000), 302);
    assert_int_equal(rlock_drift_ms(RLOCK_LEASE_MAX_MS), 6048002);
}

static void a_lease_counts_from_its_request(void **state) {
    (void)state;
    assert_int_equal(rlock__lease_end_ms(5000, 30000), 5000 + 30000 - 302);
    assert_int_equal(rlock__lease_end_ms(0, 100), 97);
}

static void forever_does_not_overflow(void **state) {
    (void)state;
    static const struct {
        int64_t now, ms, after;
    } rows[] = {
        {0, 0, 0},
        {1000, 5, 1005},
        {1000, RLOCK_FOREVER, RLOCK_FOREVER},
        {0, RLOCK_FOREVER, RLOCK_FOREVER},
        {1000, RLOCK_FOREVER - 1, RLOCK_FOREVER},
        {1000, RLOCK_FOREVER - 1001, RLOCK_FOREVER - 1},
        {RLOCK_FOREVER, 1, RLOCK_FOREVER},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(rlock__after_ms(rows[i].now, rows[i].ms) == rows[i].after);
}

static void a_request_leaves_time_for_another(void **state) {
    (void)state;
    static const struct {
        int64_t now, deadline, half_way;
    } rows[] = {
        {1000, 2000, 1500},
        {1000, 1021, 1010},
        {1000, 1020, 1020}, /* too little to be halved */
        {1000, 1000, 1000},
        {1000, 900, 900},
        {1000, 1001 + 2 * RLOCK_LEASE_MAX_MS, 1000 + RLOCK_LEASE_MAX_MS},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(rlock__half_way_ms(rows[i].now, rows[i].deadline), rows[i].half_way);
}

static void poll_is_asked_for_what_is_left(void **state) {
    (void)state;
    static const struct {
        int64_t now, deadline;
        int timeout;
    } rows[] = {
        {1000, 1250, 250},
        {1000, 1001, 1},
        {1000, 1000, 0},
        {1000, 999, 0},
        {1000, 0, 0},
        {1000, RLOCK_FOREVER, -1},
        {1000, RLOCK_FOREVER - 1, INT_MAX},
        {0, INT_MAX, INT_MAX},
        {0, INT64_C(1) + INT_MAX, INT_MAX},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(rlock__poll_timeout(rows[i].now, rows[i].deadline), rows[i].timeout);
}

/* poll(2) may be early, and takes no more than 24 days at once. */
static void a_wait_lasts_until_its_deadline(void **state) {
    (void)state;
    struct rlock__limit limit = {now_ms + 250, -1, NULL};
    poll_sleeps_ms = 100;
    assert_int_equal(rlock__poll(-1, 0, &limit), RLOCK_AGAIN);
    assert_int_equal(wait_count, 3);
    assert_int_equal(waits[0], 250);
    assert_int_equal(waits[1], 150);
    assert_int_equal(waits[2], 50);

    reset(NULL);
    limit.deadline_ms = now_ms + 10 + INT_MAX;
    assert_int_equal(rlock__poll(-1, 0, &limit), RLOCK_AGAIN);
    assert_int_equal(wait_count, 2);
    assert_int_equal(waits[0], INT_MAX);
    assert_int_equal(waits[1], 10);

    reset(NULL);
    limit.deadline_ms = now_ms - 1; /* over: looks once, waits not at all */
    assert_int_equal(rlock__poll(-1, 0, &limit), RLOCK_AGAIN);
    assert_int_equal(wait_count, 1);
    assert_int_equal(waits[0], 0);
}

static void count_waits(void *context, bool for_turn) {
    assert_false(for_turn);
    assert_int_equal(wait_count, 0); /* before, not afterwards */
    (*(int *)context)++;
}

static void who_wants_to_know_hears_of_each_wait_before_it_begins(void **state) {
    (void)state;
    int heard = 0;
    const struct rlock_wait wait = {.on_wait = count_waits, .context = &heard};
    const struct rlock__limit limit = {now_ms + 250, -1, &wait};
    assert_int_equal(rlock__poll(-1, 0, &limit), RLOCK_AGAIN);
    assert_int_equal(heard, 1);
    rlock__on_wait(NULL, true);
    rlock__on_wait(&(struct rlock_wait){.on_wait = NULL}, true);
}

/* Whoever waits for others too has moments of their own at which something is to be done. */
static void a_wait_may_end_before_its_deadline(void **state) {
    (void)state;
    const struct rlock__limit limit = {now_ms + 250, -1, NULL};
    struct pollfd fds[2] = {{.fd = -1}};
    assert_int_equal(rlock__poll_any(fds, 1, now_ms + 100, &limit), RLOCK_OK);
    assert_int_equal(wait_count, 1);
    assert_int_equal(waits[0], 100);
    assert_int_equal(rlock__poll_any(fds, 1, now_ms + 1000, &limit), RLOCK_AGAIN);
    assert_int_equal(waits[1], 150);
}

static void a_third_of_the_lease_on_it_is_renewed(void **state) {
    (void)state;
    static const int64_t leases[] = {RLOCK_LEASE_MIN_MS, 1000, 30000, RLOCK_LEASE_MAX_MS};
    for (size_t i = 0; i < COUNT(leases); i++) {
        struct rlock__resource resource = {.granted_ms = 7000};
        struct rlock_lock lock = {.kind = rlock__kind_find("run"),
                                  .lease_ms = leases[i],
                                  .resources = &resource,
                                  .resource_count = 1};
        rlock__lock_update_lease(&lock);
        assert_int_equal(rlock_renewal_due_ms(&lock), 7000 + leases[i] / 3);
    }
}

static void what_has_no_lease_is_not_renewed(void **state) {
    (void)state;
    struct rlock__resource resource = {.granted_ms = 7000};
    struct rlock_lock lock = {.kind = rlock__kind_find("latch"),
                              .lease_ms = 30000,
                              .resources = &resource,
                              .resource_count = 1};
    rlock__lock_update_lease(&lock);
    assert_true(rlock_lease_end_ms(&lock) == RLOCK_FOREVER);
    assert_true(rlock_renewal_due_ms(&lock) == RLOCK_FOREVER);
}

static void of_several_names_the_earliest_end_counts(void **state) {
    (void)state;
    struct rlock__resource resources[] = {
        {.granted_ms = 900}, {.granted_ms = 800}, {.granted_ms = 950}};
    struct rlock_lock lock = {.kind = rlock__kind_find("run"),
                              .lease_ms = 1000,
                              .resources = resources,
                              .resource_count = COUNT(resources)};
    rlock__lock_update_lease(&lock);
    assert_int_equal(rlock_lease_end_ms(&lock), rlock__lease_end_ms(800, 1000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_counts_suspend),
        cmocka_unit_test(drift_is_a_hundredth_and_two),
        cmocka_unit_test(a_lease_counts_from_its_request),
        cmocka_unit_test(forever_does_not_overflow),
        cmocka_unit_test(a_request_leaves_time_for_another),
        cmocka_unit_test(poll_is_asked_for_what_is_left),
        cmocka_unit_test_setup(a_wait_lasts_until_its_deadline, reset),
        cmocka_unit_test_setup(who_wants_to_know_hears_of_each_wait_before_it_begins, reset),
        cmocka_unit_test_setup(who_wants_to_know_hears_of_each_wait_before_it_begins, reset),
        cmocka_unit_test_setup(a_wait_may_end_before_its_deadline, reset),
        cmocka_unit_test(a_third_of_the_lease_on_it_is_renewed),
        cmocka_unit_test(what_has_no_lease_is_not_renewed),
        cmocka_unit_test(of_several_names_the_earliest_end_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
