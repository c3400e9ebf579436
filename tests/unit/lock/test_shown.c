/* test_shown.c: what others are shown of a holder, as JSON. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lock/lock.h"

TEST(words_are_json_whatever_they_are) {
    static const struct {
        struct rlock_lock_options options;
        const char *said;
    } rows[] = {
        {{.command = "a \"b\" \\ \n\x1b \x7f\xc3\xbc\xff", .note = ""},
         "\"user\":\"\",\"command\":\"a \\\"b\\\" \\\\ \\u000a\\u001b \x7f\xc3\xbc\xff\""},
        {{.user = "u", .command = "c", .note = NULL}, "\"user\":\"u\",\"command\":\"c\""},
        {{.user = "u", .command = "c", .note = "a \"b\""},
         "\"user\":\"u\",\"command\":\"c\",\"note\":\"a \\\"b\\\"\""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[128], *shown = rlock__shown(&rows[i].options, "h", "3");
        (void)snprintf(expected, sizeof expected, "\"host\":\"h\",\"pid\":%ld,%s,\"permits\":3",
                       (long)getpid(), rows[i].said);
        assert_string_equal(shown, expected);
        free(shown);
    }
}
