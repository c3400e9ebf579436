/* test_redirect.c: the way of a script through a cluster: MOVED, ASK, and what comes of them. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "lock/kind.h"
#include "redis/slot.h"
#include "support/peer.h"

enum { NODES_MAX = 2, LONG_MS = 5000, TEXT_SIZE = 256 };

#define HOST_OF_16  "abcdefghijklmnop"
#define HOST_OF_64  HOST_OF_16 HOST_OF_16 HOST_OF_16 HOST_OF_16
#define HOST_OF_256 HOST_OF_64 HOST_OF_64 HOST_OF_64 HOST_OF_64
#define YES(token)  "*3\r\n:1\r\n:" #token "\r\n:30000\r\n"

/* The first node is the one that the URL names; it says that it serves all slots. */
struct fixture {
    struct peer peers[NODES_MAX];
    const char *answers[NODES_MAX][16];
    char slots[TEXT_SIZE], text[4][TEXT_SIZE];
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
    f->site.server.hosts[0] = (struct rlock__host){.name = "127.0.0.1", .port = f->peers[0].port};
    (void)snprintf(f->slots, sizeof f->slots,
                   "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:%s\r\n$2\r\nid\r\n",
                   f->peers[0].port);
    f->answers[0][0] = f->slots;
    f->answers[0][1] = "*0\r\n"; /* it knows sharded channels */
    assert_true(rlock__route_init(&f->route, &f->site, NULL));
}

/* Says the next thing that a node says. */
static void says(struct fixture *f, size_t node, const char *text) {
    size_t i = 0;
    while (f->answers[node][i] != NULL)
        i++;
    f->answers[node][i] = text;
}

/* An error that names a node, such as "-MOVED 16287 127.0.0.1:%s\r\n". */
static const char *naming(struct fixture *f, size_t node, const char *format) {
    size_t i = 0;
    while (f->text[i][0] != '\0')
        i++;
    const char *rest = strstr(format, "%s");
    char port[sizeof f->peers[node].port];
    memcpy(port, f->peers[node].port, sizeof port);
    (void)snprintf(f->text[i], TEXT_SIZE, "%.*s%s%s", (int)(rest - format), format, port, rest + 2);
    return f->text[i];
}

static void serve(struct fixture *f) {
    for (size_t i = 0; i < NODES_MAX; i++)
        peer_serve(&f->peers[i], f->answers[i]);
}

static enum rlock_status run(struct fixture *f) {
    static const struct rlock__call call = {.key_count = 1,
                                            .keys = {"x"},
                                            .arg_count = 5,
                                            .args = {"a", "b", "c", "d", "SPUBLISH e:{x}"}};
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1, NULL};
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

static void forget(struct fixture *f) {
    for (size_t i = 0; i < NODES_MAX; i++)
        peer_free(&f->peers[i]);
}

/* The first words of what a node was asked, in one line. */
static void assert_asked(const struct fixture *f, size_t node, const char *expected) {
    char text[TEXT_SIZE] = "";
    for (size_t i = 0; i < f->peers[node].request_count; i++)
        (void)strcat(strcat(text, i > 0 ? " " : ""), f->peers[node].requests[i].words[0].data);
    assert_string_equal(text, expected);
}

/* --- a script's way -----------------------------------------------------------------------------
 */

static void it_goes_to_the_node_of_its_slot(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    says(&f, 0, YES(5));
    serve(&f);
    assert_int_equal(run(&f), RLOCK_OK);
    assert_int_equal(f.answer.a, 5);
    end(&f);
    assert_asked(&f, 0, "CLUSTER PUBSUB EVALSHA");
    /* The channel is of the shard, and the script tells by it. */
    assert_string_equal(f.peers[0].requests[2].words[3 + 1 + 4].data, "SPUBLISH e:{x}");
    forget(&f);
}

static void moved_is_followed_and_remembered(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    says(&f, 0, naming(&f, 1, "-MOVED 16287 127.0.0.1:%s\r\n"));
    says(&f, 1, YES(5));
    /* The next time the cluster is asked what else has moved. */
    says(&f, 0, f.slots);
    says(&f, 0, YES(6));
    serve(&f);
    assert_int_equal(run(&f), RLOCK_OK);
    assert_int_equal(f.answer.a, 5);
    assert_string_equal(f.route.used->port, f.peers[1].port);
    assert_int_equal(run(&f), RLOCK_OK);
    assert_int_equal(f.answer.a, 6);
    end(&f);
    assert_asked(&f, 0, "CLUSTER PUBSUB EVALSHA CLUSTER EVALSHA");
    assert_asked(&f, 1, "EVALSHA");
    forget(&f);
}

