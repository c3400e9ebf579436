/* test_route.c: the way to where a lock lives, and how long what is known of it is believed. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "redis/route.h"
#include "support/peer.h"

enum { LONG_MS = 5000, FRESH_MS = 1000 };

#define ANSWERS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define AT(host)     "*2\r\n$2\r\n" host "\r\n$4\r\n6380\r\n"
#define REPLICA(n)   "*4\r\n+ip\r\n+r" #n "\r\n+port\r\n+1\r\n"
#define ONE          "*1\r\n" REPLICA(1)
#define TWO          "*2\r\n" REPLICA(1) REPLICA(2)
#define NO_REPLICA   "*0\r\n"
#define OLD_MASTER                                                                                 \
    "*1\r\n*8\r\n+ip\r\n+r1\r\n+port\r\n+1\r\n+role-reported\r\n+master\r\n+master-host\r\n+?\r\n"

struct fixture {
    struct peer sentinel;
    struct rlock__site site;
    struct rlock__route route;
    struct rlock__link *link;
};

static void begin(struct fixture *f, const char *const *answers, int replicas) {
    peer_start(&f->sentinel, answers);
    f->site = (struct rlock__site){.server = {.topology = RLOCK__SENTINEL,
                                              .host_count = 1,
                                              .hosts = {{.name = f->sentinel.path, .port = ""}},
                                              .master = "m"},
                                   .access = {.connect_timeout_ms = LONG_MS},
                                   .finder = {.connect_timeout_ms = LONG_MS},
                                   .replicas = replicas};
    assert_true(rlock__route_init(&f->route, &f->site, NULL));
}

static void end(struct fixture *f) {
    rlock__route_free(&f->route);
    peer_stop(&f->sentinel);
    peer_free(&f->sentinel);
}

static enum rlock_status find(struct fixture *f) {
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1, NULL};
    return rlock__route_find(&f->route, "x", &limit, &f->link);
}

/* As if what the Sentinel said were old by now. */
static void age(struct fixture *f) {
    f->route.located_ms -= FRESH_MS;
}

static void a_single_server_is_where_its_url_says(void **state) {
    (void)state;
    static const struct {
        struct rlock__server server;
        const char *host, *port;
    } rows[] = {
        {{.host_count = 1, .hosts = {{.name = "h", .port = "7"}}}, "h", "7"},
        {{.path = "/run/s"}, "/run/s", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct rlock__site site = {.server = rows[i].server};
        const struct rlock__limit at_once = {0, -1, NULL};
        struct rlock__route route;
        struct rlock__link *link;
        bool asking;
        assert_true(rlock__route_init(&route, &site, NULL));
        assert_int_equal(rlock__route_find(&route, "x", &at_once, &link), RLOCK_OK);
        assert_string_equal(link->host, rows[i].host);
        assert_string_equal(link->port, rows[i].port);
        rlock__route_doubt(&route); /* there is no other place */
        assert_int_equal(rlock__route_find(&route, "x", &at_once, &link), RLOCK_OK);
        assert_null(rlock__route_redirected(&route, link, "MOVED 1 h:1", &asking));
        assert_false(rlock__route_sharded(&route, "x", "c:{x}"));
        rlock__route_free(&route);
    }
}

static void how_many_replicas_are_wanted(void **state) {
    (void)state;
    static const struct {
        int replicas;
        const char *known;
        int wanted;
    } rows[] = {
        {RLOCK_REPLICAS_AUTO, ONE, 1},
        {RLOCK_REPLICAS_AUTO, TWO, 2},
        {RLOCK_REPLICAS_AUTO, NO_REPLICA, 0},
        {0, NULL, 0},
        {1, NULL, 1},
        {3, NULL, 3},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        const char *const *answers =
            rows[i].known != NULL ? ANSWERS(rows[i].known, AT("h1")) : ANSWERS(AT("h1"));
        begin(&f, answers, rows[i].replicas);
        assert_int_equal(find(&f), RLOCK_OK);
        assert_int_equal(rlock__route_replicas(&f.route, f.link), rows[i].wanted);
        assert_int_equal(rlock__route_named(&f.route) != NULL,
                         rows[i].replicas == RLOCK_REPLICAS_AUTO);
        end(&f);
    }
}

/* One has come, and both are gone: as often as the master is asked for. */
static void the_replicas_are_those_of_the_last_word(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(ONE, AT("h1"), TWO, AT("h1"), PEER_CLOSE, NO_REPLICA, AT("h1")),
          RLOCK_REPLICAS_AUTO);
    static const int wanted[] = {1, 2, 2, 0}; /* the third time nobody says anything */
    for (size_t i = 0; i < COUNT(wanted); i++) {
        assert_int_equal(find(&f), RLOCK_OK);
        assert_int_equal(rlock__route_replicas(&f.route, f.link), wanted[i]);
        age(&f);
    }
    end(&f);
}

