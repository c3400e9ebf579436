/* test_environment.c: proofs in the environment: read, and handed down. */
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold/environment.h"
#include "lock/lock.h"

static const char *const variables[] = {"RLOCK_HOLDS", "RLOCK_NAME",  "RLOCK_KIND",
                                        "RLOCK_OWNER", "RLOCK_TOKEN", "RLOCK_SERVER"};

static int forget(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    return 0;
}

static void set(const char *name, const char *value) {
    assert_int_equal(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
}

/* The proofs as one text: "KIND NAME OWNER TOKEN;" each, and frees them. */
static const char *told(struct environment *holds) {
    static char text[4096];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < holds->count; i++) {
        const struct rlock_proof *proof = &holds->proofs[i];
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %s %s %" PRId64 ";",
                                   holds->kinds[i], proof->name, proof->owner, proof->token);
    }
    environment_free(holds);
    return text;
}

static void reads_what_the_record_says(void **state) {
    (void)state;
    static const struct {
        const char *record, *proofs;
        size_t inner;
    } rows[] = {
        {NULL, "", 0},
        {"", "", 0},
        {"7 u:1@h run a", "run a u:1@h 7;", 0},
        {"7 u run a\n9 v run b", "run a u 7;run b v 9;", 0},
        {"7 u run  a b ", "run  a b  u 7;", 0},
        {"9223372036854775807 u run a", "run a u 9223372036854775807;", 0},
        {"3 u write a\n\n3 u read a", "write a u 3;read a u 3;", 1},
        /* The innermost last: the library takes the last proof of a name. */
        {"3 u:1@h run a\n\n5 v:2@h run a", "run a u:1@h 3;run a v:2@h 5;", 1},
        {"3 u run a\n4 v run b c\n\n5 w fair d\n6 w fair e",
         "run a u 3;run b c v 4;fair d w 5;fair e w 6;", 2},
        /* What can't be read is no proof; what can beside it still is. */
        {"3", "", 0},
        {"3 u", "", 0},
        {"3 u run", "", 0},
        {"3 u run ", "", 0},
        {"3  run a", "", 0},
        {"3 u RUN a", "", 0},
        {"x u run a\n4 v run b\n", "run b v 4;", 0},
        {"7x u run a", "", 0},
        {"0 u latch a", "", 0},
        {"-7 u run a", "", 0},
        {"\n\n4 v run b\n", "run b v 4;", 0},
        {"3 u run a\n\n4 v run b\n\nx\n", "run a u 3;run b v 4;", 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct environment holds;
        set("RLOCK_HOLDS", rows[i].record);
        assert_true(environment_read(&holds));
        const size_t inner = holds.inner;
        const char *proofs = told(&holds);
        if (strcmp(proofs, rows[i].proofs) != 0 || inner != rows[i].inner)
            fail_msg("row %zu: '%s' from %zu, not '%s'", i, proofs, inner, rows[i].proofs);
    }
}

/* They are for the command. */
static void the_other_variables_prove_nothing(void **state) {
    (void)state;
    struct environment holds;
    set("RLOCK_NAME", "a");
    set("RLOCK_KIND", "run");
    set("RLOCK_OWNER", "u");
    set("RLOCK_TOKEN", "7");
    assert_true(environment_read(&holds));
    assert_string_equal(told(&holds), "");
}

/* --- handing down -------------------------------------------------------------------------------
 */

static struct rlock__resource held(const char *name, const char *owner, int64_t token) {
    return (struct rlock__resource){.held = true, .hold = {name, owner, token}};
}

static void assert_environment(const char *name, const char *value) {
    const char *got = getenv(name);
    if (value == NULL)
        assert_null(got);
    else if (got == NULL || strcmp(got, value) != 0)
        fail_msg("%s is '%s', not '%s'", name, got != NULL ? got : "(unset)", value);
}

/* What CMD's environment gets is done to ours. */
static void do_as_told(const char *list) {
    for (const char *text = list; *text != '\0'; text += strlen(text) + 1) {
        char name[32];
        const char *value = strchr(text, '=');
        const int length = (int)(value != NULL ? value - text : (ptrdiff_t)strlen(text));
        (void)snprintf(name, sizeof name, "%.*s", length, text);
        set(name, value != NULL ? value + 1 : NULL);
    }
}

static void hand_down(const struct environment *enclosing, const struct rlock_lock *lock,
                      const char *server) {
    char list[4096];
    assert_true(environment_write(enclosing, lock, "run", server, list, sizeof list));
    do_as_told(list);
}

static void hands_down_one(void **state) {
    (void)state;
    struct rlock__resource resources[] = {held("a", "u:1@h", 7)};
    const struct rlock_lock lock = {.resources = resources, .resource_count = COUNT(resources)};
    struct environment enclosing;
    assert_true(environment_read(&enclosing));
    hand_down(&enclosing, &lock, NULL);
    assert_environment("RLOCK_NAME", "a");
    assert_environment("RLOCK_KIND", "run");
    assert_environment("RLOCK_OWNER", "u:1@h");
    assert_environment("RLOCK_TOKEN", "7");
    assert_environment("RLOCK_HOLDS", "7 u:1@h run a");
    assert_environment("RLOCK_SERVER", NULL);
    environment_free(&enclosing);
    assert_true(environment_read(&enclosing));
    assert_string_equal(told(&enclosing), "run a u:1@h 7;");
}

static void hands_down_several_and_those_around(void **state) {
    (void)state;
    struct rlock__resource resources[] = {held("b b", "u", 7), held("c", "v", 9)};
    const struct rlock_lock lock = {.resources = resources, .resource_count = COUNT(resources)};
    struct environment enclosing;
    /* c is held anew: its old proof is worth nothing */
    set("RLOCK_HOLDS", "3 x run a\n\n2 stale run c");
    assert_true(environment_read(&enclosing));
    hand_down(&enclosing, &lock, "redis://h:6379");
    assert_environment("RLOCK_NAME", "b b\nc");
    assert_environment("RLOCK_KIND", "run\nrun");
    assert_environment("RLOCK_OWNER", "u\nv");
    assert_environment("RLOCK_TOKEN", "7\n9");
    assert_environment("RLOCK_HOLDS", "3 x run a\n\n7 u run b b\n9 v run c");
    assert_environment("RLOCK_SERVER", "redis://h:6379");
    environment_free(&enclosing);
    assert_true(environment_read(&enclosing));
    assert_int_equal(enclosing.inner, 1);
    assert_string_equal(told(&enclosing), "run a x 3;run b b u 7;run c v 9;");
}

/* A downgrade: the read hold inside the write hold has its owner and token, and takes its line. */
static void the_inner_kind_of_a_name_is_told(void **state) {
    (void)state;
    struct rlock__resource resources[] = {held("a", "u", 7)};
    const struct rlock_lock lock = {.resources = resources, .resource_count = COUNT(resources)};
    struct environment enclosing;
    set("RLOCK_HOLDS", "3 x fair b\n4 y sem c\n\n7 u write a");
    assert_true(environment_read(&enclosing));
    char list[4096];
    assert_true(environment_write(&enclosing, &lock, "read", NULL, list, sizeof list));
    do_as_told(list);
    assert_environment("RLOCK_KIND", "read");
    assert_environment("RLOCK_HOLDS", "3 x fair b\n4 y sem c\n\n7 u read a");
    environment_free(&enclosing);
}

/* `latch down`: nothing is held, and the holds around are kept, the innermost with all its names.
 */
static void hands_down_a_name_that_is_not_held(void **state) {
    (void)state;
    char list[4096];
    const char *record = "3 x write a\n\n7 u run b\n8 u run c";
    set("RLOCK_HOLDS", record);
    assert_true(environment_write_name("l", "latch", "redis://h:6379", list, sizeof list));
    do_as_told(list);
    assert_environment("RLOCK_NAME", "l");
    assert_environment("RLOCK_KIND", "latch");
    assert_environment("RLOCK_OWNER", NULL);
    assert_environment("RLOCK_TOKEN", NULL);
    assert_environment("RLOCK_HOLDS", record);
    assert_environment("RLOCK_SERVER", "redis://h:6379");
    assert_false(environment_write_name("l", "latch", NULL, list, 40));
}

/* Nor is anything by `latch wait`. */
static void what_is_passed_is_not_recorded(void **state) {
    (void)state;
    struct rlock__resource resources[] = {held("l", "u", 0)};
    const struct rlock_lock lock = {.resources = resources, .resource_count = 1};
    struct environment enclosing;
    set("RLOCK_HOLDS", "3 x run a\n4 x run b");
    assert_true(environment_read(&enclosing));
    hand_down(&enclosing, &lock, NULL);
    assert_environment("RLOCK_NAME", "l");
    assert_environment("RLOCK_TOKEN", "0");
    assert_environment("RLOCK_HOLDS", "3 x run a\n4 x run b");
    environment_free(&enclosing);
}

/* An hour of nesting must not fill the environment: each name stands there once. */
static void the_record_does_not_grow(void **state) {
    (void)state;
    set("RLOCK_HOLDS", "3 x run a");
    for (int i = 0; i < 50; i++) {
        struct rlock__resource resources[] = {held(i % 2 == 0 ? "b" : "c", "u", 7 + i)};
        const struct rlock_lock lock = {.resources = resources, .resource_count = 1};
        struct environment enclosing;
        assert_true(environment_read(&enclosing));
        hand_down(&enclosing, &lock, NULL);
        environment_free(&enclosing);
    }
    assert_environment("RLOCK_HOLDS", "3 x run a\n55 u run b\n\n56 u run c");
    assert_environment("RLOCK_NAME", "c");
}

static void a_list_that_does_not_fit_is_refused(void **state) {
    (void)state;
    struct rlock__resource resources[] = {held("a", "u", 7), held("b", "u", 8)};
    const struct rlock_lock lock = {.resources = resources, .resource_count = COUNT(resources)};
    struct environment enclosing;
    set("RLOCK_HOLDS", "6 v run c");
    assert_true(environment_read(&enclosing));
    static const char expected[] =
        "RLOCK_HOLDS=6 v run c\n\n7 u run a\n8 u run b\0RLOCK_NAME=a\nb\0RLOCK_KIND=run\nrun\0"
        "RLOCK_OWNER=u\nu\0RLOCK_TOKEN=7\n8\0RLOCK_SERVER=unix:///s\0";
    for (size_t size = 0; size <= sizeof expected + 1; size++) {
        char *list = malloc(size > 0 ? size : 1); /* so that a sanitizer sees the end */
        assert_non_null(list);
        const bool fits = environment_write(&enclosing, &lock, "run", "unix:///s", list, size);
        if (fits != (size >= sizeof expected))
            fail_msg("%zu bytes", size);
        if (fits)
            assert_memory_equal(list, expected, sizeof expected);
        free(list);
    }
    environment_free(&enclosing);
}

/* A variable of the caller's stays as it was. */
static void the_callers_server_stays(void **state) {
    (void)state;
    struct rlock__resource resources[] = {held("a", "u", 7)};
    const struct rlock_lock lock = {.resources = resources, .resource_count = 1};
    const struct environment enclosing = {.count = 0};
    set("RLOCK_SERVER", "redis://:s3cr3t@h");
    hand_down(&enclosing, &lock, NULL);
    assert_environment("RLOCK_SERVER", "redis://:s3cr3t@h");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reads_what_the_record_says, forget),
        cmocka_unit_test_setup(the_other_variables_prove_nothing, forget),
        cmocka_unit_test_setup(hands_down_one, forget),
        cmocka_unit_test_setup(hands_down_several_and_those_around, forget),
        cmocka_unit_test_setup(the_inner_kind_of_a_name_is_told, forget),
        cmocka_unit_test_setup(hands_down_a_name_that_is_not_held, forget),
        cmocka_unit_test_setup(what_is_passed_is_not_recorded, forget),
        cmocka_unit_test_setup(the_record_does_not_grow, forget),
        cmocka_unit_test_setup(a_list_that_does_not_fit_is_refused, forget),
        cmocka_unit_test_setup(the_callers_server_stays, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
