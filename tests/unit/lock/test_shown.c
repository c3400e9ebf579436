/* test_shown.c: what others are shown of a holder, as JSON. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/lock.h"

TEST(words_are_json_whatever_they_are) {
    char expected[128];
    (void)snprintf(expected, sizeof expected,
                   "\"host\":\"h\",\"pid\":%ld,\"user\":\"\",\"command\":"
                   "\"a \\\"b\\\" \\\\ \\u000a\\u001b \x7f\xc3\xbc\xff\",\"permits\":3",
                   (long)getpid());
    const struct rlock_lock_options options = {.command = "a \"b\" \\ \n\x1b \x7f\xc3\xbc\xff",
                                               .note = ""};
    char *shown = rlock__shown(&options, "h", "3");
    assert_string_equal(shown, expected);
    free(shown);
}

TEST(a_note_stands_there_only_if_there_is_one) {
    char expected[128];
    (void)snprintf(expected, sizeof expected,
                   "\"host\":\"h\",\"pid\":%ld,\"user\":\"u\",\"command\":\"c\","
                   "\"note\":\"a \\\"b\\\"\",\"permits\":1",
                   (long)getpid());
    struct rlock_lock_options options = {.user = "u", .command = "c", .note = "a \"b\""};
    char *shown = rlock__shown(&options, "h", "1");
    assert_string_equal(shown, expected);
    free(shown);
    options.note = NULL;
    shown = rlock__shown(&options, "h", "1");
    assert_null(strstr(shown, "note"));
    free(shown);
}
