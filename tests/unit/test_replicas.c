/* test_replicas.c: what is written counts once the replicas that are wanted have it. */
#include "servers.h"

#include <string.h>

static void begin_one(struct servers *f, const char *const *answers, int replicas) {
    begin(f, 1, &answers);
    f->sites[0].replicas = replicas;
    f->call.replicated = true;
}

/* WAIT goes over the connection that has written: it counts for that one only. */
static void a_yes_is_confirmed_by_replicas(void **state) {
    (void)state;
    static const struct {
        int wanted;
        const char *have;
    } rows[] = {{1, ":1\r\n"}, {1, ":3\r\n"}, {2, ":2\r\n"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct servers f;
        const char *const answers[] = {YES(17), rows[i].have, NULL};
        const char *words[] = {"WAIT", rows[i].wanted == 1 ? "1" : "2", "70", NULL};
        begin_one(&f, answers, rows[i].wanted);
        run_until(&f, 1, LONG_MS, -1);
        assert_int_equal(f.runs[0].status, RLOCK_OK);
        assert_false(f.runs[0].unconfirmed);
        assert_int_equal(f.runs[0].answer.a, 17); /* the answer stays the script's */
        assert_int_equal(rlock__reply_count(f.runs[0].answer.reply), 3);
        assert_false(f.routes[0].in_doubt);
        end(&f);
        assert_words(&f, 0, 1, words);
        assert_int_equal(f.peers[0].requests[1].connection, 1);
        forget(&f);
    }
}

/* It may stand on a master that is none any more: asked for again, or given back. */
static void too_few_replicas_confirm_nothing(void **state) {
    (void)state;
    static const struct {
        int wanted;
        const char *have;
        enum rlock_status status;
        const char *error;
    } rows[] = {
        {1, ":0\r\n", RLOCK_AGAIN, "0 of 1 replicas acknowledged it in time (see --replicas)"},
        {3, ":2\r\n", RLOCK_AGAIN, "2 of 3 replicas acknowledged it in time (see --replicas)"},
        {1, "+OK\r\n", RLOCK_AGAIN, "0 of 1 replicas acknowledged it in time (see --replicas)"},
        {1, "-LOADING wait\r\n", RLOCK_AGAIN, "LOADING wait"},
        {1, "-NOPERM no\r\n", RLOCK_DENIED, "no"},
        /* The master has become a replica between the two commands. */
        {1, "-ERR WAIT cannot be used with replica instances. Please also note\r\n", RLOCK_AGAIN,
         "ERR WAIT cannot be used with replica instances. Please also note"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct servers f;
        const char *const answers[] = {YES(17), rows[i].have, NULL};
        begin_one(&f, answers, rows[i].wanted);
        run_until(&f, 1, LONG_MS, -1);
        if (f.runs[0].status != rows[i].status ||
            strcmp(f.routes[0].error.text, rows[i].error) != 0)
            fail_msg("%s: %s: %s", rows[i].have, rlock_status_text(f.runs[0].status),
                     f.routes[0].error.text);
        assert_true(f.runs[0].unconfirmed);
        assert_null(f.runs[0].answer.reply);
        assert_int_equal(f.routes[0].astray, rows[i].status == RLOCK_AGAIN);
        end(&f);
        forget(&f);
    }
}

static void replicas_that_say_nothing_confirm_nothing(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        const char *error;
    } rows[] = {
        {PEER_SILENT, "the replicas did not acknowledge it in time"},
        {PEER_CLOSE, "the server closed the connection"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct servers f;
        const char *const answers[] = {YES(17), rows[i].answer, NULL};
        begin_one(&f, answers, 1);
        run_until(&f, 1, rows[i].answer == PEER_SILENT ? SHORT_MS : LONG_MS, -1);
        assert_int_equal(f.runs[0].status, RLOCK_AGAIN);
        assert_true(f.runs[0].unconfirmed);
        assert_null(f.runs[0].answer.reply);
        assert_string_equal(f.routes[0].error.text, rows[i].error);
        end(&f);
        assert_int_equal(f.peers[0].request_count, 2);
        forget(&f);
    }
}

static void what_needs_no_replica_asks_for_none(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        int replicas;
        bool replicated;
    } rows[] = {
        {YES(17), 0, true},
        {YES(17), 1, false},                  /* nothing that must last: a release */
        {NO, 1, true},                        /* nothing was written */
        {YES(17), RLOCK_REPLICAS_AUTO, true}, /* none is known of */
        {"-LOADING wait\r\n", 1, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct servers f;
        const char *const answers[] = {rows[i].answer, NULL};
        begin_one(&f, answers, rows[i].replicas);
        f.call.replicated = rows[i].replicated;
        run_until(&f, 1, LONG_MS, -1);
        assert_false(f.runs[0].unconfirmed);
        end(&f);
        assert_int_equal(f.peers[0].request_count, 1);
        forget(&f);
    }
}

static void where_a_replica_is_known_one_is_wanted(void **state) {
    (void)state;
    struct servers f;
    static const char *const answers[] = {YES(17), ":1\r\n", NULL};
    const char *words[] = {"WAIT", "1", "70", NULL};
    begin_one(&f, answers, RLOCK_REPLICAS_AUTO);
    f.routes[0].has_replica = true;
    run_until(&f, 1, LONG_MS, -1);
    assert_int_equal(f.runs[0].status, RLOCK_OK);
    end(&f);
    assert_words(&f, 0, 1, words);
    forget(&f);
}

/* Each server of several asks its own; who is not confirmed does not count for the majority. */
static void of_several_each_is_confirmed_by_its_own(void **state) {
    (void)state;
    struct servers f;
    const char *const *answers[] = {(const char *const[]){YES(5), ":1\r\n", NULL},
                                    (const char *const[]){YES(6), ":0\r\n", NULL},
                                    (const char *const[]){YES(7), ":1\r\n", NULL}};
    begin(&f, 3, answers);
    f.call.replicated = true;
    for (size_t i = 0; i < 3; i++)
        f.sites[i].replicas = 1;
    run_until(&f, 2, LONG_MS, -1);
    assert_int_equal(f.runs[0].status, RLOCK_OK);
    assert_int_equal(f.runs[1].status, RLOCK_AGAIN);
    assert_int_equal(f.runs[2].status, RLOCK_OK);
    end(&f);
    forget(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_yes_is_confirmed_by_replicas),
        cmocka_unit_test(too_few_replicas_confirm_nothing),
        cmocka_unit_test(replicas_that_say_nothing_confirm_nothing),
        cmocka_unit_test(what_needs_no_replica_asks_for_none),
        cmocka_unit_test(where_a_replica_is_known_one_is_wanted),
        cmocka_unit_test(of_several_each_is_confirmed_by_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
