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

/* After a step from each of the states, by each of the requests, with each of the outcomes. */
TEST(nothing_that_may_stand_there_is_forgotten_and_no_try_is_taken_for_another) {
    const size_t steps = STATES * KNOWLEDGE * 2 * REQUEST_KINDS * OUTCOMES;
    for (size_t i = 0; i < steps; i++) {
        const struct rlock__instance before = {
            .state = (enum rlock__state)(i % STATES),
            .unanswered = (enum rlock__unanswered)(i / STATES % KNOWLEDGE),
            .may_arrive_late = i / STATES / KNOWLEDGE % 2,
            .tries = 3,
            .ticket = 7,
        };
        const size_t step = i / STATES / KNOWLEDGE / 2;
        const enum rlock__request_kind request = (enum rlock__request_kind)(step % REQUEST_KINDS);
        const enum rlock__outcome outcome = (enum rlock__outcome)(step / REQUEST_KINDS);
        struct rlock__instance after = before;
        rlock__instance_after(&after, request, outcome);

        const bool answered = outcome <= RLOCK__NO, release = request == RLOCK__RELEASE;
        const bool takes = request == RLOCK__TAKE || request == RLOCK__RESTORE;
        const bool leaving = before.unanswered == RLOCK__LEAVING;
        const bool pending = before.unanswered == RLOCK__REPLY_PENDING;
        const bool over = release && answered;
        const bool in_line = after.state == RLOCK__IN_LINE;
        const bool was_in_line = before.state == RLOCK__IN_LINE;
        const struct {
            const char *what;
            bool when, so;
        } rules[] = {
            {"what may stand there does until the server has said otherwise",
             !answered && rlock__instance_may_stay(&before), rlock__instance_may_stay(&after)},
            {"a doubt stays", !answered && rlock__instance_in_doubt(&before),
             rlock__instance_in_doubt(&after)},
            {"only an answered release leaves the line", was_in_line && !answered, in_line},
            {"a no leaves the place in line as it was", outcome == RLOCK__NO && !release,
             in_line == was_in_line},
            {"what a try before was granted does not count for this one",
             request == RLOCK__TAKE && !answered, after.state != RLOCK__HELD},
            {"an answer is all there was to know", takes && answered,
             after.unanswered == RLOCK__ANSWERED},
            {"a request to take it may have done so",
             takes && !answered && outcome != RLOCK__NOT_DONE, rlock__instance_may_stay(&after)},
            {"it may do so late", takes && outcome == RLOCK__NO_ANSWER,
             after.may_arrive_late && rlock__instance_in_doubt(&after)},
            {"a yes is believed", outcome == RLOCK__YES,
             after.state == (release ? RLOCK__GIVEN_BACK : RLOCK__HELD)},
            {"a no is believed", outcome == RLOCK__NO, after.state != RLOCK__HELD},
            {"there is nothing to release", outcome == RLOCK__NO && release,
             after.state == RLOCK__NOTHING},
            {"a late request is expected until the release is answered", before.may_arrive_late,
             after.may_arrive_late == !over},
            /* Over another connection nothing says that the pending one came before. */
            {"a pending request may come behind the release", release && !answered && pending,
             after.may_arrive_late},
            /* The number says to a server what belongs to a try that is over. */
            {"a release that others may come behind ends the number", true,
             after.tries == before.tries + (over && (before.may_arrive_late || leaving))},
            {"what is over is over", over, !rlock__instance_may_stay(&after)},
            {"one that was granted it in vain comes back to its place, one that leaves does not",
             over, after.ticket == (rlock__instance_in_doubt(&before) ? 7 : 0)},
            {"a release without an answer may have been carried out",
             release && !answered && outcome != RLOCK__NOT_DONE,
             after.unanswered == RLOCK__LEAVING},
            {"a renewal does not undo a release that may have been carried out",
             request == RLOCK__RENEW && leaving, after.unanswered == RLOCK__LEAVING},
            {"nothing but a release leaves", !release && !leaving,
             after.unanswered != RLOCK__LEAVING},
        };
        for (size_t k = 0; k < COUNT(rules); k++) {
            if (rules[k].when && !rules[k].so)
                fail_msg("state %d, unanswered %d, late %d, request %d, outcome %d: not '%s'",
                         before.state, before.unanswered, before.may_arrive_late, request, outcome,
                         rules[k].what);
        }
    }
}

/* A release that may still arrive must not be about the next try, for which what was given back
 * before counts for nothing. */
TEST(the_next_try_has_a_number_and_a_state_of_its_own) {
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
    instance = (struct rlock__instance){.state = RLOCK__GIVEN_BACK};
    rlock__instance_begin_try(&instance);
    rlock__instance_after(&instance, RLOCK__TAKE, RLOCK__NOT_DONE);
    assert_int_equal(instance.state, RLOCK__NOTHING);
}

/* Beside what answers, losses and refusals show in resource and quorum. */
TEST(a_run_without_an_answer_may_have_been_carried_out) {
    static const struct {
        struct rlock__run run;
        enum rlock__outcome outcome;
    } rows[] = {
        {{.unconfirmed = true}, RLOCK__UNSURE},
        {{.unconfirmed = true, .unanswered = true}, RLOCK__NO_ANSWER},
        {{.abandoned = true}, RLOCK__PENDING},
        {{.abandoned = true, .unanswered = true}, RLOCK__PENDING},
        {{.refused = true}, RLOCK__NOT_DONE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rlock__run run = rows[i].run;
        run.status = RLOCK_AGAIN;
        assert_int_equal(rlock__outcome_of(&run, RLOCK_AGAIN), rows[i].outcome);
    }
}
