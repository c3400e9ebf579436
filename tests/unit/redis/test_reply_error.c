/* test_reply_error.c: what the errors of Redis 7.0 and 8.0 and of Valkey 8.1 mean for us. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "redis/reply_error.h"

/* What a script puts behind the error of a command that it called. */
#define TAIL " script: 1d2ee2d5d3ba9b1b4ad2b4b8a3d9f3f0f9f0c0b1, on @user_script:1."

static const struct {
    const char *text;
    enum rlock_status status;
} rows[] = {
    {"NOAUTH Authentication required.", RLOCK_DENIED},
    {"WRONGPASS invalid username-password pair or user is disabled.", RLOCK_DENIED},
    {"NOPERM this user has no permissions to run the 'evalsha' command", RLOCK_DENIED},
    {"NOPERM No permissions to access a key", RLOCK_DENIED},
    {"ERR Protocol error: unauthenticated multibulk length", RLOCK_DENIED},
    {"ERR The user executing the script can't run this command or subcommand", RLOCK_DENIED},
    {"ERR The user executing the script can't access at least one of the keys mentioned in the "
     "command arguments",
     RLOCK_DENIED},
    {"ERR ACL failure in script: User lk has no permissions to run the 'publish' command",
     RLOCK_DENIED},
    {"ERR AUTH <password> called without any password configured for the default user. Are you "
     "sure your configuration is correct?",
     RLOCK_OK}, /* who needs no password takes any */
    {"ERR Client sent AUTH, but no password is set", RLOCK_OK},
    {"ERR invalid password", RLOCK_DENIED},
    {"DENIED Redis is running in protected mode because protected mode is enabled", RLOCK_DENIED},
    {"WRONGTYPE Operation against a key holding the wrong kind of value", RLOCK_WRONG_KIND},
    {"LOADING Redis is loading the dataset in memory", RLOCK_AGAIN},
    {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     RLOCK_AGAIN},
    {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
     RLOCK_AGAIN},
    {"CLUSTERDOWN The cluster is down", RLOCK_AGAIN},
    {"TRYAGAIN Multiple keys request during rehashing of slot", RLOCK_AGAIN},
    {"NOREPLICAS Not enough good replicas to write.", RLOCK_AGAIN},
    {"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
     "disk.",
     RLOCK_AGAIN},
    {"OOM command not allowed when used memory > 'maxmemory'.", RLOCK_AGAIN},
    {"READONLY You can't write against a read only replica.", RLOCK_AGAIN},
    {"UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
     RLOCK_AGAIN},
    {"ERR max number of clients reached", RLOCK_AGAIN},
    {"ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a "
     "replica is configured to be writable",
     RLOCK_AGAIN},
    {"CROSSSLOT Keys in request don't hash to the same slot", RLOCK_REFUSED},
    {"MOVED 3999 127.0.0.1:6381", RLOCK_UNAVAILABLE},
    {"ERR This instance has cluster support disabled", RLOCK_UNAVAILABLE},
    /* A bug of ours, or a server that we do not know: nothing that passes by itself. */
    {"ERR unknown command 'EVALSHA', with args beginning with: ", RLOCK_UNAVAILABLE},
    {"ERR wrong number of arguments", RLOCK_UNAVAILABLE},
    {"", RLOCK_UNAVAILABLE},
    /* Only the beginning counts: the rest may quote anything. */
    {"ERR user_script:12: NOAUTH is what a value said", RLOCK_UNAVAILABLE},
    {" OOM", RLOCK_UNAVAILABLE},
    {"oom", RLOCK_UNAVAILABLE},
};

static void assert_refusal(const char *text, enum rlock_status expected) {
    const char *plain = NULL;
    const enum rlock_status status = rlock__reply_error_status(text, &plain);
    if (status != expected)
        fail_msg("'%s': %s, not %s", text, rlock_status_text(status), rlock_status_text(expected));
    assert_non_null(plain);
    assert_true(*plain != '\0' || *text == '\0');
    assert_true(strstr(text, plain) != NULL ||
                strchr(plain, ' ') != NULL); /* theirs, or a sentence */
}

static void a_missing_password_is_told_in_plain_words(void **state) {
    (void)state;
    static const char *const texts[] = {"NOAUTH Authentication required.",
                                        "ERR Protocol error: unauthenticated multibulk length",
                                        "ERR Protocol error: unauthenticated bulk length"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        const char *plain = NULL;
        (void)rlock__reply_error_status(texts[i], &plain);
        assert_string_equal(plain, "the server wants a password");
    }
}

static void a_missing_right_is_named_where_the_server_names_it(void **state) {
    (void)state;
    const char *plain = NULL;
    (void)rlock__reply_error_status(
        "ERR The user executing the script can't run this command or subcommand" TAIL, &plain);
    assert_string_equal(plain, "this user has no right to all that the lock needs");
    const char *named = "NOPERM this user has no right to ZADD"; /* lua/include/rights.lua */
    assert_int_equal(rlock__reply_error_status(named, &plain), RLOCK_DENIED);
    assert_string_equal(plain, "this user has no right to ZADD");
    named = "ERR ACL failure in script: User app has no permissions to run the 'zadd' command";
    assert_int_equal(rlock__reply_error_status(named, &plain), RLOCK_DENIED);
    assert_string_equal(plain, "User app has no permissions to run the 'zadd' command");
}

static void each_text_has_its_meaning(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_refusal(rows[i].text, rows[i].status);
}

static void in_a_script_too(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        (void)snprintf(text, sizeof text, "%s" TAIL, rows[i].text);
        assert_refusal(text, rows[i].status);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_has_its_meaning),
        cmocka_unit_test(in_a_script_too),
        cmocka_unit_test(a_missing_password_is_told_in_plain_words),
        cmocka_unit_test(a_missing_right_is_named_where_the_server_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
