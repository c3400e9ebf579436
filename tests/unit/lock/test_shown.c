/* test_shown.c: what others are shown of a holder, as JSON. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/lock.h"

static void words_are_json_whatever_they_are(void **state) {
    (void)state;
    char expected[128];
    (void)snprintf(expected, sizeof expected,
                   "\"host\":\"h\",\"pid\":%ld,\"user\":\"\",\"command\":"
                   "\"a \\\"b\\\" \\\\ \\u000a\\u001b \x7f\xc3\xbc\xff\",\"permits\":3",
                   (long)getpid());
    char *shown = rlock__shown("h", NULL, "a \"b\" \\ \n\x1b \x7f\xc3\xbc\xff", "", "3");
    assert_string_equal(shown, expected);
    free(shown);
}

static void a_note_stands_there_only_if_there_is_one(void **state) {
    (void)state;
    char expected[128];
    (void)snprintf(expected, sizeof expected,
                   "\"host\":\"h\",\"pid\":%ld,\"user\":\"u\",\"command\":\"c\","
                   "\"note\":\"a \\\"b\\\"\",\"permits\":1",
                   (long)getpid());
    char *shown = rlock__shown("h", "u", "c", "a \"b\"", "1");
    assert_string_equal(shown, expected);
    free(shown);
    shown = rlock__shown("h", "u", "c", NULL, "1");
    assert_null(strstr(shown, "note"));
    free(shown);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_are_json_whatever_they_are),
                                       cmocka_unit_test(a_note_stands_there_only_if_there_is_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
