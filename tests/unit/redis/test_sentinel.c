/* test_sentinel.c: what Sentinels say of a master, and what becomes of it when they say nothing. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "redis/route.h"
#include "support/peer.h"

enum { SENTINELS_MAX = 3, LONG_MS = 5000, SHORT_MS = 100 };

#define ASK_MASTER   "SENTINEL GET-MASTER-ADDR-BY-NAME my-master"
#define ASK_REPLICAS "SENTINEL REPLICAS my-master"
#define MASTER       "*2\r\n$8\r\n10.0.0.7\r\n$4\r\n6380\r\n"
#define UNKNOWN      "*-1\r\n"
#define NO_REPLICAS  "*0\r\n"
#define NAME_OF_64   "abcdefghijklmnopabcdefghijklmnopabcdefghijklmnopabcdefghijklmnop"
/* A row of SENTINEL REPLICAS: where it is, and what else is said of it. */
#define FIELD(name, value) "+" name "\r\n+" value "\r\n"
#define AT(host, port)     FIELD("ip", host) FIELD("port", port)
#define REPLICA(flags)     "*6\r\n" AT("10.0.0.8", "6381") FIELD("flags", flags)
#define ROW(count, fields) "*" #count "\r\n" AT("10.0.0.9", "6382") FIELD("flags", "slave") fields
/* One that was not heard for so long, and the answer to SENTINEL SENTINELS: two others. */
#define SILENT(flags, ms)                                                                          \
    "*8\r\n" AT("10.0.0.8", "6381") FIELD("flags", flags) FIELD("last-ok-ping-reply", ms)
#define OTHER(ms)    "*2\r\n" FIELD("last-ok-ping-reply", ms)
#define OTHERS(a, b) "*2\r\n" OTHER(a) OTHER(b)
/* Each answers PING again; the last hello of theirs is older. */
#define BACK(hello)       "*4\r\n" FIELD("last-ok-ping-reply", "7") FIELD("last-hello-message", hello)
#define OTHERS_BACK(a, b) "*2\r\n" BACK(a) BACK(b)
#define ALL_HEARD         OTHERS("12", "600")

struct fixture {
    struct peer peers[SENTINELS_MAX];
    struct rlock__site site;
    size_t first;
    int cancel_fd;
    struct rlock__master master;
    struct rlock__error error;
};

static void begin(struct fixture *f, size_t count, const char *const *answers[]) {
    *f = (struct fixture){
        .cancel_fd = -1,
        .site = {
            .server = {.topology = RLOCK__SENTINEL, .host_count = count, .master = "my-master"},
            .access = {.connect_timeout_ms = LONG_MS},
            .finder = {.connect_timeout_ms = LONG_MS}}};
    for (size_t i = 0; i < count; i++) {
        peer_start(&f->peers[i], answers[i]);
        f->site.server.hosts[i] = (struct rlock__host){.name = f->peers[i].path, .port = ""};
    }
}

static void end(struct fixture *f) {
    rlock__replicas_free(&f->master.replicas);
    for (size_t i = 0; i < f->site.server.host_count; i++)
        peer_stop(&f->peers[i]);
}

static enum rlock_status find_within(struct fixture *f, bool want_replicas, int64_t limit_ms) {
    const struct rlock__limit limit = {rlock_now_ms() + limit_ms, f->cancel_fd};
    f->site.replicas = want_replicas ? RLOCK_REPLICAS_AUTO : 0;
    return rlock__sentinel_ask(&f->site, &limit, &f->first, &f->master, &f->error);
}

