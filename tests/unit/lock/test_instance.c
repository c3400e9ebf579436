/* test_instance.c: what is known of a name on a server after each request and outcome, from each
 * state: nothing that may stand there is forgotten, and no try is taken for another. */
#include "support/test.h"

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
TEST(nothing_is_forgotten_without_an_answer) {
    each_step(check_forgotten);
}

static void check_taking(const struct step *step) {
    const bool takes = step->request == RLOCK__TAKE || step->request == RLOCK__RESTORE;
    /* What a try before this was granted does not count for this one. */
    if (step->request == RLOCK__TAKE && !step->answered)
        assert_step(step, step->after.state != RLOCK__HELD);
    if (!takes || step->outcome == RLOCK__NOT_DONE)
        return;
    if (step->answered)
        assert_step(step, step->after.unanswered == RLOCK__ANSWERED);
    else
        assert_step(step, rlock__instance_may_stay(&step->after));
    if (step->outcome == RLOCK__NO_ANSWER)
        assert_step(step, step->after.may_arrive_late && rlock__instance_in_doubt(&step->after));
}

TEST(a_request_to_take_it_may_have_done_so) {
    each_step(check_taking);
}

static void check_yes(const struct step *step) {
    if (step->outcome != RLOCK__YES)
        return;
    if (step->request == RLOCK__RELEASE)
        assert_step(step, step->after.state == RLOCK__GIVEN_BACK);
    else
        assert_step(step, step->after.state == RLOCK__HELD);
}

TEST(a_yes_is_believed) {
    each_step(check_yes);
}

static void check_no(const struct step *step) {
    if (step->outcome != RLOCK__NO)
        return;
    assert_step(step, step->after.state != RLOCK__HELD);
    if (step->request != RLOCK__RELEASE) /* which alone leaves the line */
        assert_step(step, (step->after.state == RLOCK__IN_LINE) ==
                              (step->before.state == RLOCK__IN_LINE));
    else
        assert_step(step, step->after.state == RLOCK__NOTHING);
}

TEST(a_no_is_believed_but_a_place_in_line_stays) {
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

TEST(a_late_request_is_expected_until_the_release_is_answered) {
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
TEST(a_release_that_others_may_come_behind_ends_the_number) {
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

TEST(a_release_without_an_answer_may_have_been_carried_out) {
    each_step(check_leaving);
}

/* A release that may still arrive must not be about the next try. */
TEST(the_next_try_has_a_number_of_its_own) {
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
TEST(the_next_try_is_not_given_back) {
    struct rlock__instance instance = {.state = RLOCK__GIVEN_BACK};
    rlock__instance_begin_try(&instance);
    rlock__instance_after(&instance, RLOCK__TAKE, RLOCK__NOT_DONE);
    assert_int_equal(instance.state, RLOCK__NOTHING);
}

/* --- what a run says -------------------------------------------------------------------------- */

TEST(a_run_has_one_outcome) {
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
        if (rlock__outcome_of(&rows[i].run, rows[i].vote) != rows[i].outcome)
            fail_msg("row %zu", i);
    }
}