/* Asked again now and then, also of a master that answers: it may have been replaced. */
static void the_sentinel_is_believed_for_a_second(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(AT("h1"), AT("h1"), AT("h2")), 0);
    assert_int_equal(find(&f), RLOCK_OK);
    assert_string_equal(f.link->host, "h1");
    assert_string_equal(f.link->port, "6380");
    assert_int_equal(find(&f), RLOCK_OK);
    age(&f);
    assert_int_equal(find(&f), RLOCK_OK);
    assert_string_equal(f.link->host, "h1");
    age(&f);
    assert_int_equal(find(&f), RLOCK_OK);
    assert_string_equal(f.link->host, "h2");
    assert_int_equal(find(&f), RLOCK_OK);
    rlock__route_close(&f.route);
    peer_stop(&f.sentinel);
    assert_int_equal(f.sentinel.request_count, 3);
    rlock__route_free(&f.route);
    peer_free(&f.sentinel);
}

/* It may have become a replica since, and been promoted: then its acknowledgment is wanted. */
static void while_the_old_master_is_no_replica_nothing_is_believed(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(OLD_MASTER, AT("h1"), OLD_MASTER, AT("h1"), ONE, AT("h1")),
          RLOCK_REPLICAS_AUTO);
    static const int wanted[] = {0, 0, 1, 1};
    for (size_t i = 0; i < COUNT(wanted); i++) {
        assert_int_equal(find(&f), RLOCK_OK);
        assert_int_equal(rlock__route_replicas(&f.route, f.link), wanted[i]);
    }
    end(&f);
}

/* Whoever it was that moved away: the connection to it is not used again. */
static void another_master_is_another_connection(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(AT("h1"), AT("h2")), 0);
    assert_int_equal(find(&f), RLOCK_OK);
    f.link->stage = RLOCK__READY;
    age(&f);
    assert_int_equal(find(&f), RLOCK_OK);
    assert_int_equal(f.link->stage, RLOCK__CLOSED);
    end(&f);
}

static void without_sentinels_the_known_master_serves(void **state) {
    (void)state;
    static const char *const says[] = {PEER_CLOSE, "-LOADING wait\r\n", "*-1\r\n"};
    for (size_t i = 0; i < COUNT(says); i++) {
        struct fixture f;
        begin(&f, ANSWERS(AT("h1"), says[i]), 0);
        assert_int_equal(find(&f), RLOCK_OK);
        age(&f);
        assert_int_equal(find(&f), RLOCK_OK);
        assert_string_equal(f.link->host, "h1");
        end(&f);
    }
}

/* A renewal has no time to lose while there is a master that answers. */
static void a_silent_sentinel_costs_a_glance(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(AT("h1"), PEER_SILENT), 0);
    assert_int_equal(find(&f), RLOCK_OK);
    age(&f);
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(find(&f), RLOCK_OK);
    assert_in_range(rlock_now_ms() - begun_ms, 200, 2000);
    assert_int_equal(find(&f), RLOCK_OK); /* and not each time */
    assert_true(rlock_now_ms() - begun_ms < 2500);
    end(&f);
}

