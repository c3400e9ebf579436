/* test_clock.c: deadlines, on a clock that the test turns. */
#include "support/test.h"

#include <limits.h>
#include <time.h>

#include "lock/lock.h"
#include "os/clock.h"

static int64_t now_ms;
static clockid_t clock_read;
static int waits[8]; /* what poll(2) was asked for */
static size_t wait_count;
static int64_t poll_sleeps_ms; /* what it sleeps; 0: as long as asked */

int __wrap_clock_gettime(clockid_t id, struct timespec *out) {
    clock_read = id;
    *out = (struct timespec){now_ms / 1000, now_ms % 1000 * 1000000 + 999999};
    return 0;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
    (void)fds;
    (void)count;
    assert_true(wait_count < COUNT(waits));
    waits[wait_count++] = timeout_ms;
    if (timeout_ms < 0)
        return 1; /* what is waited for for ever comes */
    now_ms += poll_sleeps_ms != 0 ? poll_sleeps_ms : timeout_ms;
    return 0;
}

/* What poll(2) is called in hardened objects. */
int __wrap___poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t size) {
    assert_true(count * sizeof *fds <= size);
    return __wrap_poll(fds, count, timeout_ms);
}

void before_each(void) {
    now_ms = 1000000;
    wait_count = 0;
    poll_sleeps_ms = 0;
}

TEST(the_clock_counts_suspend) {
    now_ms = 12345;
    assert_int_equal(rlock_now_ms(), 12345);
    assert_int_equal(clock_read, CLOCK_BOOTTIME);
}

TEST(forever_does_not_overflow_and_a_request_leaves_time_for_another) {
    static const struct {
        int64_t (*moment)(int64_t now_ms, int64_t ms);
        int64_t now, ms, at;
    } rows[] = {
        {rlock__after_ms, 0, 0, 0},
        {rlock__after_ms, 1000, 5, 1005},
        {rlock__after_ms, 1000, RLOCK_FOREVER, RLOCK_FOREVER},
        {rlock__after_ms, 0, RLOCK_FOREVER, RLOCK_FOREVER},
        {rlock__after_ms, 1000, RLOCK_FOREVER - 1, RLOCK_FOREVER},
        {rlock__after_ms, 1000, RLOCK_FOREVER - 1001, RLOCK_FOREVER - 1},
        {rlock__after_ms, RLOCK_FOREVER, 1, RLOCK_FOREVER},
        {rlock__half_way_ms, 1000, 2000, 1500}, /* to a deadline */
        {rlock__half_way_ms, 1000, 1021, 1010},
        {rlock__half_way_ms, 1000, 1020, 1020}, /* too little to be halved */
        {rlock__half_way_ms, 1000, 1000, 1000},
        {rlock__half_way_ms, 1000, 900, 900},
        {rlock__half_way_ms, 1000, 1001 + 2 * RLOCK_LEASE_MAX_MS, 1000 + RLOCK_LEASE_MAX_MS},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(rows[i].moment(rows[i].now, rows[i].ms), rows[i].at);
}

/* poll(2) may be early, and takes no more than 24 days at once. Whoever waits for others too has
 * moments of their own at which something is to be done. */
TEST(a_wait_lasts_until_its_deadline_or_such_a_moment) {
    static const struct {
        int64_t poll_sleeps_ms, left_ms, moment_ms;
        int waits[4];
        size_t count;
        enum rlock_status status;
    } rows[] = {
        {100, 250, 0, {250, 150, 50}, 3, RLOCK_AGAIN},
        {0, INT64_C(10) + INT_MAX, 0, {INT_MAX, 10}, 2, RLOCK_AGAIN},
        {0, -1, 0, {0}, 1, RLOCK_AGAIN}, /* over: looks once, waits not at all */
        {0, RLOCK_FOREVER, 0, {-1}, 1, RLOCK_OK},
        {0, 250, 100, {100}, 1, RLOCK_OK},
        {0, 250, 1000, {250}, 1, RLOCK_AGAIN},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        before_each();
        const struct rlock__limit limit = {rlock__after_ms(now_ms, rows[i].left_ms), -1};
        const int64_t moment_ms =
            rows[i].moment_ms != 0 ? now_ms + rows[i].moment_ms : RLOCK_FOREVER;
        struct pollfd fds[2] = {{.fd = -1}};
        poll_sleeps_ms = rows[i].poll_sleeps_ms;
        assert_int_equal(rlock__poll_any(fds, 1, moment_ms, &limit), rows[i].status);
        assert_int_equal(wait_count, rows[i].count);
        assert_memory_equal(waits, rows[i].waits, wait_count * sizeof waits[0]);
    }
}

/* Of several names the earliest end counts. What has no lease is not renewed. */
TEST(a_third_of_the_lease_on_it_is_renewed) {
    static const struct {
        const char *kind;
        int64_t lease_ms, first_ms, second_ms; /* when its two names were granted */
        int64_t end_ms, due_ms;
    } rows[] = {
        {"run", RLOCK_LEASE_MIN_MS, 7000, 7000, 7097, 7033},
        {"run", 30000, 7000, 7000, 36698, 17000},
        {"run", 30000, 7001, 7000, 36698, 17000},
        {"run", RLOCK_LEASE_MAX_MS, 7000, 7001, 7000 + RLOCK_LEASE_MAX_MS - 6048002,
         7000 + RLOCK_LEASE_MAX_MS / 3},
        {"latch", 30000, 7000, 7000, RLOCK_FOREVER, RLOCK_FOREVER},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rlock_lock lock = {.kind = rlock__kind_find(rows[i].kind),
                                  .lease_ms = rows[i].lease_ms,
                                  .resource_count = 2};
        struct rlock__instance instances[] = {{.granted_ms = rows[i].first_ms},
                                              {.granted_ms = rows[i].second_ms}};
        struct rlock__resource resources[] = {
            {.lock = &lock, .held = true, .instance_count = 1, .instances = &instances[0]},
            {.lock = &lock, .held = true, .instance_count = 1, .instances = &instances[1]}};
        lock.resources = resources;
        rlock__lock_update_lease(&lock);
        if (rlock_lease_end_ms(&lock) != rows[i].end_ms ||
            rlock_renewal_due_ms(&lock) != rows[i].due_ms)
            fail_msg("row %zu", i);
    }
}
