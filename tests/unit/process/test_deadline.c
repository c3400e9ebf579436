/* test_deadline.c: when a command must end. */
#include "support/test.h"

#include "process/deadline.h"

TEST(each_deadline_before_the_next_and_all_before_the_lease_ends) {
    static const struct {
        int64_t lease_ms, kill_after_ms, stop_ms, kill_ms, overdue_ms;
    } cases[] = {
        {30000, 5000, 94900, 99900, 99950}, /* the margin is 100 ms at most */
        {2000, 600, 99360, 99960, 99980},   /* a fiftieth of the lease */
        {100, 33, 99962, 99995, 99998},     /* 5 ms at least */
        {100, 0, 99995, 99995, 99998},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct deadline_plan plan =
            deadline_plan(cases[i].lease_ms, cases[i].kill_after_ms, false, 0);
        const struct deadline at = deadline_of(&plan, 100000, 5000);
        assert_int_equal(at.stop_ms, cases[i].stop_ms);
        assert_int_equal(at.kill_ms, cases[i].kill_ms);
        assert_int_equal(at.overdue_ms, cases[i].overdue_ms);
        assert_int_equal(plan.grace_ms, 100000 - cases[i].stop_ms);
    }
}

static void assert_never(struct deadline at) {
    assert_int_equal(at.stop_ms, INT64_MAX);
    assert_int_equal(at.kill_ms, INT64_MAX);
    assert_int_equal(at.overdue_ms, INT64_MAX);
}

TEST(a_command_that_outlives_its_lease_or_a_lease_without_end_has_none) {
    const struct deadline_plan outlives = deadline_plan(30000, 5000, true, 0);
    const struct deadline_plan ends = deadline_plan(30000, 5000, false, 0);
    assert_never(deadline_of(&outlives, 100000, 5000));
    assert_never(deadline_of(&ends, INT64_MAX, 5000));
    assert_int_equal(outlives.grace_ms, 0);
}

TEST(a_time_limit_counts_from_the_start) {
    const struct deadline_plan plan = deadline_plan(30000, 5000, true, 60000);
    const struct deadline at = deadline_of(&plan, 100000, 100000);
    assert_int_equal(at.stop_ms, 160000);
    assert_int_equal(at.kill_ms, 165000);
    assert_true(at.overdue_ms > 165000);
    assert_never(deadline_of(&plan, 100000, INT64_MAX)); /* not started */
}

TEST(of_the_lease_and_the_time_limit_the_sooner_counts) {
    const struct deadline_plan plan = deadline_plan(30000, 5000, false, 60000);
    struct deadline at = deadline_of(&plan, 100000, 34000);
    assert_int_equal(at.stop_ms, 94000); /* the time limit's */
    assert_int_equal(at.kill_ms, 99000);
    assert_int_equal(at.overdue_ms, 99950); /* the lease's */
    at = deadline_of(&plan, 100000, 50000);
    assert_int_equal(at.stop_ms, 94900);
    assert_int_equal(at.kill_ms, 99900);
}
