/* test_script.c: one script on one server, and on several at once. */
#include "support/servers.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* What was said counts for more than the silence of a moment. */
TEST(a_hasty_request_hides_no_reason) {
    static const char silent[] = "no answer in time",
                      moving[] = "the slot is being moved to another node (TRYAGAIN)";
    static const struct {
        int64_t limit_ms;
        const char *error;
    } rows[] = {{10, silent},       {LONG_MS, moving}, {10, moving},
                {SHORT_MS, silent}, {LONG_MS, NULL},   {10, silent}};
    struct servers f;
    begin(&f, 1,
          SCRIPTS(ANSWERS(PEER_SILENT, "-TRYAGAIN Multiple keys\r\n", PEER_SILENT, PEER_SILENT,
                          YES(17), PEER_SILENT)));
    for (size_t i = 0; i < COUNT(rows); i++) {
        run_until(&f, 1, rows[i].limit_ms, -1);
        if (rows[i].error == NULL)
            assert_int_equal(f.runs[0].status, RLOCK_OK);
        else if (strcmp(f.routes[0].error.text, rows[i].error) != 0)
            fail_msg("row %zu: %s", i, f.routes[0].error.text);
    }
    end(&f);
}

TEST(a_script_is_called_by_its_hash_or_sent_whole) {
    struct servers f;
    char words[128];
    begin(&f, 1,
          SCRIPTS(ANSWERS("-NOSCRIPT No matching script. Please use EVAL.\r\n", YES(17), YES(18))));
    const struct rlock__answer *answer = &f.runs[0].answer;
    for (int64_t token = 17; token <= 18; token++) {
        run_until(&f, 1, LONG_MS, -1);
        assert_int_equal(f.runs[0].status, RLOCK_OK);
        assert_true(answer->code == 1 && answer->a == token && answer->b == 30000);
        assert_ptr_equal(rlock__route_used(&f.routes[0], "x"), &f.routes[0].link);
    }
    end(&f);
    (void)snprintf(words, sizeof words, "EVALSHA %s 2 x y:{x} a b c d PUBLISH channel f; EVAL",
                   script()->sha1);
    assert_memory_equal(peer_asked(&f.peers[0]), words, strlen(words));
    const struct peer_request *first = &f.peers[0].requests[0], *second = &f.peers[0].requests[1];
    assert_int_equal(second->words[1].size, strlen(script()->body));
    assert_memory_equal(second->words[1].data, script()->body, strlen(script()->body));
    assert_int_equal(second->word_count, first->word_count);
    for (size_t i = 2; i < first->word_count; i++)
        assert_string_equal(second->words[i].data, first->words[i].data);
    assert_string_equal(f.peers[0].requests[2].words[0].data, "EVALSHA");
}

static const char ODD[] = "-ERR odd\r\n";