/* One that hangs takes all of a glance: the next time another one is asked first. */
static void a_silent_sentinel_is_not_asked_for_ever(void **state) {
    (void)state;
    struct fixture f;
    struct peer other;
    begin(&f, ANSWERS(AT("h1"), PEER_SILENT), 0);
    peer_start(&other, ANSWERS(PEER_CLOSE, AT("h2")));
    f.site.server.hosts[1] = (struct rlock__host){.name = other.path, .port = ""};
    f.site.server.host_count = 2;
    assert_int_equal(find(&f), RLOCK_OK);
    age(&f);
    assert_int_equal(find(&f), RLOCK_OK);
    assert_string_equal(f.link->host, "h1");
    age(&f);
    assert_int_equal(find(&f), RLOCK_OK);
    assert_string_equal(f.link->host, "h2");
    rlock__route_close(&f.route);
    peer_stop(&f.sentinel);
    assert_int_equal(f.sentinel.request_count, 2);
    rlock__route_free(&f.route);
    peer_free(&f.sentinel);
    peer_stop(&other);
    peer_free(&other);
}

/* It did not work there: who may know better is asked; when nobody says anything it is tried there
 * again. */
static void in_doubt_the_sentinel_is_asked_at_once(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(AT("h1"), PEER_CLOSE, AT("h2"), AT("h3")), 0);
    assert_int_equal(find(&f), RLOCK_OK);
    rlock__route_doubt(&f.route);
    assert_int_equal(find(&f), RLOCK_OK);
    assert_string_equal(f.link->host, "h1");
    assert_int_equal(find(&f), RLOCK_OK);
    assert_string_equal(f.link->host, "h2");
    assert_int_equal(find(&f), RLOCK_OK); /* no doubt any more */
    assert_string_equal(f.link->host, "h2");
    end(&f);
}

static void without_any_word_there_is_no_way(void **state) {
    (void)state;
    static const struct {
        const char *says;
        enum rlock_status status;
    } rows[] = {{PEER_CLOSE, RLOCK_AGAIN},
                {"*-1\r\n", RLOCK_UNAVAILABLE},
                {"-NOAUTH no\r\n", RLOCK_DENIED}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        begin(&f, ANSWERS(rows[i].says), 0);
        assert_int_equal(find(&f), rows[i].status);
        assert_true(f.route.error.text[0] != '\0');
        end(&f);
    }
}

/* A keeper, a listener: they begin where the lock was taken. */
static void what_is_known_is_taken_over(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(ONE, AT("h1")), RLOCK_REPLICAS_AUTO);
    assert_int_equal(find(&f), RLOCK_OK);
    struct rlock__route like;
    assert_true(rlock__route_init(&like, &f.site, &f.route));
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1, NULL};
    struct rlock__link *link;
    assert_int_equal(rlock__route_find(&like, "x", &limit, &link), RLOCK_OK);
    assert_string_equal(link->host, "h1");
    assert_int_equal(rlock__route_replicas(&like, link), 1);
    assert_ptr_not_equal(link, f.link);
    rlock__route_free(&like);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_server_is_where_its_url_says),
        cmocka_unit_test(how_many_replicas_are_wanted),
        cmocka_unit_test(the_replicas_are_those_of_the_last_word),
        cmocka_unit_test(the_sentinel_is_believed_for_a_second),
        cmocka_unit_test(while_the_old_master_is_no_replica_nothing_is_believed),
        cmocka_unit_test(another_master_is_another_connection),
        cmocka_unit_test(without_sentinels_the_known_master_serves),
        cmocka_unit_test(a_silent_sentinel_costs_a_glance),
        cmocka_unit_test(a_silent_sentinel_is_not_asked_for_ever),
        cmocka_unit_test(in_doubt_the_sentinel_is_asked_at_once),
        cmocka_unit_test(without_any_word_there_is_no_way),
        cmocka_unit_test(what_is_known_is_taken_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
