/* test_cluster.c: the slots of keys, and what the nodes of a cluster say of who serves them. */
#include "support/test.h"

#include <stdio.h>

#include "redis/route.h"
#include "support/peer.h"

enum { NODES_MAX = 3, LONG_MS = 5000, SHORT_MS = 100 };

#define NODE(host, port) "*3\r\n$" host "\r\n:" port "\r\n$2\r\nid\r\n"
#define NO_SHARDS        "-ERR unknown subcommand 'SHARDNUMSUB'\r\n"
#define SHARDS           "*0\r\n"

#define HOST_OF_16  "abcdefghijklmnop"
#define HOST_OF_64  HOST_OF_16 HOST_OF_16 HOST_OF_16 HOST_OF_16
#define HOST_OF_256 HOST_OF_64 HOST_OF_64 HOST_OF_64 HOST_OF_64

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
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1};
    f->found = NULL;
    return rlock__cluster_find(f->cluster, slot, &limit, &f->found);
}

static void assert_at(const struct rlock__link *link, const char *host, const char *port) {
    assert_non_null(link);
    assert_string_equal(link->host, host);
    assert_string_equal(link->port, port);
}

/* --- slots ------------------------------------------------------------------------------------ */

TEST(each_key_has_its_slot) {
    static const struct {
        const char *key;
        unsigned slot;
    } rows[] = {
        {"123456789", 12739}, /* 0x31C3, the check value of CRC16/XMODEM */
        {"", 0},
        {"foo", 12182},
        {"bar", 5061},
        {"hello", 866},
        {"{user1000}.following", 3443},
        {"{user1000}.followers", 3443},
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

/* --- what the nodes say ----------------------------------------------------------------------- */

static const char two_ranges[] =
    "*2\r\n"
    "*3\r\n:0\r\n:99\r\n" NODE("8\r\n10.0.0.1", "7001") "*4\r\n:100\r\n:16383\r\n" NODE(
        "8\r\n10.0.0.2", "7002") NODE("8\r\n10.0.0.3", "7003");

TEST(a_node_tells_who_serves_what) {
    struct fixture f;
    begin(&f, 1, SCRIPTS(ANSWERS(two_ranges, NO_SHARDS)));
    assert_int_equal(find(&f, 0), RLOCK_OK);
    const struct rlock__link *first = f.found;
    assert_at(first, "10.0.0.1", "7001");
    assert_false(rlock__cluster_has_replica(first));
    assert_int_equal(find(&f, 99), RLOCK_OK);
    assert_ptr_equal(f.found, first); /* one node, one link */
    assert_int_equal(find(&f, 100), RLOCK_OK);
    assert_at(f.found, "10.0.0.2", "7002");
    assert_true(rlock__cluster_has_replica(f.found));
    assert_int_equal(find(&f, 16383), RLOCK_OK);
    assert_at(f.found, "10.0.0.2", "7002");
    end(&f);
    /* What is known is not asked again. */
    assert_string_equal(peer_asked(&f.peers[0]), "CLUSTER SLOTS; PUBSUB SHARDNUMSUB");
}

TEST(nodes_may_tell_less_or_more) {
    static const struct {
        const char *row, *host; /* NULL: that of who told it */
    } rows[] = {
        {NODE("0\r\n", "7001"), NULL},
        {NODE("-1", "7001"), NULL},
        {NODE("1\r\n?", "7001"), NULL},
        {"*2\r\n$1\r\nh\r\n:7001\r\n", "h"},
        {NODE("3\r\n::1", "7001"), "::1"},
        {NODE("12\r\nnode.example", "7001"), "node.example"},
        {"*4\r\n$1\r\nh\r\n:7001\r\n$2\r\nid\r\n*2\r\n$8\r\nhostname\r\n$1\r\nn\r\n", "h"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        char text[512];
        (void)snprintf(text, sizeof text, "*1\r\n*3\r\n:0\r\n:16383\r\n%s", rows[i].row);
        begin(&f, 1, SCRIPTS(ANSWERS(text, NO_SHARDS)));
        if (find(&f, 5) != RLOCK_OK)
            fail_msg("row %zu: %s", i, f.error.text);
        assert_at(f.found, rows[i].host != NULL ? rows[i].host : "127.0.0.1", "7001");
        end(&f);
    }
}

/* Nobody serves it, for now; the node that says so may be one that the others have left behind. */
TEST(a_slot_that_nobody_serves_is_asked_for_elsewhere) {
    static const char *const left_behind[] = {
        "*0\r\n",
        "*-1\r\n",
        "+OK\r\n",
        "*1\r\n*3\r\n:0\r\n:4\r\n" NODE("1\r\nh", "1"),
        "*1\r\n*3\r\n:0\r\n:16384\r\n" NODE("1\r\nh", "1"), /* there is no such slot */
        "*1\r\n*3\r\n:-1\r\n:16383\r\n" NODE("1\r\nh", "1"),
        "*1\r\n*2\r\n:0\r\n:16383\r\n",
        "*1\r\n*3\r\n:0\r\n:16383\r\n$1\r\nh\r\n",
        "*2\r\n:1\r\n*0\r\n",
        /* No place: nothing can be there. */
        "*1\r\n*3\r\n:0\r\n:16383\r\n" NODE("1\r\nh", "0"),
        "*1\r\n*3\r\n:0\r\n:16383\r\n" NODE("1\r\nh", "-1"),
        "*1\r\n*3\r\n:0\r\n:16383\r\n" NODE("1\r\nh", "72537"), /* 7001 in 16 bits */
        "*1\r\n*3\r\n:0\r\n:16383\r\n" NODE("3\r\na b", "7001"),
        "*1\r\n*3\r\n:0\r\n:16383\r\n" NODE("3\r\na\nb", "7001"),
        "*1\r\n*3\r\n:0\r\n:16383\r\n" NODE("256\r\n" HOST_OF_256, "7001"),
    };
    for (size_t i = 0; i < COUNT(left_behind); i++) {
        struct fixture f;
        begin(&f, 2,
              SCRIPTS(ANSWERS(left_behind[i], NO_SHARDS, left_behind[i]),
                      ANSWERS(two_ranges, NO_SHARDS)));
        if (find(&f, 5) != RLOCK_AGAIN)
            fail_msg("row %zu", i);
        assert_string_equal(f.error.text, "CLUSTERDOWN: no node serves slot 5");
        assert_int_equal(find(&f, 5), RLOCK_OK);
        assert_at(f.found, "10.0.0.1", "7001");
        end(&f);
    }
}

/* More nodes than a cluster has cost no more than those it may have. */
TEST(nodes_beyond_measure_are_passed_over) {
    enum { MANY = 1100, ROW_SIZE = 96 };
    static char text[MANY * ROW_SIZE];
    char *to = text + sprintf(text, "*%d\r\n", MANY);
    for (int i = 0; i < MANY; i++)
        to += sprintf(to, "*3\r\n:%d\r\n:%d\r\n*2\r\n$1\r\nh\r\n:%d\r\n", i, i, 7000 + i);
    struct fixture f;
    begin(&f, 1, SCRIPTS(ANSWERS(text, NO_SHARDS, text, NO_SHARDS)));
    assert_int_equal(find(&f, 900), RLOCK_OK);
    assert_at(f.found, "h", "7900");
    assert_int_equal(find(&f, 1050), RLOCK_AGAIN);
    end(&f);
}

/* Nodes that the cluster does not name any more: in Kubernetes each roll-out has new addresses. */
TEST(nodes_that_are_gone_are_not_asked) {
    struct peer gone;
    struct fixture f;
    char with_it[256];
    static const char without_it[] = "*1\r\n*3\r\n:0\r\n:16383\r\n" NODE("9\r\n127.0.0.3", "1");
    static const char in_part[] = "*1\r\n*3\r\n:0\r\n:16382\r\n" NODE("9\r\n127.0.0.3", "1");
    peer_listen_tcp(&gone);
    peer_serve(&gone, ANSWERS(NULL));
    (void)snprintf(with_it, sizeof with_it,
                   "*1\r\n*4\r\n:0\r\n:16383\r\n" NODE("9\r\n127.0.0.3",
                                                       "1") "*3\r\n$9\r\n127.0.0.1\r\n:%s\r\n"
                                                            "$2\r\nid\r\n",
                   gone.port);
    begin(&f, 1, SCRIPTS(ANSWERS(with_it, SHARDS, in_part, without_it, without_it)));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(find(&f, 5), RLOCK_OK);
        rlock__cluster_doubt(f.cluster);
    }
    end(&f);
    assert_int_equal(f.peers[0].request_count, 5);
    peer_stop(&gone);
    assert_int_equal(gone.request_count,
                     2); /* not after the answer that has another for each slot */
}

TEST(new_nodes_come_however_many_have_gone) {
    enum { ROUNDS = 50, NEW = 30, RANGE = 16384 / NEW + 1, ROW_SIZE = 96 };
    static char texts[ROUNDS][NEW * ROW_SIZE];
    const char *script[ROUNDS + 2] = {texts[0], SHARDS};
    struct fixture f;
    for (int round = 0, port = 1000; round < ROUNDS; round++) {
        char *to = texts[round] + sprintf(texts[round], "*%d\r\n", NEW);
        for (int i = 0; i < NEW; i++, port++)
            to += sprintf(to, "*3\r\n:%d\r\n:%d\r\n*2\r\n$9\r\n127.0.0.3\r\n:%d\r\n", i * RANGE,
                          i < NEW - 1 ? (i + 1) * RANGE - 1 : 16383, port);
        script[round > 0 ? round + 1 : 0] = texts[round];
    }
    begin(&f, 1, SCRIPTS(script));
    for (int round = 0; round < ROUNDS; round++) {
        char port[16];
        (void)snprintf(port, sizeof port, "%d", 1000 + (round + 1) * NEW - 1);
        assert_int_equal(find(&f, 16383), RLOCK_OK);
        assert_at(f.found, "127.0.0.3", port);
        rlock__cluster_doubt(f.cluster);
    }
    end(&f);
}

/* What did not work may be old news, and the node that told it the last to hear of it. */
TEST(in_doubt_another_node_is_asked) {
    struct fixture f;
    static const char stale[] = "*1\r\n*3\r\n:0\r\n:16383\r\n" NODE("1\r\nh", "1");
    begin(&f, 2,
          SCRIPTS(ANSWERS(stale, NO_SHARDS, stale, NO_SHARDS), ANSWERS(two_ranges, NO_SHARDS)));
    assert_int_equal(find(&f, 5), RLOCK_OK);
    assert_at(f.found, "h", "1");
    rlock__cluster_doubt(f.cluster);
    assert_int_equal(find(&f, 5), RLOCK_OK);
    assert_at(f.found, "10.0.0.1", "7001");
    end(&f);
}

TEST(a_node_that_does_not_answer_is_passed_over) {
    static const char *const deaf[] = {PEER_CLOSE, PEER_SILENT, "-LOADING wait\r\n",
                                       "-NOPERM no\r\n",
                                       "-ERR This instance has cluster support disabled\r\n"};
    for (size_t i = 0; i < COUNT(deaf); i++) {
        struct fixture f;
        const struct rlock__limit limit = {rlock_now_ms() + 10 * SHORT_MS, -1};
        begin(&f, 2, SCRIPTS(ANSWERS(deaf[i]), ANSWERS(two_ranges, NO_SHARDS)));
        assert_int_equal(rlock__cluster_find(f.cluster, 5, &limit, &f.found), RLOCK_OK);
        assert_at(f.found, "10.0.0.1", "7001");
        end(&f);
    }
}

TEST(why_no_node_helps_is_told) {
    static const struct {
        const char *first, *second;
        enum rlock_status status;
        const char *error;
    } rows[] = {
        {PEER_CLOSE, PEER_CLOSE, RLOCK_AGAIN,
         "the server closed the connection (if it speaks TLS, give rediss://)"},
        {"-LOADING wait\r\n", PEER_CLOSE, RLOCK_AGAIN, "LOADING wait"},
        {PEER_CLOSE, "-NOPERM no\r\n", RLOCK_DENIED, "no"},
        {"-ERR This instance has cluster support disabled\r\n", PEER_CLOSE, RLOCK_UNAVAILABLE,
         "it is not a cluster: give redis://HOST"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        begin(&f, 2, SCRIPTS(ANSWERS(rows[i].first), ANSWERS(rows[i].second)));
        assert_int_equal(find(&f, 5), rows[i].status);
        assert_string_equal(f.error.text, rows[i].error);
        end(&f);
    }
}

TEST(sharded_channels_are_used_where_they_are_known) {
    static const struct {
        const char *answer;
        bool sharded;
    } rows[] = {{SHARDS, true}, {NO_SHARDS, false}, {"-NOPERM no\r\n", true}, {PEER_CLOSE, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        begin(&f, 1, SCRIPTS(ANSWERS(two_ranges, rows[i].answer)));
        assert_int_equal(find(&f, 5), RLOCK_OK);
        assert_int_equal(rlock__cluster_sharded(f.cluster), rows[i].sharded);
        end(&f);
        assert_string_equal(f.peers[0].requests[1].words[1].data, "SHARDNUMSUB");
    }
}

/* A keeper, a listener: nobody is asked what is known already. */
TEST(what_is_known_is_taken_over) {
    struct fixture f;
    begin(&f, 1, SCRIPTS(ANSWERS(two_ranges, SHARDS)));
    assert_int_equal(find(&f, 5), RLOCK_OK);
    struct rlock__cluster *like = rlock__cluster_new(&f.server, &f.access, f.cluster, &f.error);
    assert_non_null(like);
    rlock__cluster_free(f.cluster);
    f.cluster = like;
    assert_int_equal(find(&f, 5), RLOCK_OK);
    assert_at(f.found, "10.0.0.1", "7001");
    assert_int_equal(find(&f, 100), RLOCK_OK);
    assert_true(rlock__cluster_has_replica(f.found));
    assert_true(rlock__cluster_sharded(like));
    end(&f);
    assert_int_equal(f.peers[0].request_count, 2);
}
