/* test_kind.c: the table of kinds, and the keys it names (the same as Redisson's). */
#include "support/test.h"

#include <stdlib.h>

#include "lock/kind.h"

static void assert_key(const char *pattern, const char *name, const char *expected) {
    char *key = rlock__kind_key(pattern, name);
    assert_string_equal(key, expected);
    free(key);
}

/* All of a kind's keys, and last by what its scripts tell. */
#define COMMON(fourth)                                                                             \
    "x", "redisson_lock_token:{x}", "rlock_info:{x}", fourth ":{x}", "rlock_waiters:{x}",          \
        "rlock_beats:{x}", "rlock_queuers:{x}"
#define MUTEX                                                                                      \
    COMMON("rlock_leases"), "redisson_lock_queue:{x}", "redisson_lock_timeout:{x}",                \
        "rlock_queue:{x}", "rlock_queue_beats:{x}", "SPUBLISH redisson_lock__channel:{x}"
#define RW                                                                                         \
    COMMON("rlock_leases"), "{x}:wait_write", "rlock_writers:{x}", "rlock_writer_beats:{x}",       \
        "rlock_told:{x}", "SPUBLISH redisson_rwlock:{x}"
#define SEM   COMMON("rlock_hold"), "{x}:timeout", "rlock_wants:{x}", "SPUBLISH redisson_sc:{x}"
#define LATCH COMMON("rlock_hold"), "{x}:timeout", "SPUBLISH redisson_countdownlatch__channel__{x}"

/* A record of runs is a name's, and a majority of independent servers can hold only that of which
 * one owner is in the way. */
TEST(each_kind_has_its_keys) {
    static const struct {
        const char *kind, *record;
        bool shareable, renews;
        const char *keys[RLOCK__KEYS_MAX + 2];
    } rows[] = {
        {"run", "rlock_last:{x}", true, true, {MUTEX}},
        {"fair", "rlock_last:{x}", false, true, {MUTEX}},
        {"read", NULL, true, true, {RW}},
        {"write", NULL, true, true, {RW}},
        {"sem", NULL, false, true, {SEM}},
        {"plain", NULL, false, false, {SEM}},
        {"latch", NULL, false, false, {LATCH}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct rlock__kind *kind = rlock__kind_find(rows[i].kind);
        size_t k = 0;
        for (; k < RLOCK__KEYS_MAX && kind->keys[k] != NULL; k++)
            assert_key(kind->keys[k], "x", rows[i].keys[k]);
        assert_key(kind->publish, "x", rows[i].keys[k]);
        assert_null(rows[i].keys[k + 1]);
        if (rows[i].record != NULL)
            assert_key(kind->record, "x", rows[i].record);
        else
            assert_null(kind->record);
        assert_int_equal(kind->restore != NULL, rows[i].shareable);
        assert_int_equal(kind->renew != NULL, rows[i].renews);
        assert_int_equal(kind->check != NULL, rows[i].renews);
    }
}

TEST(braces_of_a_name) {
    static const char *const rows[][3] = {
        {"p:{*}", "{x}", "p:{x}"},     {"p:{*}", "a{b}c", "p:a{b}c"}, {"*", "a{b}c", "a{b}c"},
        {"{*}:s", "{x}", "{x}:s"},     {"p:{*}", "a}*b", "p:{a}*b}"}, /* no opening brace: ours go
                                                                         around it */
        {"p<*>", "{x}", "p{{x}}"}, /* a latch's channel is in braces whatever the name */
        {"p<*>", "a{b}c", "p{a{b}c}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_key(rows[i][0], rows[i][1], rows[i][2]);
}
