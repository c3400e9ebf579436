/* test_duration.c: durations to and from milliseconds. */
#include "support/test.h"

#include <string.h>

#include "output/duration.h"

#define UNTOUCHED (-7)

/* Never shorter than asked for; 0.29 is 0.2899... as a double. What is refused is not written. */
TEST(reads_durations_and_refuses_what_is_none) {
    static const struct {
        int64_t ms;
        const char *texts, *refused; /* texts: with '|' between them; refused: why, or NULL */
    } rows[] = {
        {0, "0|0ms|0.000", NULL},
        {1, "0.0001|0.1ms|0.00000000000000000001ms", NULL},
        {100, "0.1", NULL},
        {250, "250ms|0.25s", NULL},
        {290, "0.29", NULL},
        {500, ".5", NULL},
        {1000, "1.00000000000000000000000", NULL},
        {1001, "1.001|1.0001", NULL},
        {1500, "1.5", NULL},
        {5000, "5.", NULL},
        {7000, "7|007", NULL},
        {30000, "30s", NULL},
        {300000, "5m", NULL},
        {5400000, "1.5h", NULL},
        {7200000, "2h", NULL},
        {8640000, "0.1d", NULL},
        {86400000, "1d", NULL},
        {DURATION_MAX_MS, "36525d|3155760000s", NULL},
        {UNTOUCHED, "", "empty"},
        {UNTOUCHED, "-1|-0|-1ms", "negative"},
        {UNTOUCHED, "+1| 1|.|s|inf|nan|forever", "not a duration"},
        {UNTOUCHED, "1e3|0x10|5x|5S|5 s|5s |1h30m|1.5.2|1,5|5sec", "unknown unit"},
        {UNTOUCHED,
         "36525.1d|36526d|3155760000001ms|3155760000000.1ms|9223372036854775807|"
         "99999999999999999999999999999999d",
         "100 years"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char texts[128], *rest = strcpy(texts, rows[i].texts), *text;
        while ((text = strsep(&rest, "|")) != NULL) {
            int64_t ms = UNTOUCHED;
            const char *wrong = duration_parse(&ms, text), *why = rows[i].refused;
            if (ms != rows[i].ms || (wrong == NULL) != (why == NULL) ||
                (why != NULL && strstr(wrong, why) == NULL))
                fail_msg("'%s': %lld ms (%s), not %lld", text, (long long)ms,
                         wrong != NULL ? wrong : "no error", (long long)rows[i].ms);
        }
    }
}

TEST(writes_durations) {
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        {-5, "0ms"},       {0, "0ms"},         {250, "250ms"},    {999, "999ms"},
        {1000, "1s"},      {1500, "1.5s"},     {1050, "1s"},      {12000, "12s"},
        {12999, "12s"},    {59999, "59s"},     {60000, "1m"},     {180000, "3m"},
        {192000, "3m12s"}, {3600000, "1h"},    {7500000, "2h5m"}, {3605000, "1h"},
        {86400000, "1d"},  {90000000, "1d1h"}, {604800000, "7d"}, {DURATION_MAX_MS, "36525d"}};
    char text[DURATION_TEXT_SIZE];
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(duration_format(text, rows[i].ms), rows[i].text);
    assert_non_null(duration_format(text, INT64_MAX)); /* fits */
    assert_string_equal(duration_format_seconds(text, -5), "0s");
    assert_string_equal(duration_format_seconds(text, 999), "0s");
    assert_string_equal(duration_format_seconds(text, 1999), "1s");
    assert_string_equal(duration_format_seconds(text, 192999), "3m12s");
}
