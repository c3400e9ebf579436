/* test_suggest.c: which known word a mistyped one was meant to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "options/suggest.h"

static void counts_edits(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] =
        {
            {"", "", 0},           {"run", "run", 0},     {"", "run", 3},
            {"rn", "run", 1},      {"runn", "run", 1},    {"rum", "run", 1},
            {"rnu", "run", 1}, /* neighbours swapped: one edit, not two */
            {"ca", "abc", 3},      {"leese", "lease", 1}, {"kitten", "sitting", 3},
            {"help", "server", 5},
        };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(suggest_distance(rows[i].a, rows[i].b), rows[i].distance);
        assert_int_equal(suggest_distance(rows[i].b, rows[i].a), rows[i].distance);
    }
}

static void gives_up_on_long_words(void **state) {
    (void)state;
    char word[1000];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_true(suggest_distance(word, "a") == SIZE_MAX);
    struct suggestion suggestion = SUGGESTION_INIT(word);
    suggest_offer(&suggestion, "run");
    assert_null(suggestion.best);
}

static const char *find(const char *word) {
    static const char *const words[] = {"run", "fair", "read", "write", "release", "renew"};
    struct suggestion suggestion = SUGGESTION_INIT(word);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        suggest_offer(&suggestion, words[i]);
    return suggestion.best;
}

static void finds_the_nearest(void **state) {
    (void)state;
    assert_string_equal(find("rnu"), "run");
    assert_string_equal(find("wirte"), "write");
    assert_string_equal(find("relase"), "release");
    assert_string_equal(find("raed"), "read");
    assert_string_equal(find("read"), "read");
}

static void guesses_nothing_far_off(void **state) {
    (void)state;
    assert_null(find(""));
    assert_null(find("x"));
    assert_null(find("deploy"));
    assert_null(find("./backup.sh"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_edits),
        cmocka_unit_test(gives_up_on_long_words),
        cmocka_unit_test(finds_the_nearest),
        cmocka_unit_test(guesses_nothing_far_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
