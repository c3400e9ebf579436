/* test_resp.c: how large and of what shape a server's reply may be; and what digits are good for.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "redis/conn.h"

#define LARGE  "larger than any"
#define NESTED "nested deeper"
#define ALIEN  "does not speak Redis's protocol"

/* Whole, or in pieces of one byte. */
TEST(what_redis_says_is_good_and_nothing_else) {
    static const struct {
        const char *text, *fault; /* NULL: it is good */
        size_t good;              /* bytes before the fault */
    } rows[] = {
        {"+OK\r\n", NULL, 0},
        {"+\r\n", NULL, 0},
        {"-ERR a\rb\nc\r\n", NULL, 0},
        {":0\r\n", NULL, 0},
        {":-9223372036854775808\r\n", NULL, 0},
        {"$0\r\n\r\n", NULL, 0},
        {"$-1\r\n", NULL, 0},
        {"$6\r\n\r\n*9\r\n\r\n", NULL, 0},
        {"*0\r\n", NULL, 0},
        {"*-1\r\n", NULL, 0},
        {"*2\r\n*1\r\n*0\r\n$1\r\nx\r\n", NULL, 0},
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", NULL, 0},
        {"*3\r\n:1\r\n:2\r\n:3\r\n+next\r\n$3\r\nabc\r\n", NULL, 0},
        {"HTTP/1.1 400 Bad\r\n", ALIEN, 0},
        {"\r\n", ALIEN, 0},
        {"+OK\r\n?", ALIEN, 5},
        {"%1\r\n", ALIEN, 0},
        {"*1\r\n~1\r\n", ALIEN, 4},
        {":\r\n", ALIEN, 2},
        {":1-\r\n", ALIEN, 4},
        {":1\r2", ALIEN, 3},
        {":123456789012345678901", ALIEN, 21},
        {"*-2\r\n", ALIEN, 4},
        {"$-9223372036854775809\r\n", ALIEN, 22},
        {"*x\r\n", ALIEN, 3},
        {"*536870912\r\n", LARGE, 11},
        {"*10923\r\n", LARGE, 7}, /* 96 bytes each, and 1 MiB */
        {"$1048577\r\n", LARGE, 9},
        {"*2\r\n$1048576\r\n", LARGE, 13},
        {"*2\r\n*5461\r\n*1\r\n*5461\r\n", LARGE, 21},
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", NESTED, 31},
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        struct rlock__resp resp = {.most = 0};
        const char *text = rows[i / 2].text, *fault = rows[i / 2].fault;
        const size_t size = strlen(text);
        size_t good = 0;
        for (size_t n = 1; n > 0 && good < size; good += n)
            n = rlock__resp_look(&resp, text + good, i % 2 == 1 ? 1 : size - good);
        if (good != (fault != NULL ? rows[i / 2].good : size) ||
            (resp.fault != NULL) != (fault != NULL) ||
            (fault != NULL && strstr(resp.fault, fault) == NULL))
            fail_msg("%s: %zu, %s", text, good, resp.fault);
        if (fault != NULL)
            assert_int_equal(rlock__resp_look(&resp, "+OK\r\n", 5), 0); /* dead is dead */
        else
            assert_int_equal(resp.depth + resp.counted + resp.to_skip + (size_t)resp.type, 0);
    }
}

/* "TEXTitemitem..." as often as it is good, of at most that many bytes. */
static size_t endless(const char *text, const char *item, size_t most) {
    struct rlock__resp resp = {.most = most};
    size_t good = rlock__resp_look(&resp, text, strlen(text));
    assert_int_equal(good, strlen(text));
    for (size_t all = strlen(item); resp.fault == NULL && good < 4 * RLOCK__RESP_LISTING;) {
        const size_t n = rlock__resp_look(&resp, item, all);
        good += n;
    }
    if (resp.fault == NULL)
        fail_msg("no end: %s", text);
    return good;
}

TEST(what_has_no_end_is_cut_off) {
    static const size_t most[] = {0, RLOCK__RESP_ANSWER, RLOCK__RESP_MAP, RLOCK__RESP_LISTING};
    for (size_t i = 0; i < COUNT(most); i++) {
        const size_t bytes = most[i] > 0 ? most[i] : RLOCK__RESP_ANSWER;
        assert_int_equal(endless("+", "a", most[i]), RLOCK__RESP_LINE + 1);
        assert_true(endless("*10000\r\n", "$1000\r\n", most[i]) <= RLOCK__RESP_LISTING);
        char head[32];
        (void)snprintf(head, sizeof head, "*%zu\r\n", bytes / RLOCK__RESP_ITEM);
        assert_true(endless(head, "*2\r\n:1\r\n", most[i]) <= bytes);
        assert_true(endless(head, "+aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", most[i]) <= bytes);
    }
}

/* A reply is as large as it may be, again and again: the next one begins anew. */
TEST(each_reply_has_the_whole_room) {
    static char text[RLOCK__RESP_TEXT + 2];
    struct rlock__resp resp = {.most = 0};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(rlock__resp_look(&resp, "$1048576\r\n", 10), 10);
        assert_int_equal(rlock__resp_look(&resp, text, sizeof text), sizeof text);
        assert_null(resp.fault);
    }
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
