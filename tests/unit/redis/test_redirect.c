/* test_redirect.c: the way of a script through a cluster: MOVED, ASK, and what comes of them. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "lock/kind.h"
#include "redis/route.h"
#include "support/peer.h"

enum { NODES_MAX = 2, LONG_MS = 5000, TEXT_SIZE = 256 };

#define HOST_OF_16  "abcdefghijklmnop"
#define HOST_OF_64  HOST_OF_16 HOST_OF_16 HOST_OF_16 HOST_OF_16
#define HOST_OF_256 HOST_OF_64 HOST_OF_64 HOST_OF_64 HOST_OF_64
#define YES(token)  "*3\r\n:1\r\n:" #token "\r\n:30000\r\n"

/* In the place of an answer: that the first node serves all slots, or that the other one does. */
static const char SLOTS[] = "slots", MOVED[] = "moved", ASK[] = "ask";

#define ASKED  "+OK\r\n"
#define SILENT ANSWERS(NULL)

/* The first node is the one that the URL names. */
struct fixture {
    struct peer peers[NODES_MAX];
    const char *answers[NODES_MAX][16];
    char slots[TEXT_SIZE], moved[NODES_MAX][TEXT_SIZE], ask[NODES_MAX][TEXT_SIZE];
    struct rlock__site site;
    struct rlock__route route;
    struct rlock__answer answer;
};

static void begin(struct fixture *f) {
    *f = (struct fixture){.site = {.server = {.topology = RLOCK__CLUSTER, .host_count = 1},
                                   .access = {.connect_timeout_ms = LONG_MS},
                                   .replica_timeout_ms = 70}};
    for (size_t i = 0; i < NODES_MAX; i++)
        peer_listen_tcp(&f->peers[i]);
    for (size_t i = 0; i < NODES_MAX; i++) {
        const char *other = f->peers[1 - i].port;
        (void)snprintf(f->moved[i], TEXT_SIZE, "-MOVED 16287 127.0.0.1:%s\r\n", other);
        (void)snprintf(f->ask[i], TEXT_SIZE, "-ASK 16287 127.0.0.1:%s\r\n", other);
    }
    f->site.server.hosts[0] = (struct rlock__host){.name = "127.0.0.1", .port = f->peers[0].port};
    (void)snprintf(f->slots, sizeof f->slots,
                   "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:%s\r\n$2\r\nid\r\n",
                   f->peers[0].port);
    assert_true(rlock__route_init(&f->route, &f->site, NULL));
}

/* The first node is asked for the slots and for sharded channels, which it knows, and then for what
 * the test has. */
static void serve(struct fixture *f, const char *const *first, const char *const *second) {
    const char *const *scripts[] = {first, second};
    f->answers[0][0] = f->slots;
    f->answers[0][1] = "*0\r\n";
    for (size_t i = 0; i < NODES_MAX; i++) {
        const char **to = &f->answers[i][i == 0 ? 2 : 0];
        for (const char *const *answer = scripts[i]; *answer != NULL; answer++)
            *to++ = *answer == SLOTS   ? f->slots
                    : *answer == MOVED ? f->moved[i]
                    : *answer == ASK   ? f->ask[i]
                                       : *answer;
        peer_serve(&f->peers[i], f->answers[i]);
    }
}

static struct rlock__call call_of(const char *key, bool replicated) {
    return (struct rlock__call){.key_count = 1,
                                .keys = {key},
                                .arg_count = 5,
                                .args = {"a", "b", "c", "d", "SPUBLISH e:{x}"},
                                .replicated = replicated};
}

static enum rlock_status run(struct fixture *f, bool replicated) {
    const struct rlock__call call = call_of("x", replicated);
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1};
    rlock__reply_free(f->answer.reply);
    return rlock__script_run(&f->route, rlock__kind_find("run")->acquire, &call, &limit,
                             &f->answer);
}

static void end(struct fixture *f) {
    rlock__reply_free(f->answer.reply);
    rlock__route_free(&f->route);
    for (size_t i = 0; i < NODES_MAX; i++)
        peer_stop(&f->peers[i]);
}

