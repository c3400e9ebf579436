/* test_reply_error.c: what the errors of Redis and Valkey, of stricter servers and of proxies mean
 * for us. */
#include "support/test.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "redis/link.h"

/* What a script puts behind the error of a command that it called. */
#define TAIL " script: 1d2ee2d5d3ba9b1b4ad2b4b8a3d9f3f0f9f0c0b1, on @user_script:1."

enum { STAYS = 0x100 };

static void assert_means(const char *said, const char *tail, int outcome) {
    const char *plain = NULL;
    char text[512];
    (void)snprintf(text, sizeof text, "%s%s", said, tail);
    const enum rlock_status status = rlock__reply_error_status(text, &plain);
    struct rlock__error error;
    struct rlock__link link = {.stage = RLOCK__READY, .error = &error};
    const rlock__reply reply = {.type = REDIS_REPLY_ERROR, .str = text, .len = strlen(text)};
    if ((int)status != (outcome & ~STAYS) || rlock__reply_judge(&link, &reply) != status)
        fail_msg("'%s': %s", text, rlock_status_text(status));
    assert_string_not_equal(error.text, "");
    if (link.astray != (outcome == RLOCK_AGAIN))
        fail_msg("'%s': asked elsewhere: %d", text, link.astray);
    assert_true(plain != NULL && (*plain != '\0' || *text == '\0'));
    /* Theirs, or a sentence. */
    assert_true(strstr(text, plain) != NULL || strchr(plain, ' ') != NULL);
}

/* Who is no master, or none yet, may have been replaced: the next request uses a new connection.
 * Who is only busy is the right one to ask. */
