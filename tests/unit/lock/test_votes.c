/* test_votes.c: what several servers say together, and until when. */
#include "support/test.h"

#include <string.h>

#include "lock/ask.h"

enum { SERVERS_MAX = 5 };

static struct rlock__error error; /* of all servers together */

/* One letter a server, the outcome of one that is alone. */
static const struct {
    char letter;
    enum rlock_status status;
} alone[] = {
    {'y', RLOCK_OK},          {'b', RLOCK_BUSY},    {'?', RLOCK_AGAIN},     {'l', RLOCK_LOST},
    {'w', RLOCK_WRONG_KIND},  {'r', RLOCK_REFUSED}, {'o', RLOCK_OUSTED},    {'d', RLOCK_DENIED},
    {'u', RLOCK_UNAVAILABLE}, {'s', RLOCK_SYSTEM},  {'c', RLOCK_CANCELLED},
};

static enum rlock_status vote(char letter) {
    size_t i = 0;
    while (alone[i].letter != letter)
        i++;
    return alone[i].status;
}

/* Each server's last error is "why N", its name is "sN". */
static enum rlock_status count_votes(const char *letters, size_t count) {
    static char names[SERVERS_MAX][3] = {"s0", "s1", "s2", "s3", "s4"};
    struct rlock__site sites[SERVERS_MAX] = {{.server = {.redacted = NULL}}};
    struct rlock__route at[SERVERS_MAX] = {{.site = NULL}};
    struct rlock__routes routes = {.count = count, .at = at, .error = &error};
    struct rlock__ask ask = {.routes = &routes};
    struct rlock__resource x = {.name = names[0]};
    struct rlock__ballot ballot = {.ask = &ask, .resource = &x};
    for (size_t i = 0; i < count; i++) {
        ballot.votes[i] = vote(letters[i]);
        sites[i].server.redacted = names[i];
        at[i].site = &sites[i];
        rlock__error_set(&at[i].error, "why %zu", i);
    }
    return rlock__ballot_count(&ballot);
}

TEST(a_majority_decides) {
    static const struct {
        char outcome;
        const char *votes;
    } rows[] = {
        {'y', "yyy yy? ?yy ydy yyc byy yyy?? yybwy"}, /* whatever the others say */
        /* Held by others: only a majority that has answered can know that. */
        {'b', "bbb bb? yb? ybb ybb?? y?b?b wyb ybww? bbudw"},
        {'?', "b?? y?? b?d yb??? bbud? bl?l? ???"},
        /* Final is what leaves no majority for a yes by itself. */
        {'l', "lly"},
        {'w', "ww? wwb"},
        {'d', "ddb yyddd"},
        {'u', "?uu"},
        {'r', "rry"},
        {'o', "oob"},
        {'?', "l?y yl? wy? wd? yydd?"},
        {'c', "c?? ycb ddc"}, /* someone wants to go */
    };
    for (size_t i = 0; i < COUNT(alone); i++)
        assert_int_equal(count_votes(&alone[i].letter, 1), alone[i].status);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *votes = rows[i].votes;
        for (size_t length; *votes != '\0'; votes += length + (votes[length] == ' ')) {
            length = strcspn(votes, " ");
            const enum rlock_status outcome = count_votes(votes, length);
            if (outcome != vote(rows[i].outcome))
                fail_msg("%.*s: %s, not %c", (int)length, votes, rlock_status_text(outcome),
                         rows[i].outcome);
        }
    }
}

TEST(why_it_failed_is_told) {
    static const struct {
        const char *votes, *error;
    } rows[] = {
        {"d", "why 0"},
        {"?dd", "why 2"},
        {"?ll", "s0 is not ours any more"},
        {"y??", "1 of 3 servers have answered, 2 are needed; s1: why 1"},
        {"?b?", "1 of 3 servers have answered, 2 are needed; s0: why 0"},
        {"yb???", "2 of 5 servers have answered, 3 are needed; s2: why 2"},
        {"???", "0 of 3 servers have answered, 2 are needed; s0: why 0"},
        /* That it is gone is an answer, too, or that it is something else. */
        {"wb???", "2 of 5 servers have answered, 3 are needed; s2: why 2"},
        {"l??", "1 of 3 servers have answered, 2 are needed; s1: why 1"},
        {"yl?", "2 of 3 servers have answered, 2 must agree; s2: why 2"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        (void)count_votes(rows[i].votes, strlen(rows[i].votes));
        assert_string_equal(error.text, rows[i].error);
    }
}

/* The leases by size, the majority's last: so many servers keep the name as long as that. */
TEST(a_majority_keeps_the_name) {
    static const struct {
        size_t count;
        int64_t granted[5], majority;
    } rows[] = {
        {1, {700}, 700},
        {1, {0}, 0},
        {3, {700, 900, 800}, 800},
        {3, {900, 900, 0}, 900},
        {3, {900, 0, 0}, 0}, /* a minority keeps nothing */
        {3, {500, 900, 500}, 500},
        {5, {100, 500, 300, 400, 200}, 300},
        {5, {500, 0, 500, 400, 0}, 400},
        {5, {0, 500, 0, 400, 0}, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rlock__instance instances[SERVERS_MAX] = {{.state = RLOCK__NOTHING}};
        struct rlock__resource resource = {.instance_count = rows[i].count, .instances = instances};
        for (size_t k = 0; k < rows[i].count; k++)
            instances[k].granted_ms = rows[i].granted[k];
        if (rlock__votes_granted(&resource) != rows[i].majority)
            fail_msg("row %zu", i);
    }
}
