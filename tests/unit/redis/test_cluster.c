/* test_cluster.c: the slots of keys, and what the nodes of a cluster say of who serves them. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "redis/route.h"
#include "support/peer.h"

enum { NODES_MAX = 2, LONG_MS = 5000, FIND_MS = 2000 };

#define NODE(host, port) "*3\r\n$" host "\r\n:" port "\r\n$2\r\nid\r\n"
#define H                NODE("1\r\nh", "1")
#define ALL_AT(node)     "*1\r\n*3\r\n:0\r\n:16383\r\n" node
#define NO_SHARDS        "-ERR unknown subcommand 'SHARDNUMSUB'\r\n"
#define SHARDS           "*0\r\n"

struct fixture {
    struct peer peers[NODES_MAX];
    struct rlock__site site;
    struct rlock__cluster *cluster;
    struct rlock__link *found;
    struct rlock__error error;
};

static void begin(struct fixture *f, size_t count, const char *const *answers[]) {
    *f = (struct fixture){.site = {.server = {.topology = RLOCK__CLUSTER, .host_count = count},
                                   .access = {.connect_timeout_ms = LONG_MS}}};
    for (size_t i = 0; i < count; i++) {
        peer_listen_tcp(&f->peers[i]);
        peer_serve(&f->peers[i], answers[i]);
        f->site.server.hosts[i] =
            (struct rlock__host){.name = "127.0.0.1", .port = f->peers[i].port};
    }
    f->cluster = rlock__cluster_new(&f->site, NULL, &f->error);
    assert_non_null(f->cluster);
}

static void end(struct fixture *f) {
    rlock__cluster_free(f->cluster);
    for (size_t i = 0; i < f->site.server.host_count; i++)
        peer_stop(&f->peers[i]);
}

static enum rlock_status find(struct fixture *f, unsigned slot) {
    const struct rlock__limit limit = {rlock_now_ms() + FIND_MS, -1};
    f->found = NULL;
    return rlock__cluster_find(f->cluster, slot, &limit, &f->found);
}

static void assert_found(struct fixture *f, unsigned slot, const char *host, const char *port) {
    if (find(f, slot) != RLOCK_OK)
        fail_msg("%s", f->error.text);
    assert_string_equal(f->found->host, host);
    assert_string_equal(f->found->port, port);
}

TEST(each_key_has_its_slot) {
    static const struct {
        unsigned slot;
        const char *keys[5];
    } rows[] = {
        {12739, {"123456789"}}, /* 0x31C3, the check value of CRC16/XMODEM */
        {0, {""}},
        {12182, {"foo"}},
        {3443, {"{user1000}.following", "user1000"}},
        {5061, {"bar", "foo{bar}", "foo{bar}{zap}", "}foo{bar}"}}, /* the first pair */
        {4015, {"foo{{bar}}zap", "{bar"}}, /* from the first { to the first } behind it: "{bar" */
        /* An empty pair is no tag, and neither is one that does not close. */
        {8363, {"foo{}{bar}"}},
        {15257, {"{}"}},
        {12793, {"}{"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (const char *const *key = rows[i].keys; *key != NULL; key++) {
            if (rlock__slot(*key) != rows[i].slot)
                fail_msg("%s: %u", *key, rlock__slot(*key));
        }
    }
}

static const char two_ranges[] =
    "*2\r\n"
    "*3\r\n:0\r\n:99\r\n" NODE("8\r\n10.0.0.1", "7001") "*4\r\n:100\r\n:16383\r\n" NODE(
        "8\r\n10.0.0.2", "7002") NODE("8\r\n10.0.0.3", "7003");

/* Also what takes that over, as a keeper and a listener do: it is not asked again. */
TEST(a_node_tells_who_serves_what) {
    struct fixture f;
    begin(&f, 1, SCRIPTS(ANSWERS(two_ranges, SHARDS)));
    for (int i = 0; i < 2; i++) {
        assert_found(&f, 0, "10.0.0.1", "7001");
        const struct rlock__link *first = f.found;
        assert_false(first->has_replica);
        assert_int_equal(find(&f, 99), RLOCK_OK);
        assert_ptr_equal(f.found, first); /* one node, one link */
        assert_found(&f, 100, "10.0.0.2", "7002");
        assert_true(f.found->has_replica);
        assert_found(&f, 16383, "10.0.0.2", "7002");
        assert_true(rlock__cluster_sharded(f.cluster));
        struct rlock__cluster *like = rlock__cluster_new(&f.site, f.cluster, &f.error);
        assert_non_null(like);
        rlock__cluster_free(f.cluster);
        f.cluster = like;
    }
    end(&f);
    assert_string_equal(peer_asked(&f.peers[0]), "CLUSTER SLOTS; PUBSUB SHARDNUMSUB");
}

