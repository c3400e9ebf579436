/* test_deadline.c: when a command has to end. */
#include "support/test.h"

#include "process/deadline.h"

static void each_deadline_before_the_next_and_all_before_the_lease_ends(void **state) {
    static const struct {
        int64_t lease_ms, kill_after_ms, stop_at_ms, kill_at_ms, overdue_at_ms;
    } cases[] = {
        {30000, 5000, 94900, 99900, 99950}, /* the margin is 100 ms at the most */
        {2000, 600, 99360, 99960, 99980},   /* a fiftieth of the lease */
        {100, 33, 99962, 99995, 99998},     /* 5 ms at the least */
        {100, 0, 99995, 99995, 99998},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct deadline deadline =
            deadline_of(cases[i].lease_ms, cases[i].kill_after_ms, false);
        assert_int_equal(deadline_stop_at(&deadline, 100000), cases[i].stop_at_ms);
        assert_int_equal(deadline_kill_at(&deadline, 100000), cases[i].kill_at_ms);
        assert_int_equal(deadline_overdue_at(&deadline, 100000), cases[i].overdue_at_ms);
        assert_int_equal(deadline_grace_ms(&deadline), 100000 - cases[i].stop_at_ms);
    }
}

static void assert_never(const struct deadline *deadline, int64_t lease_end_ms) {
    assert_int_equal(deadline_stop_at(deadline, lease_end_ms), INT64_MAX);
    assert_int_equal(deadline_kill_at(deadline, lease_end_ms), INT64_MAX);
    assert_int_equal(deadline_overdue_at(deadline, lease_end_ms), INT64_MAX);
}

static void a_command_that_runs_on_or_a_lease_without_end_has_none(void **state) {
    const struct deadline runs_on = deadline_of(30000, 5000, true);
    const struct deadline stopped = deadline_of(30000, 5000, false);
    (void)state;
    assert_never(&runs_on, 100000);
    assert_never(&stopped, INT64_MAX);
    assert_int_equal(deadline_grace_ms(&runs_on), 0);
}

static void a_limit_counts_from_the_start_whatever_the_lease(void **state) {
    struct deadline limited = deadline_of(30000, 5000, true);
    (void)state;
    assert_int_equal(deadline_time_up_at(&limited, 100000), INT64_MAX);
    assert_int_equal(deadline_time_kill_at(&limited, 100000), INT64_MAX);
    assert_int_equal(deadline_time_overdue_at(&limited, 100000), INT64_MAX);
    limited.time_limit_ms = 60000;
    assert_int_equal(deadline_time_up_at(&limited, 100000), 160000);
    assert_int_equal(deadline_time_kill_at(&limited, 100000), 165000);
    assert_true(deadline_time_overdue_at(&limited, 100000) > 165000);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_deadline_before_the_next_and_all_before_the_lease_ends),
        cmocka_unit_test(a_command_that_runs_on_or_a_lease_without_end_has_none),
        cmocka_unit_test(a_limit_counts_from_the_start_whatever_the_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
