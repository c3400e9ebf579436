/* test_duration.c: durations to and from milliseconds. */
#include "support/test.h"

#include <string.h>

#include "output/duration.h"

#define UNTOUCHED (-7)

TEST(reads_durations) {
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {
        {"250ms", 250},
        {"30s", 30000},
        {"5m", 300000},
        {"2h", 7200000},
        {"1d", 86400000},
        {"0", 0},
        {"0ms", 0},
        {"0.000", 0},
        {"7", 7000},
        {"007", 7000},
        {"1.5", 1500},
        {".5", 500},
        {"5.", 5000},
        {"0.25s", 250},
        {"1.5h", 5400000},
        {"0.1d", 8640000},
        {"0.1", 100},
        {"0.29", 290}, /* 289.99… as a double */
        {"1.001", 1001},
        /* Never shorter than asked for. */
        {"0.0001", 1},
        {"0.1ms", 1},
        {"0.0000000000000000000000001ms", 1},
        {"1.0001", 1001},
        {"1.00000000000000000000000", 1000},
        {"36525d", DURATION_MAX_MS},
        {"3155760000s", DURATION_MAX_MS},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t ms = UNTOUCHED;
        const char *wrong = duration_parse(&ms, rows[i].text);
        if (wrong != NULL || ms != rows[i].ms)
            fail_msg("'%s': %lld ms (%s), not %lld", rows[i].text, (long long)ms,
                     wrong != NULL ? wrong : "no error", (long long)rows[i].ms);
    }
}

TEST(refuses_what_is_none) {
    static const struct {
        const char *text;
        const char *reason;
    } rows[] = {
        {"", "empty"},
        {"-1", "negative"},
        {"-0", "negative"},
        {"-1ms", "negative"},
        {"+1", "not a duration"},
        {" 1", "not a duration"},
        {".", "not a duration"},
        {"s", "not a duration"},
        {"inf", "not a duration"},
        {"nan", "not a duration"},
        {"forever", "not a duration"},
        {"1e3", "unknown unit"},
        {"0x10", "unknown unit"},
        {"5x", "unknown unit"},
        {"5S", "unknown unit"},
        {"5 s", "unknown unit"},
        {"5s ", "unknown unit"},
        {"1h30m", "unknown unit"},
        {"1.5.2", "unknown unit"},
        {"1,5", "unknown unit"},
        {"5sec", "unknown unit"},
        {"36525.1d", "100 years"},
        {"36526d", "100 years"},
        {"3155760000001ms", "100 years"},
        {"3155760000000.1ms", "100 years"},
        {"9223372036854775807", "100 years"},
        {"99999999999999999999999999999999d", "100 years"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t ms = UNTOUCHED;
        const char *wrong = duration_parse(&ms, rows[i].text);
        if (wrong == NULL || strstr(wrong, rows[i].reason) == NULL || ms != UNTOUCHED)
            fail_msg("'%s': %lld ms, '%s'", rows[i].text, (long long)ms,
                     wrong != NULL ? wrong : "no error");
    }
}

TEST(writes_durations) {
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        {-5, "0ms"},
        {0, "0ms"},
        {250, "250ms"},
        {999, "999ms"},
        {1000, "1s"},
        {1500, "1.5s"},
        {1050, "1s"},
        {12000, "12s"},
        {12999, "12s"},
        {59999, "59s"},
        {60000, "1m"},
        {180000, "3m"},
        {192000, "3m12s"},
        {3600000, "1h"},
        {7500000, "2h5m"},
        {3605000, "1h"},
        {86400000, "1d"},
        {90000000, "1d1h"},
        {INT64_C(604800000), "7d"},
        {DURATION_MAX_MS, "36525d"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[DURATION_TEXT_SIZE];
        assert_string_equal(duration_format(text, rows[i].ms), rows[i].text);
    }
    char text[DURATION_TEXT_SIZE];
    assert_non_null(duration_format(text, INT64_MAX)); /* fits */
}

TEST(writes_whole_seconds) {
    char text[DURATION_TEXT_SIZE];
    assert_string_equal(duration_format_seconds(text, -5), "0s");
    assert_string_equal(duration_format_seconds(text, 999), "0s");
    assert_string_equal(duration_format_seconds(text, 1999), "1s");
    assert_string_equal(duration_format_seconds(text, 192999), "3m12s");
}
