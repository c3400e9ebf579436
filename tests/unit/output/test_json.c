/* test_json.c: what is written is JSON, exact to the digit. What becomes of a stranger's bytes
 * test_out.c shows. */
#include "support/test.h"

#include <stdlib.h>

#include "output/json.h"

TEST(commas_stand_between_values_and_numbers_keep_all_digits) {
    char *text = NULL;
    size_t size;
    struct json json = {.stream = open_memstream(&text, &size)};
    assert_non_null(json.stream);
    json_open(&json, NULL, '[');
    json_open(&json, NULL, '{');
    json_close(&json, '}');
    json_open(&json, NULL, '{');
    json_text(&json, "a", "b");
    json_open(&json, "c", '[');
    json_close(&json, ']');
    json_open(&json, "d", '{');
    json_number(&json, "e", 9007199254740993); /* no double is this one */
    json_text(&json, "f", NULL);
    json_close(&json, '}');
    json_number(&json, "g", INT64_MIN);
    json_close(&json, '}');
    json_text(&json, NULL, "h");
    json_number(&json, NULL, INT64_MAX);
    json_close(&json, ']');
    assert_int_equal(fclose(json.stream), 0);
    assert_string_equal(text, "[{},{\"a\":\"b\",\"c\":[],\"d\":{\"e\":9007199254740993,\"f\":null},"
                              "\"g\":-9223372036854775808},\"h\",9223372036854775807]");
    free(text);
}