/* Who does not help, or knows nobody who serves it, for now, may have been left behind by the
 * others: another one is asked. */
TEST(whatever_a_node_says_a_slot_is_found) {
    static const char nobody[] = "CLUSTERDOWN: no node serves slot 5",
                      loading[] = "-LOADING wait\r\n", denied[] = "-NOPERM no\r\n",
                      alone[] = "-ERR This instance has cluster support disabled\r\n";
    static const struct {
        const char *first, *second;
        enum rlock_status status;
        const char *told;   /* who serves it, or why it is not known */
        const char *shards; /* what the first one knows of sharded channels; NULL: nothing */
        bool sharded;
    } rows[] = {
        {ALL_AT(NODE("0\r\n", "7001")), NULL, RLOCK_OK, .told = "127.0.0.1"}, /* its own */
        {ALL_AT(NODE("-1", "7001")), NULL, RLOCK_OK, .told = "127.0.0.1"},
        {ALL_AT(NODE("1\r\n?", "7001")), NULL, RLOCK_OK, .told = "127.0.0.1"},
        {ALL_AT(NODE("3\r\n::1", "7001")), NULL, RLOCK_OK, .told = "::1"},
        {ALL_AT("*2\r\n+h\r\n:7001\r\n"), NULL, RLOCK_OK, "h", SHARDS, true},
        {ALL_AT("*4\r\n+h\r\n:7001\r\n+id\r\n*2\r\n+hostname\r\n+n\r\n"), NULL, RLOCK_OK, "h",
         denied, true},
        {two_ranges, NULL, RLOCK_OK, "10.0.0.1", PEER_CLOSE, false},
        {"*0\r\n", two_ranges, RLOCK_AGAIN, .told = nobody},
        {"*-1\r\n", two_ranges, RLOCK_AGAIN, .told = nobody},
        {"+OK\r\n", two_ranges, RLOCK_AGAIN, .told = nobody},
        {"*1\r\n*3\r\n:0\r\n:4\r\n" H, two_ranges, RLOCK_AGAIN, .told = nobody},
        /* There is no such slot. */
        {"*1\r\n*3\r\n:0\r\n:16384\r\n" H, two_ranges, RLOCK_AGAIN, .told = nobody},
        {"*1\r\n*3\r\n:-1\r\n:16383\r\n" H, two_ranges, RLOCK_AGAIN, .told = nobody},
        {"*1\r\n*2\r\n:0\r\n:16383\r\n", two_ranges, RLOCK_AGAIN, .told = nobody},
        {ALL_AT("$1\r\nh\r\n"), two_ranges, RLOCK_AGAIN, .told = nobody},
        {"*2\r\n:1\r\n*0\r\n", two_ranges, RLOCK_AGAIN, .told = nobody},
        /* Nothing can be there; 72537 is 7001 in 16 bits. */
        {ALL_AT(NODE("1\r\nh", "0")), two_ranges, RLOCK_AGAIN, .told = nobody},
        {ALL_AT(NODE("1\r\nh", "72537")), two_ranges, RLOCK_AGAIN, .told = nobody},
        {ALL_AT(NODE("3\r\na b", "7001")), two_ranges, RLOCK_AGAIN, .told = nobody},
        {PEER_CLOSE, two_ranges, RLOCK_OK, .told = "10.0.0.1"},
        {PEER_SILENT, two_ranges, RLOCK_OK, .told = "10.0.0.1"},
        {denied, two_ranges, RLOCK_OK, .told = "10.0.0.1"},
        {alone, two_ranges, RLOCK_OK, .told = "10.0.0.1"},
        {PEER_CLOSE, PEER_CLOSE, RLOCK_AGAIN,
         .told =
             "the server closed the connection (if it speaks TLS, give rediss://, sentinels:// or "
             "clusters://)"},
        {loading, PEER_CLOSE, RLOCK_AGAIN, .told = "LOADING wait"},
        {PEER_CLOSE, denied, RLOCK_DENIED, .told = "no"},
        {alone, PEER_CLOSE, RLOCK_UNAVAILABLE, .told = "it is not a cluster: give redis[s]://HOST"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *first = rows[i].first, *shards = rows[i].shards;
        struct fixture f;
        if (shards == NULL)
            shards = NO_SHARDS;
        begin(&f, 2,
              SCRIPTS(ANSWERS(first, shards, first, shards), ANSWERS(rows[i].second, NO_SHARDS)));
        const enum rlock_status status = find(&f, 5);
        const char *told = status == RLOCK_OK ? f.found->host : f.error.text;
        if (status != rows[i].status || strcmp(told, rows[i].told) != 0)
            fail_msg("row %zu: %s", i, told);
        assert_int_equal(rlock__cluster_sharded(f.cluster), rows[i].sharded);
        if (status == RLOCK_OK)
            assert_string_equal(f.found->port, "7001");
        if (rows[i].told == nobody)
            assert_found(&f, 5, "10.0.0.1", "7001");
        end(&f);
    }
}

/* "HOST:PORT serves FIRST to LAST", as the answer has it. Returns its end. */
static char *tell_range(char *to, int first, int last, const char *host, int port) {
    return to + sprintf(to, "*3\r\n:%d\r\n:%d\r\n*2\r\n+%s\r\n:%d\r\n", first, last, host, port);
}

/* More nodes than a cluster has cost no more than those it may have. */
TEST(nodes_beyond_measure_are_passed_over) {
    enum { MANY = 1100, ROW_SIZE = 96 };
    static char text[MANY * ROW_SIZE];
    struct fixture f;
    char *to = text + sprintf(text, "*%d\r\n", MANY);
    for (int i = 0; i < MANY; i++)
        to = tell_range(to, i, i, "h", 7000 + i);
    begin(&f, 1, SCRIPTS(ANSWERS(text, NO_SHARDS, text, NO_SHARDS)));
    assert_found(&f, 900, "h", "7900");
    assert_int_equal(find(&f, 1050), RLOCK_AGAIN);
    end(&f);
}

/* Nodes that the cluster does not name any more: in Kubernetes each roll-out has new addresses.
 * They are not asked, after an answer that has another for each slot, and take nobody's place. */
TEST(nodes_that_are_gone_are_not_asked_and_make_room) {
    enum { ROUNDS = 50, NEW = 30, RANGE = 16384 / NEW + 1, ROW_SIZE = 96 };
    static const char in_part[] = "*1\r\n*3\r\n:0\r\n:16382\r\n" NODE("9\r\n127.0.0.3", "1");
    static char texts[ROUNDS][NEW * ROW_SIZE];
    struct peer gone;
    struct fixture f;
    char with_it[256];
    const char *script[ROUNDS + 4] = {with_it, SHARDS, in_part};
    peer_listen_tcp(&gone);
    peer_serve(&gone, ANSWERS(NULL));
    (void)snprintf(with_it, sizeof with_it,
                   "*1\r\n*4\r\n:0\r\n:16383\r\n%s*2\r\n+127.0.0.1\r\n:%s\r\n",
                   NODE("9\r\n127.0.0.3", "1"), gone.port);
    for (int round = 0, port = 1000; round < ROUNDS; round++) {
        char *to = texts[round] + sprintf(texts[round], "*%d\r\n", NEW);
        for (int i = 0; i < NEW; i++, port++)
            to = tell_range(to, i * RANGE, i < NEW - 1 ? (i + 1) * RANGE - 1 : 16383, "127.0.0.3",
                            port);
        script[3 + round] = texts[round];
    }
    begin(&f, 1, SCRIPTS(script));
    for (int round = -2; round < ROUNDS; round++) {
        char port[16] = "1";
        if (round >= 0)
            (void)snprintf(port, sizeof port, "%d", 1000 + round * NEW);
        assert_found(&f, 5, "127.0.0.3", port);
        rlock__cluster_doubt(f.cluster);
    }
    end(&f);
    assert_int_equal(f.peers[0].request_count, 3 + ROUNDS);
    peer_stop(&gone);
    assert_int_equal(gone.request_count, 2);
}
