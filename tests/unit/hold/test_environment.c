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

static void set_innermost(const char *name, const char *kind, const char *owner,
                          const char *token) {
    set("RLOCK_NAME", name);
    set("RLOCK_KIND", kind);
    set("RLOCK_OWNER", owner);
    set("RLOCK_TOKEN", token);
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

static void reads_what_the_environment_tells(void **state) {
    (void)state;
    static const struct {
        const char *record, *name, *kind, *owner, *token, *proofs;
    } rows[] = {
        {NULL, NULL, NULL, NULL, NULL, ""},
        {NULL, "a", "run", "u:1@h", "7", "run a u:1@h 7;"},
        {NULL, "a\nb", "run\nrun", "u:1@h\nv:2@h", "7\n9", "run a u:1@h 7;run b v:2@h 9;"},
        {NULL, " a b ", "run", "u", "7", "run  a b  u 7;"},
        {NULL, "a", "run", "u", "9223372036854775807", "run a u 9223372036854775807;"},
        /* Any kind. What is held without a token, a latch, is no proof. */
        {NULL, "a\nb", "read\nread", "u\nu", "7\n9", "read a u 7;read b u 9;"},
        {"3 u write a", "a", "read", "u", "3", "write a u 3;read a u 3;"},
        {"3 u run a", "b", "latch", "v", "0", "run a u 3;"},
        {"3 u run a", "b", "latch", NULL, NULL, "run a u 3;"},
        /* The innermost last: the library takes the last proof of a name. */
        {"3 u:1@h run a", "a", "run", "v:2@h", "5", "run a u:1@h 3;run a v:2@h 5;"},
        {"3 u run a\n4 v run b c", "d", "run", "w", "5", "run a u 3;run b c v 4;run d w 5;"},
        /* What can't be read is no proof; what can beside it still is. */
        {NULL, "a", "run", "u", NULL, ""},
        {NULL, "a", "run", NULL, "7", ""},
        {NULL, "a", NULL, "u", "7", ""},
        {NULL, NULL, "run", "u", "7", ""},
        {NULL, "", "", "", "", ""},
        {NULL, "a", "run", "", "7", ""},
        {NULL, "a", "", "u", "7", ""},
        {NULL, "a", "run fair", "u", "7", ""},
        {NULL, "a", "RUN", "u", "7", ""},
        {NULL, "a", "run", "u", "7x", ""},
        {NULL, "a", "run", "u", "", ""},
        {NULL, "a", "run", "u", "0", ""},
        {NULL, "a", "run", "u", "-7", ""},
        {NULL, "a\nb", "run\nrun", "u\nv", "7", "run a u 7;"},
        {NULL, "a\nb", "run", "u\nv", "7\n8", "run a u 7;"},
        {"", "a", "run", "u", "7", "run a u 7;"},
        {"\n\n3\n3 u\n3 u run\n3 u run \nx u run a\n4 v run b\n", NULL, NULL, NULL, NULL,
         "run b v 4;"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct environment holds;
        set("RLOCK_HOLDS", rows[i].record);
        set_innermost(rows[i].name, rows[i].kind, rows[i].owner, rows[i].token);
        assert_true(environment_read(&holds));
        const char *proofs = told(&holds);
        if (strcmp(proofs, rows[i].proofs) != 0)
            fail_msg("row %zu: '%s', not '%s'", i, proofs, rows[i].proofs);
    }
}

/* However long the record is, the innermost holds count. */
static void the_innermost_is_never_dropped(void **state) {
    (void)state;
    static char record[64 * 1024];
    size_t length = 0;
    struct environment holds;
    for (int i = 0; i < 1000; i++)
        length +=
            (size_t)snprintf(record + length, sizeof record - length, "%d u run n%d\n", i + 1, i);
    set("RLOCK_HOLDS", record);
    set_innermost("inner", "run", "v", "5000");
    assert_true(environment_read(&holds));
    assert_true(holds.count > 0);
    assert_string_equal(holds.proofs[holds.count - 1].name, "inner");
    environment_free(&holds);
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
    assert_environment("RLOCK_HOLDS", NULL);
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
    set("RLOCK_HOLDS", "3 x run a");
    set_innermost("c", "run", "stale", "2"); /* c is held anew: its old proof is worth nothing */
    assert_true(environment_read(&enclosing));
    hand_down(&enclosing, &lock, "redis://h:6379");
    assert_environment("RLOCK_NAME", "b b\nc");
    assert_environment("RLOCK_KIND", "run\nrun");
    assert_environment("RLOCK_OWNER", "u\nv");
    assert_environment("RLOCK_TOKEN", "7\n9");
    assert_environment("RLOCK_HOLDS", "3 x run a");
    assert_environment("RLOCK_SERVER", "redis://h:6379");
    environment_free(&enclosing);
    assert_true(environment_read(&enclosing));
    assert_string_equal(told(&enclosing), "run a x 3;run b b u 7;run c v 9;");
}

/* A downgrade: the read hold inside the write hold has its owner and token, and takes its line. */
static void the_inner_kind_of_a_name_is_told(void **state) {
    (void)state;
    struct rlock__resource resources[] = {held("a", "u", 7)};
    const struct rlock_lock lock = {.resources = resources, .resource_count = COUNT(resources)};
    struct environment enclosing;
    set("RLOCK_HOLDS", "3 x fair b\n4 y sem c");
    set_innermost("a", "write", "u", "7");
    assert_true(environment_read(&enclosing));
    char list[4096];
    assert_true(environment_write(&enclosing, &lock, "read", NULL, list, sizeof list));
    do_as_told(list);
    assert_environment("RLOCK_KIND", "read");
    assert_environment("RLOCK_HOLDS", "3 x fair b\n4 y sem c");
    environment_free(&enclosing);
}

/* `latch down`: nothing is held, and the holds around are kept. */
static void hands_down_a_name_that_is_not_held(void **state) {
    (void)state;
    struct environment enclosing;
    char list[4096];
    set("RLOCK_HOLDS", "3 x write a");
    set_innermost("b", "run", "u", "7");
    assert_true(environment_read(&enclosing));
    assert_true(
        environment_write_name(&enclosing, "l", "latch", "redis://h:6379", list, sizeof list));
    do_as_told(list);
    assert_environment("RLOCK_NAME", "l");
    assert_environment("RLOCK_KIND", "latch");
    assert_environment("RLOCK_OWNER", NULL);
    assert_environment("RLOCK_TOKEN", NULL);
    assert_environment("RLOCK_HOLDS", "3 x write a\n7 u run b");
    assert_environment("RLOCK_SERVER", "redis://h:6379");
    assert_false(environment_write_name(&enclosing, "l", "latch", NULL, list, 60));
    environment_free(&enclosing);
    assert_true(environment_read(&enclosing));
    assert_string_equal(told(&enclosing), "write a x 3;run b u 7;");
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
    assert_environment("RLOCK_HOLDS", "3 x run a\n55 u run b");
    assert_environment("RLOCK_NAME", "c");
}

static void a_list_that_does_not_fit_is_refused(void **state) {
    (void)state;
    struct rlock__resource resources[] = {held("a", "u", 7), held("b", "u", 8)};
    const struct rlock_lock lock = {.resources = resources, .resource_count = COUNT(resources)};
    struct environment enclosing;
    set_innermost("c", "run", "v", "6");
    assert_true(environment_read(&enclosing));
    static const char expected[] = "RLOCK_HOLDS=6 v run c\0RLOCK_NAME=a\nb\0RLOCK_KIND=run\nrun\0"
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
        cmocka_unit_test_setup(reads_what_the_environment_tells, forget),
        cmocka_unit_test_setup(the_innermost_is_never_dropped, forget),
        cmocka_unit_test_setup(hands_down_one, forget),
        cmocka_unit_test_setup(hands_down_several_and_those_around, forget),
        cmocka_unit_test_setup(the_inner_kind_of_a_name_is_told, forget),
        cmocka_unit_test_setup(hands_down_a_name_that_is_not_held, forget),
        cmocka_unit_test_setup(the_record_does_not_grow, forget),
        cmocka_unit_test_setup(a_list_that_does_not_fit_is_refused, forget),
        cmocka_unit_test_setup(the_callers_server_stays, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
