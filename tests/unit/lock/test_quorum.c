/* test_quorum.c: a lock on three servers that answer as they like: a majority decides, and nothing
 * is left where there was none. */
#include "support/locked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVERS = 3, TOKEN_WORD = 3 + 12 + 6 };

#define TAKEN(token) "*3\r\n:0\r\n:" #token "\r\n:0\r\n" /* so much is known already */
#define LOADING      "-LOADING wait\r\n"
#define NOPERM       "-NOPERM no\r\n"

static void begin_three(struct locked *f, const char *const *first, const char *const *second,
                        const char *const *third) {
    const char *const *answers[] = {first, second, third};
    *f = (struct locked){.timeout_ms = patience_ms(150)};
    begin(f, SERVERS, answers);
}

/* What each of them was asked, with a blank between. */
static const char *all_asked(const struct locked *f) {
    static char text[256];
    size_t length = 0;
    for (size_t i = 0; i < SERVERS; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? " " : "",
                                   asked(f, i));
    return text;
}

TEST(a_majority_takes_it) {
    const char *const *granted = ANSWERS(GRANTED(9)), *const *held = ANSWERS(HELD_BY("o"));
    const char *const *back = ANSWERS(GRANTED(5), DONE), *const *denied = ANSWERS(NOPERM);
    const char *const *other = ANSWERS(HELD_BY("p")), *const *larger = ANSWERS(GRANTED(9), DONE);
    const char *const *unraised = ANSWERS(GRANTED(5), "-READONLY no\r\n", DONE);
    const char *const *beaten = ANSWERS(GRANTED(5), TAKEN(9), DONE);
    const struct {
        const char *what;
        enum rlock_status status;
        int64_t token;
        const char *asked, *const *answers[SERVERS];
    } rows[] = {
        {"a majority knows it", RLOCK_OK, 9, "a a a", {granted, granted, held}},
        /* The next holder's token must be larger whichever majority gives it. */
        {"the largest token is told", RLOCK_OK, 9, "at a a", {back, granted, held}},
        {"a minority is given back", RLOCK_BUSY, 0, "a ab a", {held, back, held}},
        {"who has most is in the way", RLOCK_BUSY, 0, "a a a", {other, held, held}},
        {"nobody has most", RLOCK_AGAIN, 0, "a ab a", {held, back, other}},
        {"most deny it", RLOCK_DENIED, 0, "a ab a", {denied, back, denied}},
        {"no majority knows the token", RLOCK_UNAVAILABLE, 9, "atb ab ", {unraised, larger}},
        /* Another reader was faster: it has the very token that we want. */
        {"a token that another has is left to it", RLOCK_OK, 10, "att at ", {beaten, larger}},
        /* Of readers that come together one may lose each round: that is no failure. */
        {"always taken: tried again",
         RLOCK_BUSY,
         24,
         "attttttttba atttttttba ",
         {ANSWERS(GRANTED(5), TAKEN(11), TAKEN(13), TAKEN(15), TAKEN(17), TAKEN(19), TAKEN(21),
                  TAKEN(23), TAKEN(25), DONE, HELD_BY("o")),
          ANSWERS(GRANTED(9), TAKEN(13), TAKEN(15), TAKEN(17), TAKEN(19), TAKEN(21), TAKEN(23),
                  TAKEN(25), DONE, HELD_BY("o"))}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct locked f;
        begin_three(&f, rows[i].answers[0], rows[i].answers[1], rows[i].answers[2]);
        /* A split vote is tried again until then. */
        const int64_t until_ms = rows[i].status == RLOCK_AGAIN ? 0 : RLOCK_FOREVER;
        const struct rlock_wait once = {.size = sizeof once, .until_ms = until_ms, .cancel_fd = -1};
        const enum rlock_status status = rlock_acquire(f.lock, &once);
        const struct rlock_hold *hold = rlock_hold_at(f.lock, 0);
        const int64_t token = hold != NULL ? hold->token : 0;
        const char *error = rlock_error(f.client);
        if (status != rows[i].status || token != (status == RLOCK_OK ? rows[i].token : 0) ||
            (status != RLOCK_OK && rlock_in_doubt(f.lock)))
            fail_msg("%s: %s", rows[i].what, rlock_status_text(status));
        if (status == RLOCK_BUSY)
            assert_string_equal(rlock_blocker(f.lock)->owner, "o");
        assert_int_equal(f.lock->busy.split, status == RLOCK_AGAIN);
        if (status == RLOCK_UNAVAILABLE)
            assert_string_equal(error, "no majority of the servers agrees on a token");
        end(&f);
        if (strcmp(all_asked(&f), rows[i].asked) != 0)
            fail_msg("%s: they were asked %s", rows[i].what, all_asked(&f));
        for (size_t k = 0; k < SERVERS; k++) {
            const char *letters = asked(&f, k), *last = strrchr(letters, 't');
            if (last != NULL) /* it was told to raise its own to that */
                assert_int_equal(atoll(f.peers[k].requests[last - letters].words[TOKEN_WORD].data),
                                 rows[i].token);
        }
    }
}

TEST(a_majority_renews) {
    static const struct {
        const char *one, *another; /* of the three; the third renews */
        enum rlock_status status;
    } rows[] = {
        {DONE, DONE, RLOCK_OK},
        {DONE, GONE, RLOCK_OK},
        {DONE, LOADING, RLOCK_OK},
        {DONE, PEER_SILENT, RLOCK_OK}, /* which is waited for, 20 ms */
        {GONE, GONE, RLOCK_LOST},
        {GONE, LOADING, RLOCK_UNAVAILABLE},
        {LOADING, NOPERM, RLOCK_UNAVAILABLE},
        {NOPERM, NOPERM, RLOCK_DENIED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct locked f;
        begin_three(&f, ANSWERS(GRANTED(7), DONE), ANSWERS(GRANTED(7), rows[i].one),
                    ANSWERS(GRANTED(7), rows[i].another));
        struct rlock__instance *instances = f.lock->resources[0].instances;
        bool all = true;
        assert_int_equal(try_once(&f), RLOCK_OK);
        for (size_t k = 0; k < SERVERS; k++) {
            instances[k].granted_ms -= 1000; /* as if it had been long ago */
            all = all && instances[k].state == RLOCK__HELD;
        }
        if (!all) { /* two made it a majority before the third answered: again */
            end(&f);
            i--;
            continue;
        }
        rlock__lock_update_lease(f.lock);
        const int64_t end_ms = rlock_lease_end_ms(f.lock);
        const enum rlock_status status = rlock_renew(f.lock);
        if (status != rows[i].status)
            fail_msg("row %zu: %s", i, rlock_status_text(status));
        /* It counts from when it was asked for, not from the answers. */
        const int64_t waited_ms = strcmp(rows[i].another, PEER_SILENT) == 0 ? 20 : 0;
        if (status == RLOCK_OK)
            assert_in_range(rlock_lease_end_ms(f.lock), end_ms + 1000,
                            rlock__lease_end_ms(rlock_now_ms() - waited_ms, LEASE_MS));
        else
            assert_int_equal(rlock_lease_end_ms(f.lock), end_ms);
        end(&f);
        /* Where it has gone while the others keep it, it is put back; where it may have, one asks
         * again. */
        const bool kept = status != RLOCK_OK || strcmp(rows[i].another, DONE) == 0;
        const bool gone = strcmp(rows[i].another, GONE) == 0;
        assert_string_equal(all_asked(&f), kept ? "ar ar ar" : gone ? "ar ar ars" : "ar ar arr");
    }
}

/* The end of a hold says whether it was one: by then, too, a majority must have kept it. */
TEST(a_hold_that_no_majority_kept_was_lost) {
    const char *const *kept = ANSWERS(GRANTED(7), DONE), *const *gone = ANSWERS(GRANTED(7), GONE);
    /* It may be held there, too: what is given back is given back there as well. */
    const char *const *unheard = ANSWERS(PEER_SILENT, GRANTED(7) DONE);
    /* One round for one, another round for the other: together they are the majority. */
    const char *const *late = ANSWERS(GRANTED(7), PEER_SILENT, DONE);
    const struct {
        const char *const *answers[SERVERS];
        enum rlock_status status;
        const char *asked;
    } rows[] = {
        {{kept, kept, kept}, RLOCK_OK, "ab ab ab"},   {{kept, kept, gone}, RLOCK_OK, "ab ab ab"},
        {{kept, gone, gone}, RLOCK_LOST, "ab ab ab"}, {{gone, gone, gone}, RLOCK_LOST, "ab ab ab"},
        {{kept, kept}, RLOCK_OK, "ab ab "},           {{kept, gone}, RLOCK_LOST, "ab ab "},
        {{gone, gone}, RLOCK_LOST, "ab ab "},         {{kept, late}, RLOCK_OK, "ab abb "},
        {{kept, kept, unheard}, RLOCK_OK, "ab ab ab"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct locked f;
        begin_three(&f, rows[i].answers[0], rows[i].answers[1], rows[i].answers[2]);
        assert_int_equal(try_once(&f), RLOCK_OK);
        assert_true(rlock_in_doubt(f.lock) || rows[i].answers[2] != unheard);
        const enum rlock_status status = release(&f);
        assert_null(rlock_hold_at(f.lock, 0));
        end(&f);
        if (status != rows[i].status || strcmp(all_asked(&f), rows[i].asked) != 0)
            fail_msg("row %zu: %s, asked %s", i, rlock_status_text(status), all_asked(&f));
        for (size_t k = 10; k <= 12; k++) /* all for the same owner, lease and attempt */
            assert_string_equal(f.peers[1].requests[0].words[k].data,
                                f.peers[0].requests[0].words[k].data);
    }
}
