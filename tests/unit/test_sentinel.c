/* test_sentinel.c: what Sentinels say of a master, and what becomes of it when they say nothing. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "peer.h"
#include "route.h"

enum { SENTINELS_MAX = 3, LONG_MS = 5000, SHORT_MS = 100 };

#define MASTER         "*2\r\n$8\r\n10.0.0.7\r\n$4\r\n6380\r\n"
#define UNKNOWN        "*-1\r\n"
#define REPLICA(flags) "*4\r\n$4\r\nname\r\n$1\r\nr\r\n$5\r\nflags\r\n+" flags "\r\n"
#define ANSWERS(...)   ((const char *const[]){__VA_ARGS__, NULL})

struct fixture {
    struct peer peers[SENTINELS_MAX];
    struct rlock__site site;
    size_t first;
    struct rlock__master master;
    struct rlock__error error;
};

/* A NULL among the answers: that Sentinel is not there. */
static void begin(struct fixture *f, size_t count, const char *const *answers[]) {
    *f = (struct fixture){
        .site = {
            .server = {.topology = RLOCK__SENTINEL, .host_count = count, .master = "my-master"},
            .access = {.connect_timeout_ms = LONG_MS},
            .finder = {.connect_timeout_ms = LONG_MS}}};
    for (size_t i = 0; i < count; i++) {
        f->peers[i] = (struct peer){.fd = -1, .path = "/tmp/rlock-there-is-none"};
        if (answers[i] != NULL)
            peer_start(&f->peers[i], answers[i]);
        f->site.server.hosts[i] = (struct rlock__host){.name = f->peers[i].path, .port = ""};
    }
}

static void end(struct fixture *f) {
    for (size_t i = 0; i < f->site.server.host_count; i++) {
        if (f->peers[i].fd >= 0)
            peer_stop(&f->peers[i]);
    }
}

static void forget(struct fixture *f) {
    for (size_t i = 0; i < f->site.server.host_count; i++)
        peer_free(&f->peers[i]);
}

static enum rlock_status find_within(struct fixture *f, bool want_replica, int64_t limit_ms) {
    const struct rlock__limit limit = {rlock_now_ms() + limit_ms, -1};
    return rlock__sentinel_ask(&f->site.server, &f->site.finder, &limit, want_replica, &f->first,
                               &f->master, &f->error);
}

static void assert_asked(const struct fixture *f, size_t sentinel, size_t i, const char *words) {
    const struct peer *peer = &f->peers[sentinel];
    char text[256] = "";
    assert_true(i < peer->request_count);
    for (size_t k = 0; k < peer->requests[i].word_count; k++)
        (void)strcat(strcat(text, k > 0 ? " " : ""), peer->requests[i].words[k].data);
    assert_string_equal(text, words);
}

/* --- the master ---------------------------------------------------------------------------------
 */

static void the_master_is_where_the_sentinel_says(void **state) {
    (void)state;
    struct fixture f;
    const char *const *answers[] = {ANSWERS(MASTER)};
    begin(&f, 1, answers);
    assert_int_equal(find_within(&f, false, LONG_MS), RLOCK_OK);
    assert_string_equal(f.master.host, "10.0.0.7");
    assert_string_equal(f.master.port, "6380");
    assert_false(f.master.has_replica);
    end(&f);
    assert_int_equal(f.peers[0].request_count, 1);
    assert_asked(&f, 0, 0, "SENTINEL GET-MASTER-ADDR-BY-NAME my-master");
    forget(&f);
}

/* One after the other; who has answered is asked first the next time. */
static void another_sentinel_is_asked(void **state) {
    (void)state;
    static const char *const deaf[] = {
        PEER_CLOSE, "-LOADING wait\r\n", UNKNOWN, "+OK\r\n", "-ERR unknown command 'SENTINEL'\r\n",
        NULL};
    for (size_t i = 0; i < COUNT(deaf); i++) {
        struct fixture f;
        const char *const *answers[] = {deaf[i] != NULL ? ANSWERS(deaf[i]) : NULL,
                                        ANSWERS(MASTER, MASTER), ANSWERS(MASTER)};
        begin(&f, 3, answers);
        assert_int_equal(find_within(&f, false, LONG_MS), RLOCK_OK);
        assert_string_equal(f.master.port, "6380");
        assert_int_equal(f.first, 1);
        assert_int_equal(find_within(&f, false, LONG_MS), RLOCK_OK);
        end(&f);
        assert_int_equal(f.peers[0].request_count, deaf[i] != NULL ? 1 : 0);
        assert_int_equal(f.peers[1].request_count, 2);
        assert_int_equal(f.peers[2].request_count, 0);
        forget(&f);
    }
}