TEST(each_text_has_its_meaning) {
    static const struct {
        int outcome; /* a status, and STAYS */
        const char *texts[20];
    } rows[] = {
        {RLOCK_DENIED,
         {"NOAUTH Authentication required.",
          "WRONGPASS invalid username-password pair or user is disabled.",
          "NOPERM this user has no permissions to run the 'evalsha' command",
          "ERR Protocol error: unauthenticated multibulk length",
          "ERR The user executing the script can't run this command or subcommand",
          "ERR ACL failure in script: User lk has no permissions to run the 'publish' command",
          "ERR invalid password",
          "DENIED Redis is running in protected mode because protected mode is enabled"}},
        {RLOCK_OK,
         {/* Who needs no password takes any. */
          "ERR AUTH <password> called without any password configured for the default user.",
          "ERR Client sent AUTH, but no password is set"}},
        {RLOCK_WRONG_KIND, {"WRONGTYPE Operation against a key holding the wrong kind of value"}},
        {RLOCK_AGAIN,
         {"LOADING Redis is loading the dataset in memory", "MASTERDOWN Link with MASTER is down",
          "CLUSTERDOWN The cluster is down", "NOREPLICAS Not enough good replicas to write.",
          "MISCONF Redis is configured to save RDB snapshots",
          "READONLY You can't write against a read only replica.",
          "ERR max number of clients reached",
          "ERR WAIT cannot be used with replica instances. Please also note",
          /* It may pass. So may what nobody knows. */
          "ERR Script attempted to access a non local key in a cluster node",
          "ERR Script killed by user with SCRIPT KILL.", "upstream failure", " WRONGTYPE", ""}},
        {RLOCK_AGAIN | STAYS,
         {"BUSY Redis is busy running a script. You can only call SCRIPT KILL.",
          "TRYAGAIN Multiple keys request during rehashing of slot",
          "OOM command not allowed when used memory > 'maxmemory'.",
          "UNBLOCKED force unblock from blocking operation"}},
        {RLOCK_REFUSED, {"CROSSSLOT Keys in request don't hash to the same slot"}},
        {RLOCK_UNAVAILABLE,
         {"MOVED 3999 127.0.0.1:6381", "ERR This instance has cluster support disabled",
          /* A bug of ours, or a server of another kind: nothing that passes by itself. */
          "ERR unknown command 'EVALSHA', with args beginning with: ",
          "ERR unknown command `EVAL`, with args beginning with: ", "ERR unknown command 'wait'",
          "ERR command eval not support for normal user",
          "ERR wrong number of arguments for 'auth' command", "ERR older than Redis 6.0",
          "ERR bad lua script for redis cluster, all the keys that the script uses",
          "ERR for redis cluster, eval/evalsha number of keys",
          "ERR Script attempted to access keys that do not hash to the same slot",
          "ERR Unknown Redis command called from script",
          "ERR Error compiling script (new function): user_script:1: unexpected symbol",
          /* Only the beginning counts: the rest may quote anything. */
          "ERR user_script:12: NOAUTH is what a value said"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (const char *const *text = rows[i].texts; *text != NULL; text++) {
            assert_means(*text, "", rows[i].outcome);
            assert_means(*text, TAIL, rows[i].outcome);
        }
    }
}

TEST(what_is_missing_is_told_in_plain_words) {
    static const struct {
        const char *text, *plain;
    } rows[] = {
        {"NOAUTH Authentication required.", "the server wants a password"},
        {"ERR Protocol error: unauthenticated bulk length", "the server wants a password"},
        {"ERR The user executing the script can't run this command or subcommand" TAIL,
         "this user has no right to all that the lock needs"},
        /* lua/include/rights.lua */
        {"NOPERM this user has no right to ZADD", "this user has no right to ZADD"},
        {"ERR ACL failure in script: User app has no permissions to run the 'zadd' command",
         "User app has no permissions to run the 'zadd' command"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *plain = NULL;
        assert_int_equal(rlock__reply_error_status(rows[i].text, &plain), RLOCK_DENIED);
        assert_string_equal(plain, rows[i].plain);
    }
}

/* A word may be a password, in quotes or in what they once were. */
TEST(the_words_that_were_sent_are_not_repeated) {
    static const char *const texts[] = {
        "ERR unknown command 'AUTH', with args beginning with: 's3cr3t' ",
        "ERR unknown command 'AUTH', with args beginning with: 'script: ' 's3cr3t' " TAIL,
        "ERR unknown command 'AUTH', with args beginning with: `s3cr3t`, `s3cr3t`, ",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        char text[128];
        struct rlock__error error;
        struct rlock__link link = {.stage = RLOCK__READY, .error = &error};
        (void)snprintf(text, sizeof text, "%s", texts[i]);
        const rlock__reply reply = {.type = REDIS_REPLY_ERROR, .str = text, .len = strlen(text)};
        assert_int_equal(rlock__reply_judge(&link, &reply), RLOCK_UNAVAILABLE);
        assert_string_equal(error.text, "ERR unknown command 'AUTH'");
    }
}

/* What a script has met, as Redis 6 and Dragonfly tell it. */
TEST(in_a_script_of_redis_6) {
    static const struct {
        const char *text;
        enum rlock_status status;
        const char *plain;
    } wrapped[] = {
        {"@user_script:3: WRONGTYPE no", RLOCK_WRONG_KIND, "WRONGTYPE no"},
        {"@user_script:3: @user_script: 3: -OOM no", RLOCK_AGAIN, "OOM no"},
        {"@user_script: 3: Lua script attempted to access a non local key in a cluster node",
         RLOCK_AGAIN, "a script met a key of another node: "},
        {"@user_script:3: The user executing the script can't run this command or subcommand",
         RLOCK_DENIED, "this user has no right to all that the lock needs"},
        {"@user_script:3: script tried accessing undeclared key, key: k", RLOCK_UNAVAILABLE,
         "it lets scripts use declared keys only"},
        {"@user_script:3: Script killed by user with SCRIPT KILL...", RLOCK_AGAIN, "Script killed"},
        {"@user_script:3: user_script:3: attempt to call a nil value", RLOCK_UNAVAILABLE,
         "user_script:3: attempt"},
        {"@user_script:x: WRONGTYPE", RLOCK_AGAIN, "@user_script:x:"},
        {"@user_script:", RLOCK_AGAIN, "@user_script:"},
        {"", RLOCK_AGAIN, ""},
    };
    for (size_t i = 0; i < COUNT(wrapped); i++) {
        char text[512];
        const char *plain = NULL;
        (void)snprintf(text, sizeof text, "ERR Error running script (call to f_1d2ee2d5): %s",
                       wrapped[i].text);
        assert_int_equal(rlock__reply_error_status(text, &plain), wrapped[i].status);
        assert_memory_equal(plain, wrapped[i].plain, strlen(wrapped[i].plain));
        assert_false(rlock__reply_error_untouched(text));
    }
}

TEST(what_has_come_of_the_request) {
    static const char evalsha[] = "ERR unknown command 'EVALSHA'", odd[] = "ERR internal error";
    assert_true(rlock__reply_error_untouched(evalsha));
    assert_true(rlock__reply_error_untouched("MOVED 3999 127.0.0.1:6381"));
    assert_false(rlock__reply_error_untouched("ERR unknown command 'ZADD'" TAIL));
    assert_false(rlock__reply_error_untouched("OOM no" TAIL));
    assert_false(rlock__reply_error_untouched(odd));
    assert_true(rlock__reply_error_known(evalsha));
    assert_true(rlock__reply_error_known("OOM no" TAIL));
    assert_false(rlock__reply_error_known(odd));
}
