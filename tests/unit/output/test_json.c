/* test_json.c: what is written is JSON, exact to the digit. What becomes of a stranger's bytes
 * test_out.c shows. */
#include "support/test.h"

#include <stdlib.h>

#include "output/json.h"

/* The text of what was written. */
static const char *end(struct json *json, char **text) {
    assert_int_equal(fclose(json->stream), 0);
    return *text;
}

static struct json begin(char **text, size_t *size) {
    *text = NULL;
    const struct json json = {.stream = open_memstream(text, size)};
    assert_non_null(json.stream);
    return json;
}

static void commas_stand_between_values_only(void **state) {
    char *text;
    size_t size;
    struct json json = begin(&text, &size);
    (void)state;
    json_open(&json, NULL, '[');
    json_open(&json, NULL, '{');
    json_close(&json, '}');
    json_open(&json, NULL, '{');
    json_text(&json, "a", "b");
    json_open(&json, "c", '[');
    json_close(&json, ']');
    json_open(&json, "d", '{');
    json_number(&json, "e", 1);
    json_text(&json, "f", NULL);
    json_close(&json, '}');
    json_number(&json, "g", 2);
    json_close(&json, '}');
    json_text(&json, NULL, "h");
    json_close(&json, ']');
    assert_string_equal(end(&json, &text),
                        "[{},{\"a\":\"b\",\"c\":[],\"d\":{\"e\":1,\"f\":null},\"g\":2},\"h\"]");
    free(text);
}

static void numbers_keep_all_digits(void **state) {
    char *text;
    size_t size;
    struct json json = begin(&text, &size);
    (void)state;
    json_open(&json, NULL, '[');
    json_number(&json, NULL, INT64_MIN);
    json_number(&json, NULL, 9007199254740993); /* no double is this one */
    json_number(&json, NULL, INT64_MAX);
    json_close(&json, ']');
    assert_string_equal(end(&json, &text),
                        "[-9223372036854775808,9007199254740993,9223372036854775807]");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_stand_between_values_only),
        cmocka_unit_test(numbers_keep_all_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