/* The first words of what a node was asked, in one line; of the first behind those of its slots. */
static const char *asked(const struct fixture *f, size_t node) {
    static char text[TEXT_SIZE];
    text[0] = '\0';
    for (size_t i = node == 0 ? 2 : 0; i < f->peers[node].request_count; i++)
        (void)strcat(strcat(text, text[0] != '\0' ? " " : ""),
                     f->peers[node].requests[i].words[0].data);
    return text;
}

TEST(a_script_finds_its_node) {
    const char *const *circle = ANSWERS(MOVED, MOVED, MOVED, MOVED, MOVED, MOVED, MOVED, MOVED);
    const struct {
        const char *what, *const *first, *const *second;
        enum rlock_status status;
        int64_t again; /* the token of a second run; 0: there is none */
        const char *first_asked, *second_asked;
        int replicas;
    } rows[] = {
        {"it goes to the node of its slot", ANSWERS(YES(5)), SILENT, RLOCK_OK, 0, "EVALSHA", "", 0},
        /* The next time the cluster is asked what else has moved. */
        {"moved is followed and remembered", ANSWERS(MOVED, SLOTS, YES(6)), ANSWERS(YES(5)),
         RLOCK_OK, 6, "EVALSHA CLUSTER EVALSHA", "EVALSHA", 0},
        /* The slot is still the first one's. */
        {"ask is followed once", ANSWERS(ASK, YES(6)), ANSWERS(ASKED, YES(5)), RLOCK_OK, 6,
         "EVALSHA EVALSHA", "ASKING EVALSHA", 0},
        /* Without ASKING the node sends it back; it must come to an end all the same. */
        {"each EVAL needs an ASKING of its own", ANSWERS(ASK),
         ANSWERS(ASKED, "-NOSCRIPT no\r\n", ASKED, YES(5)), RLOCK_OK, 0, "EVALSHA",
         "ASKING EVALSHA ASKING EVAL", 0},
        {"what may pass is asked anew", ANSWERS("-TRYAGAIN Multiple keys\r\n", SLOTS, YES(6)),
         SILENT, RLOCK_AGAIN, 6, "EVALSHA CLUSTER EVALSHA", "", 0},
        {"a cluster that is down is asked anew", ANSWERS("-CLUSTERDOWN no\r\n", SLOTS, YES(6)),
         SILENT, RLOCK_AGAIN, 6, "EVALSHA CLUSTER EVALSHA", "", 0},
        {"replicas are asked where it was written", ANSWERS(MOVED), ANSWERS(YES(5), ":1\r\n"),
         RLOCK_OK, 0, "EVALSHA", "EVALSHA WAIT", 1},
        /* Two nodes that each know better: as many steps as a cluster needs, not more. */
        {"a circle comes to an end, and may pass", circle, circle, RLOCK_AGAIN, 0,
         "EVALSHA EVALSHA EVALSHA EVALSHA EVALSHA", "EVALSHA EVALSHA EVALSHA EVALSHA", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        begin(&f);
        f.site.replicas = rows[i].replicas;
        serve(&f, rows[i].first, rows[i].second);
        const enum rlock_status status = run(&f, rows[i].replicas > 0);
        const int64_t token = status == RLOCK_OK ? f.answer.a : 0;
        if (status != rows[i].status || token != (status == RLOCK_OK ? 5 : 0))
            fail_msg("%s: %s", rows[i].what, rlock_status_text(status));
        if (rows[i].again != 0 && (run(&f, false) != RLOCK_OK || f.answer.a != rows[i].again))
            fail_msg("%s: not again", rows[i].what);
        if (rows[i].first == circle)
            assert_non_null(strstr(f.route.error.text, "MOVED 16287"));
        end(&f);
        if (strcmp(asked(&f, 0), rows[i].first_asked) != 0)
            fail_msg("%s: the first was asked %s", rows[i].what, asked(&f, 0));
        if (strcmp(asked(&f, 1), rows[i].second_asked) != 0)
            fail_msg("%s: the second was asked %s", rows[i].what, asked(&f, 1));
        /* The channel is of the shard, and the script tells by it. */
        assert_string_equal(f.peers[0].requests[2].words[3 + 1 + 4].data, "SPUBLISH e:{x}");
    }
}

/* Two names in one round trip: the node that answers does not speak for the one that does not. */
TEST(each_script_knows_whether_it_was_answered) {
    struct fixture f;
    assert_true(rlock__slot("bar") < 8192 && rlock__slot("foo") >= 8192);
    begin(&f);
    (void)snprintf(f.slots, sizeof f.slots,
                   "*2\r\n*3\r\n:0\r\n:8191\r\n*3\r\n$9\r\n127.0.0.1\r\n:%s\r\n$1\r\na\r\n"
                   "*3\r\n:8192\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:%s\r\n$1\r\nb\r\n",
                   f.peers[0].port, f.peers[1].port);
    serve(&f, ANSWERS(PEER_CLOSE), ANSWERS(YES(5)));
    struct rlock__call calls[2];
    struct rlock__run runs[2];
    struct rlock__batch batches[2];
    for (size_t i = 0; i < 2; i++) {
        calls[i] = call_of(i == 0 ? "bar" : "foo", false);
        runs[i] = (struct rlock__run){.route = &f.route, .call = &calls[i]};
        batches[i] = (struct rlock__batch){.runs = &runs[i], .count = 1, .enough = 1};
    }
    batches[0].next = &batches[1];
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1};
    rlock__script_run_batches(batches, rlock__kind_find("run")->acquire, &limit);
    assert_int_equal(runs[0].status, RLOCK_AGAIN);
    assert_true(runs[0].unanswered);
    assert_int_equal(runs[1].status, RLOCK_OK);
    assert_false(runs[1].unanswered);
    rlock__reply_free(runs[1].answer.reply);
    end(&f);
    assert_string_equal(asked(&f, 0), "EVALSHA");
    assert_string_equal(asked(&f, 1), "EVALSHA");
}