/* The last one known is asked first, then those behind it, and those before it. */
static void all_are_asked_in_turn(void **state) {
    (void)state;
    struct fixture f;
    const char *const *answers[] = {ANSWERS(MASTER), ANSWERS(PEER_CLOSE), ANSWERS(PEER_CLOSE)};
    begin(&f, 3, answers);
    f.first = 1;
    assert_int_equal(find_within(&f, false, LONG_MS), RLOCK_OK);
    assert_int_equal(f.first, 0);
    end(&f);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(f.peers[i].request_count, 1);
    forget(&f);
}

static void a_silent_sentinel_does_not_eat_all_the_time(void **state) {
    (void)state;
    struct fixture f;
    const char *const *answers[] = {ANSWERS(PEER_SILENT), ANSWERS(MASTER)};
    begin(&f, 2, answers);
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(find_within(&f, false, LONG_MS), RLOCK_OK);
    assert_in_range(rlock_now_ms() - begun_ms, 400, LONG_MS / 2);
    end(&f);
    forget(&f);
}

static void what_no_sentinel_knows_is_told(void **state) {
    (void)state;
    static const struct {
        const char *first, *second;
        enum rlock_status status;
        const char *error;
        size_t teller; /* whose word it is */
    } rows[] = {
        {UNKNOWN, UNKNOWN, RLOCK_UNAVAILABLE, "knows no master my-master", 0},
        {"*2\r\n$1\r\nh\r\n:1\r\n", UNKNOWN, RLOCK_UNAVAILABLE, "knows no master my-master", 0},
        {PEER_CLOSE, UNKNOWN, RLOCK_UNAVAILABLE, "knows no master my-master", 1},
        {PEER_CLOSE, PEER_CLOSE, RLOCK_AGAIN, "the server closed the connection", 0},
        {PEER_CLOSE, PEER_SILENT, RLOCK_AGAIN, "the server closed the connection", 0},
        {"-LOADING wait\r\n", "-NOPERM no\r\n", RLOCK_DENIED, ": no", 1},
        {"-NOAUTH no\r\n", PEER_CLOSE, RLOCK_DENIED, "the server wants a password", 0},
        {"-ERR unknown command 'SENTINEL'\r\n", PEER_CLOSE, RLOCK_UNAVAILABLE,
         "ERR unknown command 'SENTINEL'", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const *answers[] = {ANSWERS(rows[i].first), ANSWERS(rows[i].second)};
        begin(&f, 2, answers);
        const bool silent = rows[i].second == PEER_SILENT;
        const enum rlock_status status = find_within(&f, true, silent ? SHORT_MS : LONG_MS);
        if (status != rows[i].status || strstr(f.error.text, rows[i].error) == NULL ||
            strstr(f.error.text, f.peers[rows[i].teller].path) == NULL)
            fail_msg("row %zu: %s: %s", i, rlock_status_text(status), f.error.text);
        end(&f);
        forget(&f);
    }
}

static void who_cancels_waits_for_no_sentinel(void **state) {
    (void)state;
    struct fixture f;
    const char *const *answers[] = {ANSWERS(PEER_SILENT), ANSWERS(MASTER)};
    const struct rlock__limit limit = {RLOCK_FOREVER, eventfd(1, EFD_CLOEXEC)};
    begin(&f, 2, answers);
    assert_int_equal(rlock__sentinel_ask(&f.site.server, &f.site.finder, &limit, false, &f.first,
                                         &f.master, &f.error),
                     RLOCK_CANCELLED);
    close(limit.cancel_fd);
    end(&f);
    assert_int_equal(f.peers[1].request_count, 0);
    forget(&f);
}

/* --- its password -------------------------------------------------------------------------------
 */

/* Most Sentinels want none: one that has not asked for it is not told. */
static void a_password_is_told_when_it_is_asked_for(void **state) {
    (void)state;
    static const char *const users[] = {NULL, "alice"};
    static const char *const words[] = {"AUTH s3cr3t", "AUTH alice s3cr3t"};
    for (size_t i = 0; i < COUNT(users); i++) {
        struct fixture f;
        const char *const *answers[] = {
            ANSWERS("-NOAUTH no\r\n", "+OK\r\n", MASTER, "*1\r\n" REPLICA("slave"))};
        begin(&f, 1, answers);
        f.site.finder.user = users[i];
        f.site.finder.password = "s3cr3t";
        assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_OK);
        assert_string_equal(f.master.port, "6380");
        assert_true(f.master.has_replica);
        end(&f);
        assert_int_equal(f.peers[0].request_count, 4);
        assert_asked(&f, 0, 1, words[i]);
        assert_asked(&f, 0, 2, "SENTINEL GET-MASTER-ADDR-BY-NAME my-master");
        assert_asked(&f, 0, 3, "SENTINEL REPLICAS my-master");
        assert_int_equal(f.peers[0].requests[3].connection, f.peers[0].requests[1].connection);
        forget(&f);
    }
}

