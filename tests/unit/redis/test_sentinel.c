/* test_sentinel.c: what Sentinels say of a master, and what becomes of it when they say nothing. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "redis/route.h"
#include "support/peer.h"

enum { SENTINELS_MAX = 3, LONG_MS = 5000, SHORT_MS = 100 };

#define MASTER      "*2\r\n$8\r\n10.0.0.7\r\n$4\r\n6380\r\n"
#define UNKNOWN     "*-1\r\n"
#define NO_REPLICAS "*0\r\n"
/* A row of SENTINEL REPLICAS: where it is, and what else is said of it. */
#define FIELD(name, value) "+" name "\r\n+" value "\r\n"
#define AT(host, port)     FIELD("ip", host) FIELD("port", port)
#define REPLICA(flags)     "*6\r\n" AT("10.0.0.8", "6381") FIELD("flags", flags)
#define ROW(count, fields) "*" #count "\r\n" AT("10.0.0.9", "6382") FIELD("flags", "slave") fields
#define CUT_OFF(ms)                                                                                \
    "*8\r\n" AT("10.0.0.8", "6381") FIELD("flags", "slave,disconnected")                           \
        FIELD("last-ok-ping-reply", ms)
/* One that was not heard for so long, and the answer to SENTINEL SENTINELS: two others. */
#define SILENT(flags, ms)                                                                          \
    "*8\r\n" AT("10.0.0.8", "6381") FIELD("flags", flags) FIELD("last-ok-ping-reply", ms)
#define OTHER(ms)    "*2\r\n" FIELD("last-ok-ping-reply", ms)
#define OTHERS(a, b) "*2\r\n" OTHER(a) OTHER(b)
/* Each answers PING again; the last hello of theirs is older. */
#define BACK(hello)       "*4\r\n" FIELD("last-ok-ping-reply", "7") FIELD("last-hello-message", hello)
#define OTHERS_BACK(a, b) "*2\r\n" BACK(a) BACK(b)
#define ALL_HEARD         OTHERS("12", "600")
#define ANSWERS(...)      ((const char *const[]){__VA_ARGS__, NULL})

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
    rlock__replicas_free(&f->master.replicas);
    for (size_t i = 0; i < f->site.server.host_count; i++) {
        if (f->peers[i].fd >= 0)
            peer_stop(&f->peers[i]);
    }
}

static void forget(struct fixture *f) {
    for (size_t i = 0; i < f->site.server.host_count; i++)
        peer_free(&f->peers[i]);
}

static enum rlock_status find_within(struct fixture *f, bool want_replicas, int64_t limit_ms) {
    const struct rlock__limit limit = {rlock_now_ms() + limit_ms, -1, NULL};
    return rlock__sentinel_ask(&f->site.server, &f->site.finder, &limit, want_replicas, &f->first,
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
    assert_int_equal(f.master.replicas.count, 0);
    assert_false(f.master.replicas.unknown);
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
        const enum rlock_status status = find_within(&f, false, silent ? SHORT_MS : LONG_MS);
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
    const struct rlock__limit limit = {RLOCK_FOREVER, eventfd(1, EFD_CLOEXEC), NULL};
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
            ANSWERS("-NOAUTH no\r\n", "+OK\r\n", "*1\r\n" REPLICA("slave"), MASTER)};
        begin(&f, 1, answers);
        f.site.finder.user = users[i];
        f.site.finder.password = "s3cr3t";
        assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_OK);
        assert_string_equal(f.master.port, "6380");
        assert_int_equal(rlock__replicas_wanted(&f.master.replicas, false), 1);
        end(&f);
        assert_int_equal(f.peers[0].request_count, 4);
        assert_asked(&f, 0, 1, words[i]);
        assert_asked(&f, 0, 2, "SENTINEL REPLICAS my-master");
        assert_asked(&f, 0, 3, "SENTINEL GET-MASTER-ADDR-BY-NAME my-master");
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
    assert_int_equal(find_within(&f, false, LONG_MS), RLOCK_DENIED);
    assert_non_null(strstr(f.error.text, ": wrong"));
    end(&f);
    assert_int_equal(f.peers[0].request_count, 2);
    forget(&f);
}

/* --- its replicas -------------------------------------------------------------------------------
 */

