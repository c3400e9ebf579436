/* test_deadline.c: when a command must end. */
#include "support/test.h"

#include "process/deadline.h"

#define NEVER INT64_MAX

enum { LEASE_END_MS = 100000 };

/* Each deadline before the next, and all before the lease ends. */
TEST(of_the_lease_and_the_time_limit_the_sooner_counts) {
    static const struct {
        int64_t lease_ms, kill_after_ms;
        bool outlives_lease;
        int64_t limit_ms, lease_end_ms, started_ms;
        struct deadline at;
    } rows[] = {
        /* The margin is 100 ms at most, a fiftieth of the lease, and 5 ms at least. */
        {30000, 5000, false, 0, LEASE_END_MS, 5000, {94900, 99900, 99950}},
        {2000, 600, false, 0, LEASE_END_MS, 5000, {99360, 99960, 99980}},
        {100, 33, false, 0, LEASE_END_MS, 5000, {99962, 99995, 99998}},
        {100, 0, false, 0, LEASE_END_MS, 5000, {99995, 99995, 99998}},
        {30000, 5000, false, 0, NEVER, 5000, {NEVER, NEVER, NEVER}},
        {30000, 5000, true, 0, LEASE_END_MS, 5000, {NEVER, NEVER, NEVER}},
        {30000, 5000, true, 60000, LEASE_END_MS, 100000, {160000, 165000, 165000 + LATE_MS}},
        {30000, 5000, true, 60000, LEASE_END_MS, NEVER, {NEVER, NEVER, NEVER}},  /* not started */
        {30000, 5000, false, 60000, LEASE_END_MS, 34000, {94000, 99000, 99950}}, /* overdue by the
                                                                                    lease */
        {30000, 5000, false, 60000, LEASE_END_MS, 50000, {94900, 99900, 99950}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct deadline_plan plan = deadline_plan(rows[i].lease_ms, rows[i].kill_after_ms,
                                                        rows[i].outlives_lease, rows[i].limit_ms);
        const struct deadline at = deadline_of(&plan, rows[i].lease_end_ms, rows[i].started_ms);
        const struct deadline *expected = &rows[i].at;
        if (at.stop_ms != expected->stop_ms || at.kill_ms != expected->kill_ms ||
            at.overdue_ms != expected->overdue_ms || (rows[i].outlives_lease && plan.grace_ms != 0))
            fail_msg("row %zu: %lld, %lld, %lld", i, (long long)at.stop_ms, (long long)at.kill_ms,
                     (long long)at.overdue_ms);
    }
}