/* One after the other, beginning with the last one that has answered. */
TEST(another_sentinel_is_asked) {
    static const char *const deaf[] = {PEER_CLOSE,          PEER_SILENT,
                                       "-LOADING wait\r\n", UNKNOWN,
                                       "+OK\r\n",           "-ERR unknown command 'SENTINEL'\r\n"};
    for (size_t i = 0; i < COUNT(deaf); i++) {
        struct fixture f;
        begin(&f, 3, SCRIPTS(ANSWERS(MASTER, MASTER), ANSWERS(MASTER), ANSWERS(deaf[i])));
        f.first = 2;
        assert_int_equal(find_within(&f, false, deaf[i] == PEER_SILENT ? LONG_MS / 2 : LONG_MS),
                         RLOCK_OK);
        assert_string_equal(f.master.host, "10.0.0.7");
        assert_string_equal(f.master.port, "6380");
        assert_int_equal(f.first, 0);
        assert_int_equal(find_within(&f, false, LONG_MS), RLOCK_OK);
        end(&f);
        assert_int_equal(f.peers[0].request_count, 2);
        assert_int_equal(f.peers[1].request_count, 0);
        assert_int_equal(f.peers[2].request_count, 1);
    }
}

TEST(what_no_sentinel_knows_is_told) {
    static const char no_place[] = "gives no usable address for the master my-master";
    static const struct {
        const char *first, *second;
        enum rlock_status status;
        const char *error;
        size_t teller; /* whose word it is */
    } rows[] = {
        {UNKNOWN, UNKNOWN, RLOCK_UNAVAILABLE, "knows no master my-master", 0},
        {"*2\r\n$1\r\nh\r\n:1\r\n", UNKNOWN, RLOCK_UNAVAILABLE, "knows no master my-master", 0},
        {"*2\r\n+h\r\n$0\r\n\r\n", PEER_CLOSE, RLOCK_UNAVAILABLE, no_place, 0},
        {"*2\r\n$0\r\n\r\n+6380\r\n", PEER_CLOSE, RLOCK_UNAVAILABLE, no_place, 0},
        {"*2\r\n+h\r\n+80x\r\n", PEER_CLOSE, RLOCK_UNAVAILABLE, no_place, 0},
        {"*2\r\n+h\r\n+65536\r\n", PEER_CLOSE, RLOCK_UNAVAILABLE, no_place, 0},
        {"*2\r\n+" NAME_OF_64 NAME_OF_64 NAME_OF_64 NAME_OF_64 "\r\n+1\r\n", PEER_CLOSE,
         RLOCK_UNAVAILABLE, no_place, 0},
        {PEER_CLOSE, UNKNOWN, RLOCK_UNAVAILABLE, "knows no master my-master", 1},
        {PEER_CLOSE, PEER_CLOSE, RLOCK_AGAIN, "the server closed the connection", 0},
        {PEER_CLOSE, PEER_SILENT, RLOCK_AGAIN, "the server closed the connection", 0},
        {"-LOADING wait\r\n", "-NOPERM no\r\n", RLOCK_DENIED, ": no", 1},
        {"-NOAUTH no\r\n", PEER_CLOSE, RLOCK_DENIED, "the server wants a password", 0},
        {"-ERR unknown command 'SENTINEL'\r\n", PEER_CLOSE, RLOCK_UNAVAILABLE,
         "it is no Sentinel: give redis[s]://HOST", 0},
        {PEER_SILENT, MASTER, RLOCK_CANCELLED, "", 0}, /* who cancels waits for no Sentinel */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        begin(&f, 2, SCRIPTS(ANSWERS(rows[i].first), ANSWERS(rows[i].second)));
        const bool cancelled = rows[i].status == RLOCK_CANCELLED;
        f.cancel_fd = eventfd(cancelled, EFD_CLOEXEC);
        const bool silent = rows[i].second == PEER_SILENT;
        const enum rlock_status status = find_within(&f, false, silent ? SHORT_MS : LONG_MS);
        if (status != rows[i].status || strstr(f.error.text, rows[i].error) == NULL ||
            strstr(f.error.text, f.peers[rows[i].teller].path) == NULL)
            fail_msg("row %zu: %s: %s", i, rlock_status_text(status), f.error.text);
        end(&f);
        close(f.cancel_fd);
        assert_int_equal(f.peers[1].request_count, !cancelled);
    }
}