static void a_wrong_password_is_told(void **state) {
    (void)state;
    struct fixture f;
    const char *const *answers[] = {ANSWERS("-NOAUTH no\r\n", "-WRONGPASS wrong\r\n")};
    begin(&f, 1, answers);
    f.site.finder.password = "s3cr3t";
    assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_DENIED);
    assert_non_null(strstr(f.error.text, ": wrong"));
    end(&f);
    assert_int_equal(f.peers[0].request_count, 2);
    forget(&f);
}

/* --- its replicas -------------------------------------------------------------------------------
 */

static void a_replica_that_lives_is_known(void **state) {
    (void)state;
    static const struct {
        const char *replicas, *quorum; /* NULL: not asked */
        bool has_replica;
    } rows[] = {
        {"*0\r\n", NULL, false},
        {"*1\r\n" REPLICA("slave"), NULL, true},
        {"*2\r\n" REPLICA("s_down,slave") REPLICA("slave"), NULL, true},
        {"*1\r\n" REPLICA("slave,disconnected"), NULL, true},
        /* All are down: says a majority of Sentinels, or one that sees nobody? */
        {"*1\r\n" REPLICA("s_down,slave"), "+OK 3 usable Sentinels\r\n", false},
        {"*2\r\n" REPLICA("s_down,slave") REPLICA("o_down,slave"), "+OK 3 usable\r\n", false},
        {"*1\r\n" REPLICA("s_down,slave"), "-NOQUORUM 1 usable Sentinels\r\n", true},
        {"*1\r\n" REPLICA("s_down,slave"), PEER_CLOSE, true},
        /* What can't be found out, or read, is a replica: a lock needs its word. */
        {"-ERR No such master with that name\r\n", NULL, true},
        {PEER_CLOSE, NULL, true},
        {"*1\r\n*2\r\n$4\r\nname\r\n$1\r\nr\r\n", NULL, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const *answers[] = {ANSWERS(MASTER, rows[i].replicas, rows[i].quorum)};
        begin(&f, 1, answers);
        assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_OK);
        if (f.master.has_replica != rows[i].has_replica)
            fail_msg("row %zu", i);
        end(&f);
        assert_int_equal(f.peers[0].request_count, rows[i].quorum != NULL ? 3 : 2);
        assert_asked(&f, 0, 1, "SENTINEL REPLICAS my-master");
        if (rows[i].quorum != NULL)
            assert_asked(&f, 0, 2, "SENTINEL CKQUORUM my-master");
        forget(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_master_is_where_the_sentinel_says),
        cmocka_unit_test(another_sentinel_is_asked),
        cmocka_unit_test(all_are_asked_in_turn),
        cmocka_unit_test(a_silent_sentinel_does_not_eat_all_the_time),
        cmocka_unit_test(what_no_sentinel_knows_is_told),
        cmocka_unit_test(who_cancels_waits_for_no_sentinel),
        cmocka_unit_test(a_password_is_told_when_it_is_asked_for),
        cmocka_unit_test(a_wrong_password_is_told),
        cmocka_unit_test(a_replica_that_lives_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
