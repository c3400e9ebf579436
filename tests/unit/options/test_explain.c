/* test_explain.c: which known word a mistyped one was meant to be. */
#include "support/test.h"

#include <string.h>

#include "options/opt.h"

TEST(counts_edits) {
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
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(suggest_distance(rows[i].a, rows[i].b), rows[i].distance);
        assert_int_equal(suggest_distance(rows[i].b, rows[i].a), rows[i].distance);
    }
}

TEST(gives_up_on_long_words) {
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
    for (size_t i = 0; i < COUNT(words); i++)
        suggest_offer(&suggestion, words[i]);
    return suggestion.best != NULL ? suggestion.best : "";
}

TEST(finds_the_nearest_and_guesses_nothing_far_off) {
    static const char *const rows[][2] = {
        {"rnu", "run"},   {"wirte", "write"}, {"relase", "release"},
        {"raed", "read"}, {"read", "read"},   {"", ""},
        {"x", ""},        {"deploy", ""},     {"./backup.sh", ""}};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(find(rows[i][0]), rows[i][1]);
}