TEST(where_a_text_sends_us) {
    static const struct {
        const char *place, *texts[13]; /* "": nowhere */
    } rows[] = {
        {"10.0.0.1 6381", {"MOVED 3999 10.0.0.1:6381", "ASK 3999 10.0.0.1:6381"}},
        {"node.example 1", {"MOVED 0 node.example:1"}},
        {"h 65535", {"MOVED 16383 h:65535"}},
        {"::1 6381", {"MOVED 3999 ::1:6381"}},
        {"2001:db8::7 6381", {"ASK 3999 2001:db8::7:6381"}},
        {"seed 6381", {"MOVED 3999 :6381", "MOVED 3999 ?:6381"}},
        {"",
         {"MOVED", "MOVED 3999", "MOVED 3999 h", "MOVED 16384 h:1", "MOVED -1 h:1", "MOVED x h:1",
          "MOVED 3999 h:", "ASK 3999 " HOST_OF_256 HOST_OF_256 ":1", "MOVED 3999 a\033[2J:1",
          "MOVED 3999 a\x7f:1", "TRYAGAIN 3999 h:1", "ERR MOVED 3999 h:1"}},
    };
    const struct rlock__access access = {.connect_timeout_ms = LONG_MS};
    const struct rlock__site site = {
        .server = {.host_count = 1, .hosts = {{.name = "seed", .port = "1"}}}, .access = access};
    struct rlock__error error;
    struct rlock__link from;
    rlock__link_init(&from, "seed", "1", &access, &error);
    struct rlock__cluster *cluster = rlock__cluster_new(&site, NULL, &error);
    assert_non_null(cluster);
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (const char *const *text = rows[i].texts; *text != NULL; text++) {
            char place[2 * TEXT_SIZE] = "";
            bool asking = false;
            const struct rlock__link *to =
                rlock__cluster_redirected(cluster, &from, *text, &asking);
            if (to != NULL)
                (void)snprintf(place, sizeof place, "%s %s", to->host, to->port);
            if (strcmp(place, rows[i].place) != 0)
                fail_msg("%s: %s", *text, place);
            assert_int_equal(to != NULL && asking, to != NULL && **text == 'A');
        }
    }
    rlock__cluster_free(cluster);
}
