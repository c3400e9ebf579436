/* test_votes.c: what several servers say together, and until when. */
#include "support/test.h"

#include <string.h>

#include "lock/ask.h"

enum { SERVERS_MAX = 5 };

/* Each server's last error is "why N", its name is "sN". */
struct fixture {
    struct rlock__site sites[SERVERS_MAX];
    struct rlock__route at[SERVERS_MAX];
    struct rlock__routes routes;
    struct rlock__error error;
};

static void begin(struct fixture *f, size_t count) {
    static char names[SERVERS_MAX][3] = {"s0", "s1", "s2", "s3", "s4"};
    *f = (struct fixture){.routes = {.count = count, .at = f->at, .error = &f->error}};
    for (size_t i = 0; i < count; i++) {
        f->sites[i].server.redacted = names[i];
        f->at[i].site = &f->sites[i];
        rlock__error_set(&f->at[i].error, "why %zu", i);
    }
}

/* One letter a server. */
static enum rlock_status vote(char letter) {
    switch (letter) {
    case 'y': return RLOCK_OK;
    case 'b': return RLOCK_BUSY;
    case '?': return RLOCK_AGAIN;
    case 'l': return RLOCK_LOST;
    case 'w': return RLOCK_WRONG_KIND;
    case 'r': return RLOCK_REFUSED;
    case 'o': return RLOCK_OUSTED;
    case 'd': return RLOCK_DENIED;
    case 'u': return RLOCK_UNAVAILABLE;
    case 's': return RLOCK_SYSTEM;
    case 'c': return RLOCK_CANCELLED;
    }
    fail_msg("no such vote");
    return RLOCK_INVALID;
}

static enum rlock_status count_votes(struct fixture *f, const char *letters) {
    enum rlock_status votes[SERVERS_MAX];
    begin(f, strlen(letters));
    for (size_t i = 0; letters[i] != '\0'; i++)
        votes[i] = vote(letters[i]);
    return rlock__votes_count(&f->routes, votes);
}

TEST(a_majority_is_more_than_half) {
    static const size_t majorities[] = {1, 1, 2, 2, 3, 3, 4, 4};
    for (size_t i = 1; i < COUNT(majorities); i++)
        assert_int_equal(rlock__majority(i), majorities[i]);
    assert_int_equal(rlock__majority(15), 8);
}

TEST(a_majority_decides) {
    static const struct {
        const char *votes;
        enum rlock_status outcome;
    } rows[] = {
        /* One server is a majority of one. */
        {"y", RLOCK_OK},
        {"b", RLOCK_BUSY},
        {"?", RLOCK_AGAIN},
        {"l", RLOCK_LOST},
        {"w", RLOCK_WRONG_KIND},
        {"r", RLOCK_REFUSED},
        {"o", RLOCK_OUSTED},
        {"d", RLOCK_DENIED},
        {"u", RLOCK_UNAVAILABLE},
        {"s", RLOCK_SYSTEM},
        {"c", RLOCK_CANCELLED},
        /* Whatever the others say. */
        {"yyy", RLOCK_OK},
        {"yy?", RLOCK_OK},
        {"?yy", RLOCK_OK},
        {"ydy", RLOCK_OK},
        {"yyc", RLOCK_OK},
        {"byy", RLOCK_OK},
        {"yyy??", RLOCK_OK},
        {"yybwy", RLOCK_OK},
        /* Held by others: only a majority that has answered can know that. */
        {"bbb", RLOCK_BUSY},
        {"bb?", RLOCK_BUSY},
        {"yb?", RLOCK_BUSY},
        {"ybb", RLOCK_BUSY},
        {"b??", RLOCK_AGAIN},
        {"y??", RLOCK_AGAIN},
        {"b?d", RLOCK_AGAIN},
        {"yb???", RLOCK_AGAIN},
        {"ybb??", RLOCK_BUSY},
        {"bbudw", RLOCK_AGAIN},
        {"???", RLOCK_AGAIN},
        /* Final is what leaves no majority for a yes by itself. */
        {"lly", RLOCK_LOST},
        {"l?y", RLOCK_AGAIN},
        {"yl?", RLOCK_AGAIN},
        {"ww?", RLOCK_WRONG_KIND},
        {"wy?", RLOCK_AGAIN},
        {"wyb", RLOCK_BUSY},
        {"wwb", RLOCK_WRONG_KIND},
        {"ddb", RLOCK_DENIED},
        {"?uu", RLOCK_UNAVAILABLE},
        {"wd?", RLOCK_AGAIN},
        {"yyddd", RLOCK_DENIED},
        {"yydd?", RLOCK_AGAIN},
        {"rry", RLOCK_REFUSED},
        {"oob", RLOCK_OUSTED},
        /* Someone wants to go. */
        {"c??", RLOCK_CANCELLED},
        {"ycb", RLOCK_CANCELLED},
        {"ddc", RLOCK_CANCELLED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const enum rlock_status outcome = count_votes(&f, rows[i].votes);
        if (outcome != rows[i].outcome)
            fail_msg("%s: %s, not %s", rows[i].votes, rlock_status_text(outcome),
                     rlock_status_text(rows[i].outcome));
    }
}

TEST(why_it_failed_is_told) {
    static const struct {
        const char *votes, *error;
    } rows[] = {
        {"?", "why 0"},
        {"d", "why 0"},
        {"?dd", "why 2"},
        {"y?b?b", NULL}, /* BUSY: who is in the way is told by others */
        {"y??", "1 of 3 servers have answered, 2 are needed; s1: why 1"},
        {"?b?", "1 of 3 servers have answered, 2 are needed; s0: why 0"},
        {"yb???", "2 of 5 servers have answered, 3 are needed; s2: why 2"},
        {"???", "0 of 3 servers have answered, 2 are needed; s0: why 0"},
        /* That it is gone is an answer, too. */
        {"l??", "1 of 3 servers have answered, 2 are needed; s1: why 1"},
        {"yl?", "2 of 3 servers have answered, 2 must agree; s2: why 2"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const enum rlock_status outcome = count_votes(&f, rows[i].votes);
        if (rows[i].error == NULL)
            assert_int_equal(outcome, RLOCK_BUSY);
        else
            assert_string_equal(f.error.text, rows[i].error);
    }
}

TEST(the_text_of_most_wins) {
    static const struct {
        const char *texts[5];
        size_t count, most, supporters;
    } rows[] = {
        {{"a"}, 1, 0, 1},
        {{"a", "b", "b"}, 3, 1, 2},
        {{"a", "b", "c"}, 3, 0, 1},
        {{"a", "b", "b", "a"}, 4, 0, 2}, /* the first of equals */
        {{"", "b", "b", "b", ""}, 5, 1, 3},
        {{"a", "a", "a", "a", "a"}, 5, 0, 5},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t supporters;
        assert_int_equal(rlock__votes_most(rows[i].texts, rows[i].count, &supporters),
                         rows[i].most);
        assert_int_equal(supporters, rows[i].supporters);
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
        {3, {900, 800, 700}, 800},
        {3, {700, 900, 800}, 800},
        {3, {900, 900, 0}, 900},
        {3, {900, 0, 0}, 0}, /* a minority keeps nothing */
        {3, {0, 0, 0}, 0},
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