static void ask_is_followed_once(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    says(&f, 0, naming(&f, 1, "-ASK 16287 127.0.0.1:%s\r\n"));
    says(&f, 1, "+OK\r\n");
    says(&f, 1, YES(5));
    says(&f, 0, YES(6));
    serve(&f);
    assert_int_equal(run(&f), RLOCK_OK);
    assert_int_equal(f.answer.a, 5);
    assert_int_equal(run(&f), RLOCK_OK); /* the slot is still the first one's */
    assert_int_equal(f.answer.a, 6);
    end(&f);
    assert_asked(&f, 0, "CLUSTER PUBSUB EVALSHA EVALSHA");
    assert_asked(&f, 1, "ASKING EVALSHA");
    forget(&f);
}

/* Each EVAL needs an ASKING of its own. */
static void what_is_asked_for_may_not_know_the_script(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    const char *ask = naming(&f, 1, "-ASK 16287 127.0.0.1:%s\r\n");
    says(&f, 0, ask);
    says(&f, 1, "+OK\r\n");
    says(&f, 1, "-NOSCRIPT no\r\n");
    /* Without ASKING the node sends it back; it must come to an end all the same. */
    says(&f, 1, "+OK\r\n");
    says(&f, 1, YES(5));
    serve(&f);
    assert_int_equal(run(&f), RLOCK_OK);
    assert_int_equal(f.answer.a, 5);
    end(&f);
    assert_asked(&f, 1, "ASKING EVALSHA ASKING EVAL");
    forget(&f);
}

static void a_node_that_names_no_host_means_its_own(void **state) {
    (void)state;
    static const char *const formats[] = {"-MOVED 16287 :%s\r\n", "-MOVED 16287 ?:%s\r\n"};
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct fixture f;
        begin(&f);
        says(&f, 0, naming(&f, 1, formats[i]));
        says(&f, 1, YES(5));
        serve(&f);
        assert_int_equal(run(&f), RLOCK_OK);
        assert_int_equal(f.answer.a, 5);
        end(&f);
        forget(&f);
    }
}

/* Two nodes that each know better: as many steps as a cluster needs, not more. */
static void a_circle_comes_to_an_end(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    const char *there = naming(&f, 1, "-MOVED 16287 127.0.0.1:%s\r\n");
    const char *here = naming(&f, 0, "-MOVED 16287 127.0.0.1:%s\r\n");
    for (size_t i = 0; i < 8; i++) {
        says(&f, 0, there);
        says(&f, 1, here);
    }
    serve(&f);
    assert_int_equal(run(&f), RLOCK_AGAIN); /* it may pass */
    assert_non_null(strstr(f.route.error.text, "MOVED 16287"));
    end(&f);
    assert_int_equal(f.peers[0].request_count + f.peers[1].request_count, 2 + 9);
    forget(&f);
}

static void what_may_pass_is_asked_anew(void **state) {
    (void)state;
    static const char *const errors[] = {"-TRYAGAIN Multiple keys request\r\n",
                                         "-CLUSTERDOWN The cluster is down\r\n",
                                         "-READONLY no\r\n"};
    for (size_t i = 0; i < COUNT(errors); i++) {
        struct fixture f;
        begin(&f);
        says(&f, 0, errors[i]);
        says(&f, 0, f.slots);
        says(&f, 0, YES(5));
        serve(&f);
        assert_int_equal(run(&f), RLOCK_AGAIN);
        assert_int_equal(run(&f), RLOCK_OK);
        end(&f);
        assert_asked(&f, 0, "CLUSTER PUBSUB EVALSHA CLUSTER EVALSHA");
        forget(&f);
    }
}

static void replicas_are_asked_where_it_was_written(void **state) {
    (void)state;
    static const struct rlock__call call = {.key_count = 1,
                                            .keys = {"x"},
                                            .arg_count = 5,
                                            .args = {"a", "b", "c", "d", "SPUBLISH e:{x}"},
                                            .replicated = true};
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1, NULL};
    struct fixture f;
    begin(&f);
    f.site.replicas = 1;
    says(&f, 0, naming(&f, 1, "-MOVED 16287 127.0.0.1:%s\r\n"));
    says(&f, 1, YES(5));
    says(&f, 1, ":1\r\n");
    serve(&f);
    assert_int_equal(
        rlock__script_run(&f.route, rlock__kind_find("run")->acquire, &call, &limit, &f.answer),
        RLOCK_OK);
    end(&f);
    assert_asked(&f, 1, "EVALSHA WAIT");
    forget(&f);
}

/* A key of each half of the slots. */
static const char *key_of(bool upper) {
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    size_t i = 0;
    while (i + 1 < COUNT(keys) && (rlock__slot(keys[i]) >= 8192) != upper)
        i++;
    return keys[i];
}