/* How many must acknowledge what is written, and how many will besides. */
static void replicas_that_could_be_promoted_are_wanted(void **state) {
    (void)state;
    static const struct {
        const char *replicas, *others; /* NULL: not asked */
        size_t wanted, alive;
    } rows[] = {
        {NO_REPLICAS, NULL, 0, 0},
        {"*1\r\n" REPLICA("slave"), NULL, 1, 1},
        {"*2\r\n" REPLICA("slave") ROW(6, ""), NULL, 2, 2},
        {"*1\r\n" ROW(8, FIELD("slave-priority", "0")), NULL, 0, 1},
        {"*1\r\n*4\r\n" AT("10.0.0.9", "0"), NULL, 0, 0}, /* no server */
        {"*1\r\n" ROW(8, FIELD("replica-priority", "0")), NULL, 0, 1},
        {"*1\r\n" ROW(8, FIELD("slave-priority", "10")), NULL, 1, 1},
        {"*1\r\n" ROW(8, FIELD("last-ok-ping-reply", "4999")), NULL, 1, 1},
        /* The master itself: it has just been promoted. */
        {"*2\r\n" REPLICA("slave") "*4\r\n" AT("10.0.0.7", "6380"), NULL, 1, 1},
        /* A master that was replaced follows nobody; one that was just promoted has. */
        {"*1\r\n" ROW(10, FIELD("role-reported", "master") FIELD("master-host", "?")), NULL, 0, 0},
        {"*1\r\n" ROW(10, FIELD("role-reported", "master") FIELD("master-host", "h")), NULL, 1, 1},
        /* It is gone: says one that hears a majority of the Sentinels, or one that hears nobody? */
        {"*1\r\n" SILENT("s_down,slave", "2600"), ALL_HEARD, 0, 0},
        {"*1\r\n" ROW(8, FIELD("last-ok-ping-reply", "2001")), NULL, 1, 1},
        {"*1\r\n" CUT_OFF("2601"), ALL_HEARD, 0, 0},
        {"*1\r\n" CUT_OFF("2000"), NULL, 1, 1},
        {"*1\r\n" REPLICA("slave,disconnected"), NULL, 1, 1},
        {"*1\r\n" ROW(8, FIELD("last-ok-ping-reply", "5001")), ALL_HEARD, 0, 0},
        {"*2\r\n" SILENT("s_down,slave", "9000") SILENT("o_down,slave", "9000"), ALL_HEARD, 0, 0},
        {"*2\r\n" SILENT("s_down,slave", "9000") ROW(6, ""), ALL_HEARD, 1, 1},
        {"*2\r\n" SILENT("s_down,slave", "9000") ROW(6, ""), OTHERS("12", "9000"), 1, 1},
        {"*2\r\n" SILENT("s_down,slave", "9000") ROW(6, ""), OTHERS("9000", "8000"), 2, 2},
        /* It is the Sentinel that is cut off, and has not missed the others yet. */
        {"*1\r\n" SILENT("s_down,slave", "1200"), OTHERS("900", "1000"), 1, 1},
        {"*1\r\n" SILENT("slave", "6000"), OTHERS("5100", "5900"), 1, 1},
        /* It was, and has not heard yet what became of the master meanwhile. */
        {"*1\r\n" SILENT("s_down,slave", "3400"), OTHERS_BACK("2450", "2600"), 1, 1},
        {"*1\r\n" SILENT("s_down,slave", "3700"), OTHERS_BACK("2100", "3600"), 0, 0},
        {"*1\r\n" SILENT("s_down,slave", "9000"), "*0\r\n", 0, 0}, /* it is the only one */
        {"*1\r\n" SILENT("s_down,slave", "9000"), "*1\r\n" OTHER("8000"), 1, 1},
        {"*1\r\n" REPLICA("s_down,slave"), ALL_HEARD, 1, 1}, /* since when? */
        {"*1\r\n" SILENT("s_down,slave", "9000"), "-NOPERM no\r\n", 1, 1},
        {"*1\r\n" SILENT("s_down,slave", "9000"), "+OK 3 usable\r\n", 1, 1},
        {"*1\r\n" SILENT("s_down,slave", "9000"), ":3\r\n", 1, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const *answers[] = {ANSWERS(rows[i].replicas, MASTER, rows[i].others)};
        begin(&f, 1, answers);
        assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_OK);
        assert_false(f.master.replicas.unknown);
        if (rlock__replicas_wanted(&f.master.replicas, false) != rows[i].wanted ||
            rlock__replicas_wanted(&f.master.replicas, true) != rows[i].alive)
            fail_msg("row %zu: %zu", i, rlock__replicas_wanted(&f.master.replicas, false));
        end(&f);
        assert_int_equal(f.peers[0].request_count, rows[i].others != NULL ? 3 : 2);
        assert_asked(&f, 0, 0, "SENTINEL REPLICAS my-master");
        assert_int_equal(f.peers[0].requests[1].connection, 1);
        if (rows[i].others != NULL)
            assert_asked(&f, 0, 2, "SENTINEL SENTINELS my-master");
        forget(&f);
    }
}

