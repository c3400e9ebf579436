/* test_resp.c: how large and of what shape a server's reply may be; and what digits are good for.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "redis/conn.h"

#define LARGE  "larger than any"
#define NESTED "nested deeper"
#define ALIEN  "does not speak Redis's protocol"

/* How many replies are read from that text, in pieces of that size; *fault: why no more are. */
static size_t read_all(const char *text, size_t piece, const char **fault) {
    struct rlock__resp *resp = rlock__resp_new();
    size_t replies = 0;
    assert_non_null(resp);
    for (const char *end = text + strlen(text);; text += piece) {
        rlock__reply *reply;
        while ((*fault = rlock__resp_next(resp, 0, &reply)) == NULL && reply != NULL) {
            rlock__reply_free(reply);
            replies++;
        }
        if (*fault != NULL || text >= end)
            break;
        if (piece > (size_t)(end - text))
            piece = (size_t)(end - text);
        (void)rlock__resp_feed(resp, text, piece);
    }
    if (*fault != NULL) { /* dead is dead */
        rlock__reply *reply;
        assert_non_null(rlock__resp_feed(resp, "+OK\r\n", 5));
        assert_non_null(rlock__resp_next(resp, 0, &reply));
        assert_null(reply);
    }
    rlock__resp_free(resp);
    return replies;
}

/* Whole, or in pieces of one byte. What RESP3 has besides depends on hiredis. */
TEST(what_redis_says_is_good_and_nothing_else) {
    static const struct {
        const char *text, *fault; /* NULL: it is good */
        size_t replies;           /* before the fault */
    } rows[] = {
        {"+OK\r\n", NULL, 1},
        {"+\r\n", NULL, 1},
        {":0\r\n", NULL, 1},
        {":-9223372036854775808\r\n", NULL, 1},
        {"$0\r\n\r\n", NULL, 1},
        {"$-1\r\n", NULL, 1},
        {"$6\r\n\r\n*9\r\n\r\n", NULL, 1},
        {"*0\r\n", NULL, 1},
        {"*-1\r\n", NULL, 1},
        {"*2\r\n*1\r\n*0\r\n$1\r\nx\r\n", NULL, 1},
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", NULL, 1},
        {"*3\r\n:1\r\n:2\r\n:3\r\n+next\r\n$3\r\nabc\r\n", NULL, 3},
        {"HTTP/1.1 400 Bad\r\n", ALIEN, 0},
        {"\r\n", ALIEN, 0},
        {"+OK\r\n?\r\n", ALIEN, 1},
        {":1-\r\n", ALIEN, 0},
        {"*-2\r\n", ALIEN, 0},
        {"$-9223372036854775809\r\n", ALIEN, 0},
        {"*x\r\n", ALIEN, 0},
        {"*536870912\r\n", LARGE, 0},
        {"*10923\r\n", LARGE, 0}, /* 96 bytes each, and 1 MiB */
        {":1\r\n*2\r\n*5461\r\n*1\r\n*5461\r\n", LARGE, 1},
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", NESTED, 0},
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        const char *text = rows[i / 2].text, *expected = rows[i / 2].fault, *fault;
        const size_t replies = read_all(text, i % 2 == 1 ? 1 : strlen(text), &fault);
        if (replies != rows[i / 2].replies || (fault != NULL) != (expected != NULL) ||
            (expected != NULL && strstr(fault, expected) == NULL))
            fail_msg("%s: %zu, %s", text, replies, fault);
    }
}

/* "TEXTitemitem..." as often as it is good; how many bytes that are. */
static size_t endless(const char *text, const char *item, size_t most) {
    struct rlock__resp *resp = rlock__resp_new();
    size_t good = strlen(text);
    rlock__reply *reply;
    assert_null(rlock__resp_next(resp, most, &reply));
    assert_null(rlock__resp_feed(resp, text, good));
    for (; good < 4 * RLOCK__RESP_LISTING; good += strlen(item)) {
        if (rlock__resp_next(resp, most, &reply) != NULL ||
            rlock__resp_feed(resp, item, strlen(item)) != NULL)
            break;
        assert_null(reply);
    }
    rlock__resp_free(resp);
    if (good >= 4 * RLOCK__RESP_LISTING)
        fail_msg("no end: %s", text);
    return good;
}

TEST(what_has_no_end_is_cut_off) {
    static const size_t most[] = {0, RLOCK__RESP_ANSWER, RLOCK__RESP_MAP, RLOCK__RESP_LISTING};
    static char text[4096 + 1], line[] =
                                    "+123456789.123456789.123456789.123456789.123456789.123456789"
                                    ".123456789.123456789.123456789.123456789\r\n";
    memset(text, 'a', sizeof text - 1);
    assert_true(endless("+", text, 0) <=
                RLOCK__RESP_ANSWER); /* hiredis looks at it all each time */
    for (size_t i = 0; i < COUNT(most); i++) {
        const size_t bytes = most[i] > 0 ? most[i] : RLOCK__RESP_ANSWER;
        char head[32];
        (void)snprintf(head, sizeof head, "*%zu\r\n", bytes / 2 / RLOCK__RESP_ITEM);
        assert_true(endless("$999999999\r\n", text, most[i]) <= bytes);
        assert_true(endless(head, "*2\r\n:1\r\n", most[i]) <= bytes);
        assert_true(endless(head, line, most[i]) <= bytes);
    }
}

/* A reply is as large as it may be, again and again: the next one begins anew. */
TEST(each_reply_has_the_whole_room) {
    static char text[RLOCK__RESP_ANSWER - 64];
    struct rlock__resp *resp = rlock__resp_new();
    char head[32];
    (void)snprintf(head, sizeof head, "$%zu\r\n", sizeof text);
    for (int i = 0; i < 5; i++) {
        rlock__reply *reply;
        assert_null(rlock__resp_feed(resp, head, strlen(head)));
        assert_null(rlock__resp_feed(resp, text, sizeof text));
        assert_null(rlock__resp_feed(resp, "\r\n", 2));
        assert_null(rlock__resp_next(resp, 0, &reply));
        assert_non_null(reply);
        rlock__reply_free(reply);
    }
    rlock__resp_free(resp);
}

/* As when nobody waits any more for a listing that is still coming. */
TEST(a_reply_that_began_with_more_room_has_no_more) {
    static char text[2 * RLOCK__RESP_ANSWER];
    struct rlock__resp *resp = rlock__resp_new();
    rlock__reply *reply;
    assert_null(rlock__resp_next(resp, RLOCK__RESP_LISTING, &reply));
    assert_null(rlock__resp_feed(resp, "$3000000\r\n", 10));
    assert_null(rlock__resp_feed(resp, text, sizeof text));
    assert_null(rlock__resp_next(resp, 0, &reply));
    assert_null(reply);
    assert_non_null(rlock__resp_feed(resp, text, 1));
    rlock__resp_free(resp);
}

TEST(digits_are_read_exactly) {
    static const struct {
        int64_t number; /* 77: it is none */
        const char *texts[9];
    } rows[] = {
        {0, {"0"}},
        {7, {"007"}},
        {INT64_MAX, {"9223372036854775807"}},
        {77, {"9223372036854775808", "99999999999999999999", "", "-1", "+1", "1 ", "1e3", "\xff"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (const char *const *text = rows[i].texts; *text != NULL; text++) {
            int64_t number = 77;
            const bool good = rlock__resp_whole(*text, &number);
            if (number != rows[i].number || good != (number != 77))
                fail_msg("%s: %lld", *text, (long long)number);
        }
    }
}
