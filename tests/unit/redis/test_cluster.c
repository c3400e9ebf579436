/* test_cluster.c: the slots of keys, and what the nodes of a cluster say of who serves them. */
#include "support/test.h"

#include <stdio.h>

#include "redis/route.h"
#include "support/peer.h"

enum { NODES_MAX = 2, LONG_MS = 5000, FIND_MS = 2000 };

#define NODE(host, port) "*3\r\n$" host "\r\n:" port "\r\n$2\r\nid\r\n"
#define ALL_AT(node)     "*1\r\n*3\r\n:0\r\n:16383\r\n" node
#define NO_SHARDS        "-ERR unknown subcommand 'SHARDNUMSUB'\r\n"
#define SHARDS           "*0\r\n"

struct fixture {
    struct peer peers[NODES_MAX];
    struct rlock__server server;
    struct rlock__access access;
    struct rlock__cluster *cluster;
    struct rlock__link *found;
    struct rlock__error error;
};

static void begin(struct fixture *f, size_t count, const char *const *answers[]) {
    *f = (struct fixture){.server = {.topology = RLOCK__CLUSTER, .host_count = count},
                          .access = {.connect_timeout_ms = LONG_MS}};
    for (size_t i = 0; i < count; i++) {
        peer_listen_tcp(&f->peers[i]);
        peer_serve(&f->peers[i], answers[i]);
        f->server.hosts[i] = (struct rlock__host){.name = "127.0.0.1", .port = f->peers[i].port};
    }
    f->cluster = rlock__cluster_new(&f->server, &f->access, NULL, &f->error);
    assert_non_null(f->cluster);
}

static void end(struct fixture *f) {
    rlock__cluster_free(f->cluster);
    for (size_t i = 0; i < f->server.host_count; i++)
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
        const char *key;
        unsigned slot;
    } rows[] = {
        {"123456789", 12739}, /* 0x31C3, the check value of CRC16/XMODEM */
        {"", 0},
        {"foo", 12182},
        {"bar", 5061},
        {"{user1000}.following", 3443},
        {"user1000", 3443},
        {"foo{bar}", 5061},
        {"foo{bar}{zap}", 5061}, /* the first pair */
        {"foo{{bar}}zap", 4015}, /* from the first { to the first } behind it: "{bar" */
        {"{bar", 4015},
        {"}foo{bar}", 5061},
        /* An empty pair is no tag, and neither is one that does not close. */
        {"foo{}{bar}", 8363},
        {"{}", 15257},
        {"}{", 12793},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rlock__slot(rows[i].key) != rows[i].slot)
            fail_msg("%s: %u", rows[i].key, rlock__slot(rows[i].key));
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
        assert_false(rlock__cluster_has_replica(first));
        assert_int_equal(find(&f, 99), RLOCK_OK);
        assert_ptr_equal(f.found, first); /* one node, one link */
        assert_found(&f, 100, "10.0.0.2", "7002");
        assert_true(rlock__cluster_has_replica(f.found));
        assert_found(&f, 16383, "10.0.0.2", "7002");
        assert_true(rlock__cluster_sharded(f.cluster));
        struct rlock__cluster *like = rlock__cluster_new(&f.server, &f.access, f.cluster, &f.error);
        assert_non_null(like);
        rlock__cluster_free(f.cluster);
        f.cluster = like;
    }
    end(&f);
    assert_string_equal(peer_asked(&f.peers[0]), "CLUSTER SLOTS; PUBSUB SHARDNUMSUB");
}

