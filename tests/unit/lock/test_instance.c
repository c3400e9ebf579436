/* test_instance.c: what is known of a name on a server after each request and outcome, from each
 * state: nothing that may stand there is forgotten, and no try is taken for another. */
#include "support/test.h"

#include <string.h>

#include "lock/lock.h"

enum {
    STATES = RLOCK__GIVEN_BACK + 1,
    KNOWLEDGE = RLOCK__LEAVING + 1,
    REQUEST_KINDS = RLOCK__RELEASE + 1,
    OUTCOMES = RLOCK__NOT_DONE + 1
};

/* A step from each of the states, by each of the requests, with each of the outcomes. */
struct step {
    struct rlock__instance before, after;
    enum rlock__request_kind request;
    enum rlock__outcome outcome;
    bool answered;
};

static void each_step(void (*check)(const struct step *step)) {
    const size_t steps = STATES * KNOWLEDGE * 2 * REQUEST_KINDS * OUTCOMES;
    for (size_t i = 0; i < steps; i++) {
        size_t rest = i;
        struct step step = {.before = {.tries = 3, .ticket = 7}};
        step.before.state = (enum rlock__state)(rest % STATES);
        rest /= STATES;
        step.before.unanswered = (enum rlock__unanswered)(rest % KNOWLEDGE);
        rest /= KNOWLEDGE;
        step.before.may_arrive_late = rest % 2;
        rest /= 2;
        step.request = (enum rlock__request_kind)(rest % REQUEST_KINDS);
        step.outcome = (enum rlock__outcome)(rest / REQUEST_KINDS);
        step.answered = step.outcome <= RLOCK__NO;
        step.after = step.before;
        rlock__instance_after(&step.after, step.request, step.outcome);
        check(&step);
    }
}

#define assert_step(step, condition)                                                               \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("state %d, unanswered %d, late %d, request %d, outcome %d: not %s",           \
                     (step)->before.state, (step)->before.unanswered,                              \
                     (step)->before.may_arrive_late, (step)->request, (step)->outcome,             \
                     #condition);                                                                  \
    } while (0)

static void check_forgotten(const struct step *step) {
    if (!step->answered && rlock__instance_may_stay(&step->before))
        assert_step(step, rlock__instance_may_stay(&step->after));
    if (!step->answered && rlock__instance_in_doubt(&step->before))
        assert_step(step, rlock__instance_in_doubt(&step->after));
    if (!step->answered && step->before.state == RLOCK__IN_LINE)
        assert_step(step, step->after.state == RLOCK__IN_LINE);
}

/* What may stand on the server is remembered until the server has said otherwise. */
static void nothing_is_forgotten_without_an_answer(void **state) {
    (void)state;
    each_step(check_forgotten);
}

static void check_taking(const struct step *step) {
    const bool takes = step->request == RLOCK__TAKE || step->request == RLOCK__RESTORE;
    /* What a try before this was granted does not count for this one. */
    if (step->request == RLOCK__TAKE && !step->answered)
        assert_step(step, !rlock__instance_is_held(&step->after));
    if (!takes || step->outcome == RLOCK__NOT_DONE)
        return;
    if (step->answered)
        assert_step(step, step->after.unanswered == RLOCK__ANSWERED);
    else
        assert_step(step, rlock__instance_may_stay(&step->after));
    if (step->outcome == RLOCK__NO_ANSWER)
        assert_step(step, step->after.may_arrive_late && rlock__instance_in_doubt(&step->after));
}

static void a_request_to_take_it_may_have_done_so(void **state) {
    (void)state;
    each_step(check_taking);
}

static void check_yes(const struct step *step) {
    const bool around = step->outcome == RLOCK__YES_AROUND;
    if (step->outcome > RLOCK__YES_AROUND)
        return;
    if (step->request == RLOCK__RELEASE)
        assert_step(step, step->after.state == RLOCK__GIVEN_BACK);
    else
        assert_step(step, step->after.state == (around ? RLOCK__REENTERED : RLOCK__HELD));
}

static void a_yes_is_believed(void **state) {
    (void)state;
    each_step(check_yes);
}

static void check_no(const struct step *step) {
    if (step->outcome != RLOCK__NO)
        return;
    assert_step(step, !rlock__instance_is_held(&step->after));
    if (step->request != RLOCK__RELEASE) /* which alone leaves the line */
        assert_step(step, (step->after.state == RLOCK__IN_LINE) ==
                              (step->before.state == RLOCK__IN_LINE));
    else
        assert_step(step, step->after.state == RLOCK__NOTHING);
}

static void a_no_is_believed_but_a_place_in_line_stays(void **state) {
    (void)state;
    each_step(check_no);
}

static void check_late(const struct step *step) {
    const bool over = step->request == RLOCK__RELEASE && step->answered;
    if (step->before.may_arrive_late)
        assert_step(step, step->after.may_arrive_late == !over);
    /* Over another connection nothing says that the pending one came before. */
    if (step->request == RLOCK__RELEASE && !step->answered &&
        step->before.unanswered == RLOCK__REPLY_PENDING)
        assert_step(step, step->after.may_arrive_late);
}

static void a_late_request_is_expected_until_the_release_is_answered(void **state) {
    (void)state;
    each_step(check_late);
}

