/* test_columns.c: how much of a text fits into so many columns. */
#include "support/test.h"

#include <string.h>

#include "output/columns.h"

static void a_text_is_cut_in_front_of_a_character(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        const char *cut;
    } rows[] = {
        {"", 0, ""},
        {"deploy", 0, ""},
        {"deploy", 3, "dep"},
        {"deploy", 6, "deploy"},
        {"deploy", 60, "deploy"},
        {"\xc3\xbc\xe2\x82\xac!", 2, "\xc3\xbc\xe2\x82\xac"}, /* narrow, of two and three bytes */
        {"\xe3\x83\xad\xe3\x83\x83", 4,
         "\xe3\x83\xad\xe3\x83\x83"}, /* katakana: two columns each */
        {"\xe3\x83\xad\xe3\x83\x83", 3, "\xe3\x83\xad"},
        {"\xe3\x83\xad\xe3\x83\x83", 1, ""},
        {"a\xf0\x9f\x94\x92z", 3, "a\xf0\x9f\x94\x92"}, /* a lock */
        {"a\xf0\x9f\x94\x92z", 2, "a"},
        {"\xef\xbc\xa1", 1, ""},                 /* a fullwidth A */
        {"\x80\xff\xe2\x82", 3, "\x80\xff\xe2"}, /* no UTF-8: a column a byte */
        {"\xf0\x9f", 2, "\xf0\x9f"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[32];
        strcpy(text, rows[i].text);
        columns_cut(text, rows[i].columns);
        assert_string_equal(text, rows[i].cut);
        assert_true(columns_of(text) <= rows[i].columns);
    }
}

static void what_a_text_takes_is_counted(void **state) {
    (void)state;
    assert_int_equal(columns_of(""), 0);
    assert_int_equal(columns_of("a\xf0\x9f\x94\x92z"), 4);
    assert_int_equal(columns_of("\xc3\xbc\x80"), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_cut_in_front_of_a_character),
        cmocka_unit_test(what_a_text_takes_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
