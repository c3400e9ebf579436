/* test_kind.c: the table of kinds, and the keys it names (the same as Redisson's). */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "lock/kind.h"

static void assert_key(const char *pattern, const char *name, const char *expected) {
    char *key = rlock__kind_key(pattern, name);
    assert_non_null(key);
    assert_string_equal(key, expected);
    free(key);
}

/* All of a kind's keys, and last its channel. */
#define COMMON(fourth)                                                                             \
    "x", "redisson_lock_token:{x}", "rlock_info:{x}", fourth ":{x}", "rlock_waiters:{x}",          \
        "rlock_beats:{x}", "rlock_queuers:{x}"
#define MUTEX                                                                                      \
    COMMON("rlock_leases"), "redisson_lock_queue:{x}", "redisson_lock_timeout:{x}",                \
        "rlock_queue:{x}", "rlock_queue_beats:{x}", "redisson_lock__channel:{x}"
#define RW                                                                                         \
    COMMON("rlock_leases"), "{x}:wait_write", "rlock_writers:{x}", "rlock_writer_beats:{x}",       \
        "rlock_told:{x}", "redisson_rwlock:{x}"
#define SEM COMMON("rlock_hold"), "{x}:timeout", "rlock_wants:{x}", "redisson_sc:{x}"

static const struct {
    const char *kind, *keys[RLOCK__KEYS_MAX + 2];
} named[] = {
    {"run", {MUTEX}},
    {"fair", {MUTEX}},
    {"read", {RW}},
    {"write", {RW}},
    {"sem", {SEM}},
    {"plain", {SEM}},
    {"latch", {COMMON("rlock_hold"), "{x}:timeout", "redisson_countdownlatch__channel__{x}"}},
};

static void assert_names(const struct rlock__kind *kind, const char *name,
                         const char *const *expected) {
    size_t k = 0;
    for (; k < RLOCK__KEYS_MAX && kind->keys[k] != NULL; k++) {
        assert_non_null(expected[k]);
        assert_key(kind->keys[k], name, expected[k]);
    }
    assert_non_null(expected[k]);
    assert_key(kind->channel, name, expected[k]);
    assert_null(expected[k + 1]);
}

TEST(the_record_of_runs_is_that_of_a_name) {
    static const char *const with[] = {"run", "fair"}, *const without[] = {"read", "sem", "latch"};
    for (size_t i = 0; i < COUNT(with); i++) {
        assert_key(rlock__kind_find(with[i])->record, "x", "rlock_last:{x}");
        assert_key(rlock__kind_find(with[i])->record, "a{x}", "rlock_last:a{x}");
    }
    for (size_t i = 0; i < COUNT(without); i++)
        assert_null(rlock__kind_find(without[i])->record);
}

TEST(keys_are_those_of_redisson) {
    for (size_t i = 0; i < COUNT(named); i++) {
        const struct rlock__kind *kind = rlock__kind_find(named[i].kind);
        assert_non_null(kind);
        assert_names(kind, "x", named[i].keys);
    }
}

TEST(braces_of_a_name) {
    assert_key("p:{*}", "{x}", "p:{x}");
    assert_key("p:{*}", "a{b}c", "p:a{b}c");
    assert_key("*", "a{b}c", "a{b}c");
    /* A latch's channel is in braces whatever the name. */
    assert_key(rlock__kind_find("latch")->channel, "a{b}c",
               "redisson_countdownlatch__channel__{a{b}c}");
    assert_key("{*}:s", "{x}", "{x}:s");
    assert_key("p:{*}", "a}*b", "p:{a}*b}"); /* no opening brace: ours go around it */
    assert_key("p<*>", "{x}", "p{{x}}");
}

TEST(a_long_name_fits) {
    char name[513], expected[520];
    memset(name, 'x', 512);
    name[512] = '\0';
    (void)strcat(strcat(strcpy(expected, "p:{"), name), "}");
    assert_key("p:{*}", name, expected);
}

TEST(there_is_no_other_kind) {
    static const char *const none[] = {"", "ru", "runs", "RUN", "run ", "mutex", "latches"};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_null(rlock__kind_find(none[i]));
}

static void assert_script(const struct rlock__script *script, const char *name) {
    if (name == NULL) {
        assert_null(script);
        return;
    }
    assert_string_equal(script->name, name);
    assert_int_equal(strlen(script->sha1), 40);
    assert_int_equal(strspn(script->sha1, "0123456789abcdef"), 40);
    assert_true(script->size > 0);
}

TEST(each_verb_has_its_script) {
    static const struct {
        const char *kind, *acquire, *renew, *release, *restore;
    } rows[] = {
        {"run", "mutex_acquire", "mutex_renew", "mutex_release", "mutex_restore"},
        {"fair", "fair_acquire", "mutex_renew", "mutex_release", NULL},
        {"read", "read_acquire", "rw_renew", "rw_release", "rw_restore"},
        {"write", "write_acquire", "rw_renew", "rw_release", "rw_restore"},
        {"sem", "sem_acquire", "sem_renew", "sem_release", NULL},
        {"plain", "sem_plain_acquire", NULL, "sem_plain_release", NULL},
        {"latch", "latch_acquire", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct rlock__kind *kind = rlock__kind_find(rows[i].kind);
        assert_script(kind->acquire, rows[i].acquire);
        assert_script(kind->renew, rows[i].renew);
        assert_script(kind->release, rows[i].release);
        assert_script(kind->restore, rows[i].restore);
    }
    assert_script(RLOCK__TOKEN_RAISE, "token_raise");
    assert_script(RLOCK__LATCH_SET, "latch_set");
    assert_script(RLOCK__LATCH_DOWN, "latch_down");
    assert_script(RLOCK__SEM_RESIZE, "sem_resize");
}

/* Those that a majority of independent servers can hold: who is in the way is one owner, and what
 * is held counts once. */
TEST(which_kinds_live_on_several_servers) {
    for (size_t i = 0; i < COUNT(named); i++) {
        const char *name = named[i].kind;
        const bool shareable =
            strcmp(name, "run") == 0 || strcmp(name, "read") == 0 || strcmp(name, "write") == 0;
        assert_int_equal(rlock__kind_find(name)->shareable, shareable);
    }
}