static void check_number(const struct step *step) {
    const bool over = step->request == RLOCK__RELEASE && step->answered;
    const bool late = step->before.may_arrive_late || step->before.unanswered == RLOCK__LEAVING;
    assert_step(step, step->after.tries == step->before.tries + (over && late));
    if (over)
        assert_step(step, !rlock__instance_may_stay(&step->after) && step->after.ticket == 0);
}

/* The number says to a server what belongs to a try that is over. */
static void a_release_that_others_may_come_behind_ends_the_number(void **state) {
    (void)state;
    each_step(check_number);
}

static void check_leaving(const struct step *step) {
    if (step->request == RLOCK__RELEASE && !step->answered && step->outcome != RLOCK__NOT_DONE)
        assert_step(step, step->after.unanswered == RLOCK__LEAVING);
    if (step->request == RLOCK__RENEW && step->before.unanswered == RLOCK__LEAVING)
        assert_step(step, step->after.unanswered == RLOCK__LEAVING);
    if (step->request != RLOCK__RELEASE && step->before.unanswered != RLOCK__LEAVING)
        assert_step(step, step->after.unanswered != RLOCK__LEAVING);
}

static void a_release_without_an_answer_may_have_been_carried_out(void **state) {
    (void)state;
    each_step(check_leaving);
}

/* A release that may still arrive must not be about the next try. */
static void the_next_try_has_a_number_of_its_own(void **state) {
    (void)state;
    struct rlock__instance instance = {.state = RLOCK__HELD, .tries = 3};
    rlock__instance_begin_try(&instance);
    assert_int_equal(instance.tries, 3);
    rlock__instance_after(&instance, RLOCK__RELEASE, RLOCK__NO_ANSWER);
    assert_int_equal(instance.tries, 3); /* the release is sent again as it was */
    rlock__instance_begin_try(&instance);
    assert_int_equal(instance.tries, 4);
    assert_true(rlock__instance_in_doubt(&instance));
    rlock__instance_begin_try(&instance); /* and so is the try */
    assert_int_equal(instance.tries, 4);
}

/* What was given back before counts for nothing at the end of the next hold. */
static void the_next_try_is_not_given_back(void **state) {
    (void)state;
    struct rlock__instance instance = {.state = RLOCK__GIVEN_BACK};
    rlock__instance_begin_try(&instance);
    rlock__instance_after(&instance, RLOCK__TAKE, RLOCK__NOT_DONE);
    assert_int_equal(instance.state, RLOCK__NOTHING);
}

/* --- what a run says -------------------------------------------------------------------------- */

static void a_run_has_one_outcome(void **state) {
    (void)state;
    static const struct {
        struct rlock__run run;
        enum rlock_status vote;
        enum rlock__outcome outcome;
    } rows[] = {
        {{.status = RLOCK_OK}, RLOCK_OK, RLOCK__YES},
        {{.status = RLOCK_OK}, RLOCK_BUSY, RLOCK__NO},
        {{.status = RLOCK_OK}, RLOCK_LOST, RLOCK__NO},
        {{.status = RLOCK_OK}, RLOCK_UNAVAILABLE, RLOCK__UNSURE}, /* a code that it has not */
        {{.status = RLOCK_UNAVAILABLE}, RLOCK_UNAVAILABLE, RLOCK__UNSURE},
        {{.status = RLOCK_UNAVAILABLE, .refused = true}, RLOCK_UNAVAILABLE, RLOCK__NOT_DONE},
        {{.status = RLOCK_DENIED, .refused = true}, RLOCK_DENIED, RLOCK__NOT_DONE},
        {{.status = RLOCK_AGAIN}, RLOCK_AGAIN, RLOCK__NOT_DONE},
        {{.status = RLOCK_AGAIN, .unanswered = true}, RLOCK_AGAIN, RLOCK__NO_ANSWER},
        {{.status = RLOCK_AGAIN, .unconfirmed = true}, RLOCK_AGAIN, RLOCK__UNSURE},
        {{.status = RLOCK_AGAIN, .unconfirmed = true, .unanswered = true},
         RLOCK_AGAIN,
         RLOCK__NO_ANSWER},
        {{.status = RLOCK_AGAIN, .abandoned = true}, RLOCK_AGAIN, RLOCK__PENDING},
        {{.status = RLOCK_CANCELLED, .abandoned = true}, RLOCK_CANCELLED, RLOCK__PENDING},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rlock__outcome_of(&rows[i].run, rows[i].vote, false) != rows[i].outcome)
            fail_msg("row %zu", i);
    }
    assert_int_equal(rlock__outcome_of(&rows[0].run, RLOCK_OK, true), RLOCK__YES_AROUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_forgotten_without_an_answer),
        cmocka_unit_test(a_request_to_take_it_may_have_done_so),
        cmocka_unit_test(a_yes_is_believed),
        cmocka_unit_test(a_no_is_believed_but_a_place_in_line_stays),
        cmocka_unit_test(a_late_request_is_expected_until_the_release_is_answered),
        cmocka_unit_test(a_release_that_others_may_come_behind_ends_the_number),
        cmocka_unit_test(a_release_without_an_answer_may_have_been_carried_out),
        cmocka_unit_test(the_next_try_has_a_number_of_its_own),
        cmocka_unit_test(the_next_try_is_not_given_back),
        cmocka_unit_test(a_run_has_one_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