TEST(what_an_answer_means) {
    static const struct {
        const char *answer;
        enum rlock_status status;
        const char *error;
    } rows[] = {
        {NO, RLOCK_OK, ""},
        {"*4\r\n:-1\r\n:0\r\n:0\r\n$1\r\nx\r\n", RLOCK_OK, ""},
        {"*2\r\n:1\r\n:17\r\n", RLOCK_UNAVAILABLE,
         "the server's answer to mutex_acquire can't be understood"},
        {"+OK\r\n", RLOCK_UNAVAILABLE, "the server's answer to mutex_acquire can't be understood"},
        {ODD, RLOCK_AGAIN, "ERR odd"},
        {"-ERR unknown command 'EVALSHA'\r\n", RLOCK_UNAVAILABLE,
         "it runs no Lua scripts (EVAL), which all locks need: give sentinel[s]:// for a Sentinel, "
         "connect past a proxy, load the server's Lua module, or use another server"},
        {"-OOM no script: 48dc37aa, on @user_script:75.\r\n", RLOCK_AGAIN, "OOM no"},
        {"-MOVED 1 h:1\r\n", RLOCK_UNAVAILABLE,
         "it is on another node of a cluster: give cluster[s]://HOST"},
        {PEER_CLOSE, RLOCK_AGAIN, "the server closed the connection"},
        {PEER_SILENT, RLOCK_AGAIN, "no answer in time"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct servers f;
        begin(&f, 1, SCRIPTS(ANSWERS(rows[i].answer)));
        run_until(&f, 1, rows[i].answer == PEER_SILENT ? SHORT_MS : LONG_MS, -1);
        if (f.runs[0].status != rows[i].status ||
            strcmp(f.routes[0].error.text, rows[i].error) != 0)
            fail_msg("%s: %s: %s", rows[i].answer, rlock_status_text(f.runs[0].status),
                     f.routes[0].error.text);
        assert_int_equal(f.runs[0].answer.reply != NULL, rows[i].status == RLOCK_OK);
        assert_int_equal(f.routes[0].astray, rows[i].status == RLOCK_AGAIN);
        const bool lost = rows[i].answer == PEER_CLOSE || rows[i].answer == PEER_SILENT;
        assert_int_equal(f.runs[0].unanswered, lost || rows[i].answer == ODD);
        assert_int_equal(f.routes[0].answered, !lost);
        end(&f);
    }
}

/* What a silent server costs is bound by what the others took: also when a majority says no, for
 * nothing that is still to come can make it a yes. */
TEST(what_is_decided_waits_for_nobody) {
    static const struct {
        const char *one, *another;
        bool cancelled;
        enum rlock_status silent; /* of the third */
    } rows[] = {{YES(5), YES(5), false, RLOCK_AGAIN},
                {NO, NO, false, RLOCK_AGAIN},
                {NO, "-LOADING wait\r\n", false, RLOCK_AGAIN},
                {PEER_CLOSE, "-NOPERM no\r\n", false, RLOCK_AGAIN},
                {PEER_SILENT, PEER_SILENT, true, RLOCK_CANCELLED}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int cancel_fd = eventfd(rows[i].cancelled, EFD_CLOEXEC);
        struct servers f;
        begin(&f, 3, SCRIPTS(ANSWERS(rows[i].one), ANSWERS(rows[i].another), ANSWERS(PEER_SILENT)));
        run_until(&f, 2, LONG_MS, cancel_fd);
        assert_true(f.took_ms < LONG_MS / 2);
        assert_int_equal(f.runs[2].status, rows[i].silent);
        end(&f);
        close(cancel_fd);
    }
}

/* Each try of a waiter would cost its limit else. What the others say is told at once; but who has
 * spoken since is waited for again. Its late answers are not taken for the next one. */
TEST(who_was_silent_before_is_not_waited_for) {
    enum { SILENT_MS = 300 }; /* longer than any busy server: script.c */
    static const struct {
        int64_t limit_ms;
        bool waits;
        enum rlock_status silent; /* of the third */
    } rows[] = {
        {SILENT_MS, true, RLOCK_AGAIN}, {LONG_MS, false, RLOCK_AGAIN},
        {LONG_MS, false, RLOCK_AGAIN},  {LONG_MS, false, RLOCK_OK},
        {SHORT_MS, true, RLOCK_AGAIN},
    };
    struct servers f;
    static const char *const yes[] = {YES(5), YES(5), YES(5), YES(5), YES(5), NULL};
    static const char *const no[] = {NO, NO, NO, NO, NO, NULL};
    begin(
        &f, 3,
        SCRIPTS(yes, no,
                ANSWERS(PEER_SILENT, PEER_SILENT, PEER_SILENT, YES(1) YES(2) YES(3), PEER_SILENT)));
    for (size_t i = 0; i < COUNT(rows); i++) {
        run_until(&f, 2, patience_ms(rows[i].limit_ms), -1);
        const bool in_time = rows[i].waits ? f.took_ms >= SHORT_MS : f.took_ms < LONG_MS / 2;
        if (!in_time || f.runs[2].status != rows[i].silent)
            fail_msg("row %zu: %lld ms", i, (long long)f.took_ms);
        assert_int_equal(f.runs[0].status, RLOCK_OK);
        assert_int_equal(f.runs[1].status, RLOCK_OK);
        const bool silent = rows[i].silent == RLOCK_AGAIN;
        assert_int_equal(f.runs[2].answer.a, silent ? 0 : 3);
        assert_int_equal(f.runs[2].unanswered, silent);
        if (silent)
            assert_string_equal(f.routes[2].error.text, "no answer in time");
        /* It may be dead. */
        assert_int_equal(f.routes[2].link.stage, rows[i].waits ? RLOCK__CLOSED : RLOCK__READY);
    }
    end(&f);
}

/* Who might still bring the others to a result: silence is no reason to do without it. */
TEST(who_is_needed_is_waited_for) {
    struct servers f;
    static const char *const silent[] = {PEER_SILENT, PEER_SILENT, PEER_SILENT, NULL};
    begin(&f, 3, SCRIPTS(ANSWERS(YES(5), YES(5), YES(5)), silent, silent));
    for (size_t i = 0; i < 2; i++) {
        run_until(&f, 2, patience_ms(2 * SHORT_MS), -1);
        assert_in_range(f.took_ms, 2 * SHORT_MS, LONG_MS);
    }
    f.in_passing = true;
    run_until(&f, 2, LONG_MS, -1);
    assert_true(f.took_ms < LONG_MS / 2);
    end(&f);
}
