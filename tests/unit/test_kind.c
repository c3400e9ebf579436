/* test_kind.c: the table of kinds, and the keys it names (WIRE.md: the same as Redisson's). */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "kind.h"

static void assert_key(const char *pattern, const char *name, const char *expected) {
    char *key = rlock__kind_key(pattern, name);
    assert_non_null(key);
    assert_string_equal(key, expected);
    free(key);
}

static void keys_of_a_mutex(void **state) {
    (void)state;
    static const struct {
        const char *name;
        const char *keys[6]; /* the channel last */
    } rows[] = {
        {"deploy",
         {"deploy", "redisson_lock_token:{deploy}", "rlock_info:{deploy}", "rlock_hold:{deploy}",
          "rlock_waiters:{deploy}", "redisson_lock__channel:{deploy}"}},
        {"a{b}c",
         {"a{b}c", "redisson_lock_token:a{b}c", "rlock_info:a{b}c", "rlock_hold:a{b}c",
          "rlock_waiters:a{b}c", "redisson_lock__channel:a{b}c"}},
        {"{x}",
         {"{x}", "redisson_lock_token:{x}", "rlock_info:{x}", "rlock_hold:{x}", "rlock_waiters:{x}",
          "redisson_lock__channel:{x}"}},
        {"a}*b", /* no opening brace: ours go around it */
         {"a}*b", "redisson_lock_token:{a}*b}", "rlock_info:{a}*b}", "rlock_hold:{a}*b}",
          "rlock_waiters:{a}*b}", "redisson_lock__channel:{a}*b}"}},
    };
    const struct rlock__kind *kind = rlock__kind_find("run");
    assert_non_null(kind);
    assert_null(kind->keys[5]);
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t k = 0; k < 5; k++)
            assert_key(kind->keys[k], rows[i].name, rows[i].keys[k]);
        assert_key(kind->channel, rows[i].name, rows[i].keys[5]);
    }
}

static void a_long_name_fits(void **state) {
    (void)state;
    char name[513], expected[520];
    memset(name, 'x', 512);
    name[512] = '\0';
    (void)strcat(strcat(strcpy(expected, "p:{"), name), "}");
    assert_key("p:{*}", name, expected);
}

static void there_is_no_other_kind(void **state) {
    (void)state;
    static const char *const none[] = {"", "ru", "runs", "RUN", "run ", "mutex"};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_null(rlock__kind_find(none[i]));
}

static void assert_script(const struct rlock__script *script, const char *name) {
    assert_string_equal(script->name, name);
    assert_int_equal(strlen(script->sha1), 40);
    assert_int_equal(strspn(script->sha1, "0123456789abcdef"), 40);
    assert_true(script->size > 0);
    assert_memory_equal(script->body, "-- ", 3);
}

static void each_verb_has_its_script(void **state) {
    (void)state;
    const struct rlock__kind *kind = rlock__kind_find("run");
    assert_script(kind->acquire, "mutex_acquire");
    assert_script(kind->renew, "mutex_renew");
    assert_script(kind->release, "mutex_release");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_a_mutex),
        cmocka_unit_test(a_long_name_fits),
        cmocka_unit_test(there_is_no_other_kind),
        cmocka_unit_test(each_verb_has_its_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