/* Two names in one round trip: the node that answers does not speak for the one that does not. */
static void each_script_knows_whether_it_was_answered(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    (void)snprintf(f.slots, sizeof f.slots,
                   "*2\r\n*3\r\n:0\r\n:8191\r\n*3\r\n$9\r\n127.0.0.1\r\n:%s\r\n$1\r\na\r\n"
                   "*3\r\n:8192\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:%s\r\n$1\r\nb\r\n",
                   f.peers[0].port, f.peers[1].port);
    says(&f, 0, PEER_CLOSE);
    says(&f, 1, YES(5));
    serve(&f);
    struct rlock__call calls[2];
    struct rlock__run runs[2];
    struct rlock__batch batches[2];
    for (size_t i = 0; i < 2; i++) {
        calls[i] = (struct rlock__call){.key_count = 1,
                                        .keys = {key_of(i == 1)},
                                        .arg_count = 5,
                                        .args = {"a", "b", "c", "d", "SPUBLISH e"}};
        runs[i] = (struct rlock__run){.route = &f.route, .call = &calls[i]};
        batches[i] = (struct rlock__batch){.runs = &runs[i], .count = 1, .enough = 1};
    }
    batches[0].next = &batches[1];
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1, NULL};
    rlock__script_run_batches(batches, rlock__kind_find("run")->acquire, &limit);
    assert_int_equal(runs[0].status, RLOCK_AGAIN);
    assert_true(runs[0].unanswered);
    assert_int_equal(runs[1].status, RLOCK_OK);
    assert_false(runs[1].unanswered);
    rlock__reply_free(runs[1].answer.reply);
    end(&f);
    assert_asked(&f, 0, "CLUSTER PUBSUB EVALSHA");
    assert_asked(&f, 1, "EVALSHA");
    forget(&f);
}

/* --- the text -----------------------------------------------------------------------------------
 */

static void where_a_text_sends_us(void **state) {
    (void)state;
    static const struct {
        const char *text, *host, *port; /* NULL: nowhere */
        bool asking;
    } rows[] = {
        {"MOVED 3999 10.0.0.1:6381", "10.0.0.1", "6381", false},
        {"ASK 3999 10.0.0.1:6381", "10.0.0.1", "6381", true},
        {"MOVED 0 node.example:1", "node.example", "1", false},
        {"MOVED 16383 h:65535", "h", "65535", false},
        {"MOVED 3999 ::1:6381", "::1", "6381", false},
        {"ASK 3999 2001:db8::7:6381", "2001:db8::7", "6381", true},
        {"MOVED 3999 :6381", "seed", "6381", false},
        {"MOVED 3999 ?:6381", "seed", "6381", false},
        {"MOVED", NULL, NULL, false},
        {"MOVED ", NULL, NULL, false},
        {"MOVED 3999", NULL, NULL, false},
        {"MOVED 3999 ", NULL, NULL, false},
        {"MOVED 3999 h", NULL, NULL, false},
        {"MOVED 16384 h:1", NULL, NULL, false},
        {"MOVED -1 h:1", NULL, NULL, false},
        {"MOVED x h:1", NULL, NULL, false},
        {"MOVED 3999 h:99999999", NULL, NULL, false},
        {"MOVED 3999 h:", NULL, NULL, false},
        {"MOVED 3999 h:x", NULL, NULL, false},
        {"MOVED 3999 h:0", NULL, NULL, false},
        {"MOVED 3999 h:65536", NULL, NULL, false},
        {"MOVED 3999 " HOST_OF_256 ":1", NULL, NULL, false},
        {"ASK 3999 " HOST_OF_256 HOST_OF_256 ":1", NULL, NULL, false},
        {"MOVED 3999 a\033[2J:1", NULL, NULL, false},
        {"MOVED 3999 a b:1", NULL, NULL, false},
        {"TRYAGAIN 3999 h:1", NULL, NULL, false},
        {"ERR MOVED 3999 h:1", NULL, NULL, false},
    };
    const struct rlock__access access = {.connect_timeout_ms = LONG_MS};
    const struct rlock__server server = {
        .topology = RLOCK__CLUSTER, .host_count = 1, .hosts = {{.name = "seed", .port = "1"}}};
    struct rlock__error error;
    struct rlock__link from;
    rlock__link_init(&from, "seed", "1", &access, &error);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rlock__cluster *cluster = rlock__cluster_new(&server, &access, NULL, &error);
        bool asking = false;
        assert_non_null(cluster);
        const struct rlock__link *to =
            rlock__cluster_redirected(cluster, &from, rows[i].text, &asking);
        if ((to != NULL) != (rows[i].host != NULL))
            fail_msg("%s: %s", rows[i].text, to != NULL ? to->host : "nowhere");
        if (to != NULL) {
            assert_string_equal(to->host, rows[i].host);
            assert_string_equal(to->port, rows[i].port);
            assert_int_equal(asking, rows[i].asking);
        }
        rlock__cluster_free(cluster);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_goes_to_the_node_of_its_slot),
        cmocka_unit_test(moved_is_followed_and_remembered),
        cmocka_unit_test(ask_is_followed_once),
        cmocka_unit_test(what_is_asked_for_may_not_know_the_script),
        cmocka_unit_test(a_node_that_names_no_host_means_its_own),
        cmocka_unit_test(a_circle_comes_to_an_end),
        cmocka_unit_test(what_may_pass_is_asked_anew),
        cmocka_unit_test(replicas_are_asked_where_it_was_written),
        cmocka_unit_test(each_script_knows_whether_it_was_answered),
        cmocka_unit_test(where_a_text_sends_us),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