TEST(nodes_may_tell_less_or_more) {
    static const char denied[] = "-NOPERM no\r\n";
    static const struct {
        const char *told, *shards, *host;
        bool sharded;
    } rows[] = {
        {ALL_AT(NODE("0\r\n", "7001")), NO_SHARDS, "127.0.0.1", false}, /* its own */
        {ALL_AT(NODE("-1", "7001")), NO_SHARDS, "127.0.0.1", false},
        {ALL_AT(NODE("1\r\n?", "7001")), NO_SHARDS, "127.0.0.1", false},
        {ALL_AT(NODE("3\r\n::1", "7001")), NO_SHARDS, "::1", false},
        {ALL_AT("*2\r\n+h\r\n:7001\r\n"), SHARDS, "h", true},
        {ALL_AT("*4\r\n+h\r\n:7001\r\n+id\r\n*2\r\n+hostname\r\n+n\r\n"), denied, "h", true},
        {two_ranges, PEER_CLOSE, "10.0.0.1", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        begin(&f, 1, SCRIPTS(ANSWERS(rows[i].told, rows[i].shards)));
        assert_found(&f, 5, rows[i].host, "7001");
        assert_int_equal(rlock__cluster_sharded(f.cluster), rows[i].sharded);
        end(&f);
    }
}

/* Nobody serves it, for now, or what was told did not work: the node that says so may be one that
 * the others have left behind. */
TEST(a_slot_that_nobody_serves_is_asked_for_elsewhere) {
    static const char stale[] = ALL_AT(NODE("1\r\nh", "1"));
    static const char *const left_behind[] = {
        "*0\r\n",
        "*-1\r\n",
        "+OK\r\n",
        "*1\r\n*3\r\n:0\r\n:4\r\n" NODE("1\r\nh", "1"),
        "*1\r\n*3\r\n:0\r\n:16384\r\n" NODE("1\r\nh", "1"), /* there is no such slot */
        "*1\r\n*3\r\n:-1\r\n:16383\r\n" NODE("1\r\nh", "1"),
        "*1\r\n*2\r\n:0\r\n:16383\r\n",
        ALL_AT("$1\r\nh\r\n"),
        "*2\r\n:1\r\n*0\r\n",
        /* No place: nothing can be there. */
        ALL_AT(NODE("1\r\nh", "0")),
        ALL_AT(NODE("1\r\nh", "72537")), /* 7001 in 16 bits */
        ALL_AT(NODE("3\r\na b", "7001")),
        stale,
    };
    for (size_t i = 0; i < COUNT(left_behind); i++) {
        struct fixture f;
        begin(&f, 2,
              SCRIPTS(ANSWERS(left_behind[i], NO_SHARDS, left_behind[i], NO_SHARDS),
                      ANSWERS(two_ranges, NO_SHARDS)));
        if (find(&f, 5) != (left_behind[i] == stale ? RLOCK_OK : RLOCK_AGAIN))
            fail_msg("row %zu", i);
        if (left_behind[i] == stale)
            rlock__cluster_doubt(f.cluster);
        else
            assert_string_equal(f.error.text, "CLUSTERDOWN: no node serves slot 5");
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

/* Nodes that the cluster does not name any more: in Kubernetes each roll-out has new addresses. */
TEST(nodes_that_are_gone_are_not_asked) {
    struct peer gone;
    struct fixture f;
    char with_it[256];
    static const char without_it[] = ALL_AT(NODE("9\r\n127.0.0.3", "1"));
    static const char in_part[] = "*1\r\n*3\r\n:0\r\n:16382\r\n" NODE("9\r\n127.0.0.3", "1");
    peer_listen_tcp(&gone);
    peer_serve(&gone, ANSWERS(NULL));
    (void)snprintf(with_it, sizeof with_it,
                   "*1\r\n*4\r\n:0\r\n:16383\r\n%s*2\r\n+127.0.0.1\r\n:%s\r\n",
                   NODE("9\r\n127.0.0.3", "1"), gone.port);
    begin(&f, 1, SCRIPTS(ANSWERS(with_it, SHARDS, in_part, without_it, without_it)));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(find(&f, 5), RLOCK_OK);
        rlock__cluster_doubt(f.cluster);
    }
    end(&f);
    assert_int_equal(f.peers[0].request_count, 5);
    peer_stop(&gone); /* not after the answer that has another for each slot */
    assert_int_equal(gone.request_count, 2);
}

TEST(new_nodes_come_however_many_have_gone) {
    enum { ROUNDS = 50, NEW = 30, RANGE = 16384 / NEW + 1, ROW_SIZE = 96 };
    static char texts[ROUNDS][NEW * ROW_SIZE];
    const char *script[ROUNDS + 2] = {texts[0], SHARDS};
    struct fixture f;
    for (int round = 0, port = 1000; round < ROUNDS; round++) {
        char *to = texts[round] + sprintf(texts[round], "*%d\r\n", NEW);
        for (int i = 0; i < NEW; i++, port++)
            to = tell_range(to, i * RANGE, i < NEW - 1 ? (i + 1) * RANGE - 1 : 16383, "127.0.0.3",
                            port);
        script[round > 0 ? round + 1 : 0] = texts[round];
    }
    begin(&f, 1, SCRIPTS(script));
    for (int round = 1; round <= ROUNDS; round++) {
        char port[16];
        (void)snprintf(port, sizeof port, "%d", 1000 + round * NEW - 1);
        assert_found(&f, 16383, "127.0.0.3", port);
        rlock__cluster_doubt(f.cluster);
    }
    end(&f);
}

TEST(who_does_not_help_is_passed_over) {
    static const char loading[] = "-LOADING wait\r\n", denied[] = "-NOPERM no\r\n",
                      alone[] = "-ERR This instance has cluster support disabled\r\n";
    static const struct {
        const char *first, *second;
        enum rlock_status status;
        const char *error;
    } rows[] = {
        {PEER_CLOSE, two_ranges, RLOCK_OK, NULL},
        {PEER_SILENT, two_ranges, RLOCK_OK, NULL},
        {loading, two_ranges, RLOCK_OK, NULL},
        {denied, two_ranges, RLOCK_OK, NULL},
        {alone, two_ranges, RLOCK_OK, NULL},
        {PEER_CLOSE, PEER_CLOSE, RLOCK_AGAIN,
         "the server closed the connection (if it speaks TLS, give rediss://)"},
        {loading, PEER_CLOSE, RLOCK_AGAIN, "LOADING wait"},
        {PEER_CLOSE, denied, RLOCK_DENIED, "no"},
        {alone, PEER_CLOSE, RLOCK_UNAVAILABLE, "it is not a cluster: give redis://HOST"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        begin(&f, 2, SCRIPTS(ANSWERS(rows[i].first), ANSWERS(rows[i].second, NO_SHARDS)));
        const enum rlock_status status = find(&f, 5);
        if (status != rows[i].status)
            fail_msg("row %zu: %s", i, rlock_status_text(status));
        if (rows[i].error != NULL)
            assert_string_equal(f.error.text, rows[i].error);
        else
            assert_string_equal(f.found->host, "10.0.0.1");
        end(&f);
    }
}
