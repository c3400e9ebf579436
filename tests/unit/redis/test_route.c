/* test_route.c: the way to where a lock lives, and how long what is known of it is believed. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "redis/route.h"
#include "support/peer.h"

enum { LONG_MS = 5000, FRESH_MS = 1000 };

#define AT(host)   "*2\r\n$2\r\n" host "\r\n$4\r\n6380\r\n"
#define REPLICA(n) "*4\r\n+ip\r\n+r" #n "\r\n+port\r\n+1\r\n"
#define ONE        "*1\r\n" REPLICA(1)
#define TWO        "*2\r\n" REPLICA(1) REPLICA(2)
#define NO_REPLICA "*0\r\n"
#define OLD_MASTER                                                                                 \
    "*1\r\n*8\r\n+ip\r\n+r1\r\n+port\r\n+1\r\n+role-reported\r\n+master\r\n+master-host\r\n+?\r\n"
#define DOWN                                                                                       \
    "*1\r\n*8\r\n+ip\r\n+r1\r\n+port\r\n+1\r\n+flags\r\n+s_down\r\n+last-ok-ping-reply\r\n+"       \
    "9000\r\n"
#define NO_OTHER "*0\r\n"

struct fixture {
    struct peer sentinel;
    struct rlock__site site;
    struct rlock__route routes[2], *route; /* one of them */
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
    f->route = f->routes;
    assert_true(rlock__route_init(f->route, &f->site, NULL));
}

static void end(struct fixture *f) {
    rlock__route_free(f->route);
    peer_stop(&f->sentinel);
}

static enum rlock_status find(struct fixture *f) {
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1};
    return rlock__route_find(f->route, "x", &limit, &f->link);
}

/* As if what the Sentinel said were old by now. */
static void age(struct fixture *f) {
    f->route->located_ms -= FRESH_MS;
}

/* Steps, a letter each: where it is 'f'ound, or what the Sentinel said grows 'o'ld, is in 'd'oubt
 * or is 'k'nown to another one, which goes on: a keeper, a listener. */
static void play(struct fixture *f, const char *steps, char *found, size_t size) {
    size_t length = 0;
    for (; *steps != '\0'; steps++) {
        if (*steps == 'o')
            age(f);
        if (*steps == 'd')
            rlock__route_doubt(f->route);
        if (*steps == 'k') {
            assert_true(rlock__route_init(&f->routes[1], &f->site, f->route));
            rlock__route_free(f->route);
            f->route = &f->routes[1];
        }
        if (*steps != 'f')
            continue;
        assert_int_equal(find(f), RLOCK_OK);
        length += (size_t)snprintf(found + length, size - length, "%s%s/%d", length > 0 ? " " : "",
                                   f->link->host, rlock__route_replicas(f->route, f->link));
    }
}

/* A row has where it was found, and how many replicas were wanted there. */
TEST(how_long_a_sentinel_is_believed) {
    const struct {
        const char *what, *const *says;
        int replicas;
        const char *steps, *found;
        size_t requests;
    } rows[] = {
        {"where none is wanted", ANSWERS(AT("h1")), 0, "f", "h1/0", 1},
        {"where three are wanted", ANSWERS(AT("h1")), 3, "f", "h1/3", 1},
        {"where all are wanted", ANSWERS(TWO, AT("h1")), RLOCK_REPLICAS_AUTO, "f", "h1/2", 2},
        /* It may have been replaced: it is asked again now and then, also of one that answers. */
        {"a master, for a second", ANSWERS(AT("h1"), AT("h1"), AT("h2")), 0, "ffofoff",
         "h1/0 h1/0 h1/0 h2/0 h2/0", 3},
        /* One has come, and both are gone; the third time nobody says anything. */
        {"replicas, as often as the master is asked for",
         ANSWERS(ONE, AT("h1"), TWO, AT("h1"), PEER_CLOSE, NO_REPLICA, AT("h1")),
         RLOCK_REPLICAS_AUTO, "fofofof", "h1/1 h1/2 h1/2 h1/0", 7},
        /* It may have become a replica since, and been promoted: its acknowledgment is wanted. */
        {"nothing, while the old master is no replica",
         ANSWERS(OLD_MASTER, AT("h1"), OLD_MASTER, AT("h1"), ONE, AT("h1")), RLOCK_REPLICAS_AUTO,
         "ffff", "h1/0 h1/0 h1/1 h1/1", 6},
        {"nothing, while a replica is down",
         ANSWERS(DOWN, AT("h1"), NO_OTHER, DOWN, AT("h1"), NO_OTHER, ONE, AT("h1")),
         RLOCK_REPLICAS_AUTO, "ffff", "h1/0 h1/0 h1/1 h1/1", 8},
        {"what it said, when it has gone", ANSWERS(AT("h1"), PEER_CLOSE), 0, "fof", "h1/0 h1/0", 2},
        {"what it said, when it knows none", ANSWERS(AT("h1"), "*-1\r\n"), 0, "fof", "h1/0 h1/0",
         2},
        /* Where nobody says anything it is tried again; after an answer there is no doubt. */
        {"not at all, in doubt", ANSWERS(AT("h1"), PEER_CLOSE, AT("h2"), AT("h3")), 0, "fdfff",
         "h1/0 h1/0 h2/0 h2/0", 3},
        {"where it is taken over", ANSWERS(ONE, AT("h1")), RLOCK_REPLICAS_AUTO, "fkf", "h1/1 h1/1",
         2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture f;
        char found[128] = "";
        begin(&f, rows[i].says, rows[i].replicas);
        play(&f, rows[i].steps, found, sizeof found);
        assert_int_equal(rlock__route_named(f.route) != NULL,
                         rows[i].replicas == RLOCK_REPLICAS_AUTO);
        end(&f);
        if (strcmp(found, rows[i].found) != 0 || f.sentinel.request_count != rows[i].requests)
            fail_msg("%s: %s, %zu requests", rows[i].what, found, f.sentinel.request_count);
    }
}

/* A renewal has no time to lose while there is a master that answers, and a Sentinel that hangs
 * takes all of a glance: the next time another one is asked first. */
TEST(a_silent_sentinel_costs_a_glance) {
    struct fixture f;
    struct peer other;
    begin(&f, ANSWERS(AT("h1"), PEER_SILENT, PEER_SILENT), 0);
    peer_start(&other, ANSWERS(PEER_CLOSE, AT("h2")));
    assert_int_equal(find(&f), RLOCK_OK);
    age(&f);
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(find(&f), RLOCK_OK);
    assert_in_range(rlock_now_ms() - begun_ms, 200, 2000);
    assert_int_equal(find(&f), RLOCK_OK); /* and not each time */
    assert_true(rlock_now_ms() - begun_ms < 2500);
    f.site.server.hosts[1] = (struct rlock__host){.name = other.path, .port = ""};
    f.site.server.host_count = 2;
    age(&f);
    assert_int_equal(find(&f), RLOCK_OK);
    assert_string_equal(f.link->host, "h1");
    age(&f);
    assert_int_equal(find(&f), RLOCK_OK);
    assert_string_equal(f.link->host, "h2");
    end(&f);
    assert_int_equal(f.sentinel.request_count, 3);
    peer_stop(&other);
}