/* What can't be found out, or read, is a replica: a lock needs its word. */
static void replicas_that_are_not_known_are_wanted(void **state) {
    (void)state;
    static const char *const rows[] = {
        "-ERR No such master with that name\r\n",
        "+OK\r\n",
        ":1\r\n",
        "*1\r\n*2\r\n" FIELD("flags", "slave"),
        "*1\r\n*4\r\n" AT("10.0.0.9", "00"),
        "*1\r\n*4\r\n" AT("10.0.0.9", "65536"),
        "*1\r\n*4\r\n" AT("10.0.0.9", "80x"),
        "*1\r\n*4\r\n" AT("", "80"),
        "*1\r\n*4\r\n" AT("10.0.0.9\t", "80"),
        "*1\r\n+ip\r\n",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const *answers[] = {ANSWERS(rows[i], MASTER)};
        begin(&f, 1, answers);
        assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_OK);
        if (!f.master.replicas.unknown || rlock__replicas_wanted(&f.master.replicas, false) != 1)
            fail_msg("row %zu", i);
        end(&f);
        forget(&f);
    }
}

/* Who says that some are down, and not whether it can know that, has said nothing. */
static void half_an_answer_is_none(void **state) {
    (void)state;
    static const char *const ends[] = {NULL, PEER_CLOSE};
    for (size_t i = 0; i < COUNT(ends); i++) {
        struct fixture f;
        const char *const *answers[] = {
            ANSWERS("*1\r\n" REPLICA("s_down,slave"), ends[i] == NULL ? MASTER : PEER_CLOSE),
            ANSWERS("*1\r\n" ROW(6, ""), MASTER)};
        begin(&f, 2, answers);
        assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_OK);
        assert_int_equal(f.first, 1);
        assert_int_equal(rlock__replicas_wanted(&f.master.replicas, false), 1);
        end(&f);
        forget(&f);
    }
}

static void who_may_not_ask_for_replicas_asks_for_the_master(void **state) {
    (void)state;
    struct fixture f;
    const char *const *answers[] = {ANSWERS("-NOPERM no\r\n", MASTER)};
    begin(&f, 1, answers);
    assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_OK);
    assert_string_equal(f.master.host, "10.0.0.7");
    assert_true(f.master.replicas.unknown);
    end(&f);
    forget(&f);
}

/* Whatever a Sentinel says, it must be a place, and fit: an empty port would be a socket's, and a
 * path of 250 bytes is longer than the system's. */
static void a_master_that_is_no_place_is_none(void **state) {
    (void)state;
    char host[RLOCK__HOST_SIZE + 16], long_host[RLOCK__HOST_SIZE + 64];
    memset(host, 'A', RLOCK__HOST_SIZE);
    host[RLOCK__HOST_SIZE] = '\0';
    (void)snprintf(long_host, sizeof long_host, "*2\r\n+%s\r\n+6380\r\n", host);
    const char *const rows[] = {
        long_host,
        "*2\r\n+h\r\n$0\r\n\r\n",
        "*2\r\n$0\r\n\r\n+6380\r\n",
        "*2\r\n+h\r\n+0\r\n",
        "*2\r\n+h\r\n+-1\r\n",
        "*2\r\n+h\r\n+65536\r\n",
        "*2\r\n+h\r\n+6380000000\r\n",
        "*2\r\n+h\r\n+redis\r\n",
        "*2\r\n+a b\r\n+6380\r\n",
        "*2\r\n+\033[2J\r\n+6380\r\n",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const *answers[] = {ANSWERS(NO_REPLICAS, rows[i])};
        begin(&f, 1, answers);
        if (find_within(&f, true, LONG_MS) != RLOCK_UNAVAILABLE ||
            strstr(f.error.text, "gives no usable address for the master my-master") == NULL)
            fail_msg("row %zu: %s", i, f.error.text);
        end(&f);
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
        cmocka_unit_test(replicas_that_could_be_promoted_are_wanted),
        cmocka_unit_test(replicas_that_are_not_known_are_wanted),
        cmocka_unit_test(half_an_answer_is_none),
        cmocka_unit_test(who_may_not_ask_for_replicas_asks_for_the_master),
        cmocka_unit_test(a_master_that_is_no_place_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