/* How many must acknowledge what is written, and how many will besides. */
TEST(replicas_that_could_be_promoted_are_wanted) {
    enum { ANY = 99 }; /* it is not known which there are */
    static const char two[] = "*2\r\n" REPLICA("slave") ROW(6, "");
    static const struct {
        const char *replicas, *others; /* NULL: not asked */
        size_t wanted, alive;
    } rows[] = {
        {NO_REPLICAS, NULL, 0, 0},
        {"*1\r\n" REPLICA("slave"), NULL, 1, 1},
        {two, NULL, 2, 2},
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
        {"*1\r\n" SILENT("slave,disconnected", "2601"), ALL_HEARD, 0, 0},
        {"*1\r\n" SILENT("slave,disconnected", "2000"), NULL, 1, 1},
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
        /* Half an answer is none: the next Sentinel is asked, and knows two. */
        {"*1\r\n" REPLICA("s_down,slave"), PEER_CLOSE, 2, 2},
        /* What can't be found out, or read, is a replica: a lock needs its word. */
        {"-ERR No such master with that name\r\n", NULL, 1, ANY},
        {"-NOPERM no\r\n", NULL, 1, ANY},
        {"+OK\r\n", NULL, 1, ANY},
        {"*1\r\n*2\r\n" FIELD("flags", "slave"), NULL, 1, ANY},
        {"*1\r\n*4\r\n" AT("10.0.0.9", "00"), NULL, 1, ANY},
        {"*1\r\n*4\r\n" AT("", "80"), NULL, 1, ANY},
        {"*1\r\n+ip\r\n", NULL, 1, ANY},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        begin(&f, rows[i].others == PEER_CLOSE ? 2 : 1,
              SCRIPTS(ANSWERS(rows[i].replicas, MASTER, rows[i].others), ANSWERS(two, MASTER)));
        assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_OK);
        const size_t wanted = rlock__replicas_wanted(&f.master.replicas, false),
                     alive = f.master.replicas.unknown
                                 ? ANY
                                 : rlock__replicas_wanted(&f.master.replicas, true);
        if (wanted != rows[i].wanted || alive != rows[i].alive)
            fail_msg("row %zu: %zu, %zu", i, wanted, alive);
        end(&f);
        if (alive != ANY)
            assert_string_equal(peer_asked(&f.peers[0]),
                                rows[i].others != NULL ? ASK_REPLICAS
                                    "; " ASK_MASTER "; SENTINEL SENTINELS my-master"
                                                       : ASK_REPLICAS "; " ASK_MASTER);
    }
}

/* Whom another Sentinel hears it may promote. */
TEST(a_replica_is_gone_when_all_sentinels_miss_it) {
    static const struct {
        const char *answer; /* the other's, to SENTINEL REPLICAS */
        size_t wanted;
    } rows[] = {
        {"*1\r\n" SILENT("s_down,slave", "2600"), 0},
        {"*1\r\n" SILENT("slave", "5001"), 0},
        {"*1\r\n" SILENT("slave", "20"), 1},
        {NO_REPLICAS, 0},
        {"*1\r\n" ROW(6, ""), 0}, /* of another */
        {"-ERR No such master with that name\r\n", 1},
        {PEER_CLOSE, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        struct peer other;
        char others[256];
        peer_listen_tcp(&other);
        (void)snprintf(others, sizeof others,
                       "*1\r\n*6\r\n" AT("127.0.0.1", "%s") FIELD("last-ok-ping-reply", "12"),
                       other.port);
        peer_serve(&other, ANSWERS(rows[i].answer));
        begin(&f, 1, SCRIPTS(ANSWERS("*1\r\n" SILENT("s_down,slave", "9000"), MASTER, others)));
        assert_int_equal(find_within(&f, true, LONG_MS), RLOCK_OK);
        if (rlock__replicas_wanted(&f.master.replicas, false) != rows[i].wanted)
            fail_msg("row %zu: %zu", i, rlock__replicas_wanted(&f.master.replicas, false));
        end(&f);
        peer_stop(&other);
        assert_string_equal(peer_asked(&other), ASK_REPLICAS);
    }
}
