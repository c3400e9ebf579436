/* test_replicas.c: what is written counts once the replicas that are wanted have it. */
#include "support/servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin_one(struct servers *f, const char *const *answers, int replicas) {
    begin(f, 1, &answers);
    f->sites[0].replicas = replicas;
    f->call.replicated = true;
}

#define TOO_FEW(n, all) n " of " all " replicas acknowledged it in time (see --replicas)"
#define NO_WAIT         "ERR WAIT cannot be used with replica instances. Please also note"

/* WAIT goes over the connection that has written: it counts for that one only. WAITAOF counts the
 * server itself, then the replicas. What too few have may stand on a master that is none any more:
 * it is asked for again, or given back. */
TEST(a_yes_is_confirmed_by_replicas_and_disk) {
    static const char disk[] = "it was not on disk in time";
    static const struct {
        bool fsync;
        int wanted;
        const char *have;
        enum rlock_status status;
        const char *error;
    } rows[] = {
        {false, 1, ":3\r\n", RLOCK_OK, ""},
        {false, 2, ":2\r\n", RLOCK_OK, ""},
        {false, 1, ":0\r\n", RLOCK_AGAIN, TOO_FEW("0", "1")},
        {false, 3, ":2\r\n", RLOCK_AGAIN, TOO_FEW("2", "3")},
        {false, 1, "+OK\r\n", RLOCK_AGAIN, TOO_FEW("0", "1")},
        {false, 1, "-LOADING wait\r\n", RLOCK_AGAIN, "LOADING wait"},
        {false, 1, "-NOPERM no\r\n", RLOCK_DENIED,
         "no (WAIT, by which replicas acknowledge a lock: --replicas 0 does without)"},
        /* The master has become a replica between the two commands. */
        {false, 1, "-" NO_WAIT "\r\n", RLOCK_AGAIN, NO_WAIT},
        {false, 1, PEER_SILENT, RLOCK_AGAIN, "the replicas did not acknowledge it in time"},
        {false, 1, PEER_CLOSE, RLOCK_AGAIN, "the server closed the connection"},
        {true, 0, "*2\r\n:1\r\n:0\r\n", RLOCK_OK, ""},
        {true, 0, "*2\r\n:0\r\n:0\r\n", RLOCK_AGAIN, disk},
        {true, 1, "*2\r\n:1\r\n:1\r\n", RLOCK_OK, ""},
        {true, 1, "*2\r\n:1\r\n:0\r\n", RLOCK_AGAIN, TOO_FEW("0", "1")},
        {true, 1, "*2\r\n:0\r\n:1\r\n", RLOCK_AGAIN, disk},
        {true, 0, ":1\r\n", RLOCK_AGAIN, disk},
        {true, 0, "-NOPERM no\r\n", RLOCK_DENIED,
         "no (WAITAOF, by which --fsync learns what is on disk)"},
        {true, 0,
         "-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.\r\n",
         RLOCK_UNAVAILABLE, "it keeps no append-only file"},
        {true, 0, "-ERR unknown command 'WAITAOF', with args beginning with: '1' '0'\r\n",
         RLOCK_UNAVAILABLE, "it has no WAITAOF"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct servers f;
        char wait[32];
        const bool good = rows[i].status == RLOCK_OK;
        (void)snprintf(wait, sizeof wait, "; %s%d 70", rows[i].fsync ? "WAITAOF 1 " : "WAIT ",
                       rows[i].wanted);
        begin_one(&f, ANSWERS(YES(17), rows[i].have), rows[i].wanted);
        f.sites[0].fsync = rows[i].fsync;
        run_until(&f, 1, rows[i].have == PEER_SILENT ? SHORT_MS : LONG_MS, -1);
        if (f.runs[0].status != rows[i].status ||
            strncmp(f.routes[0].error.text, rows[i].error, strlen(rows[i].error)) != 0)
            fail_msg("row %zu: %s: %s", i, rlock_status_text(f.runs[0].status),
                     f.routes[0].error.text);
        assert_int_equal(f.runs[0].unconfirmed, !good);
        /* The answer stays the script's. */
        assert_int_equal(rlock__reply_count(f.runs[0].answer.reply), good ? 3 : 0);
        assert_int_equal(good ? f.runs[0].answer.a : 17, 17);
        assert_false(good && f.runs[0].unanswered);
        assert_int_equal(f.routes[0].astray, rows[i].status == RLOCK_AGAIN);
        end(&f);
        assert_int_equal(f.peers[0].request_count, 2);
        assert_non_null(strstr(peer_asked(&f.peers[0]), wait));
        assert_int_equal(f.peers[0].requests[1].connection, 1);
    }
}

#define FOLLOWER(host, offset) "*3\r\n+" host "\r\n+1\r\n+" offset "\r\n"
#define ROLE(count, followers) "*3\r\n+master\r\n:90\r\n*" #count "\r\n" followers
#define NOBODY                 ROLE(0, "")
#define SLAVE                  "*5\r\n+slave\r\n+h\r\n:1\r\n+connected\r\n:90\r\n"

/* The first two could become the master, c never will, d is gone, and e was the master before. */
static void begin_named(struct servers *f, const char *const *answers) {
    static const struct rlock__replica known[] = {
        {"10.0.0.1", "1", true, false, 0, false}, {"::1", "1", true, false, 0, false},
        {"c", "1", false, false, 0, false},       {"d", "1", true, true, 0, false},
        {"e", "1", true, false, 0, true},
    };
    begin_one(f, answers, RLOCK_REPLICAS_AUTO);
    f->sites[0].server.topology = RLOCK__SENTINEL;
    f->routes[0].located_ms = rlock_now_ms();
    rlock__link_init(&f->routes[0].link, f->peers[0].path, "", &f->sites[0].access,
                     &f->routes[0].error);
    struct rlock__replicas replicas = {.count = COUNT(known), .at = calloc(1, sizeof known)};
    assert_non_null(replicas.at);
    memcpy(replicas.at, known, sizeof known);
    f->routes[0].replicas = replicas;
    f->sites[0].server.master = "m";
    f->sites[0].server.host_count = 1; /* no Sentinel answers: the last word counts */
    f->sites[0].server.hosts[0] = (struct rlock__host){.name = "/nonexistent/sentinel", .port = ""};
}

#define A(offset) FOLLOWER("10.0.0.1", offset)
#define B(offset) FOLLOWER("::1", offset)
#define C(offset) FOLLOWER("c", offset)
/* One, and how far it and ::1 are. */
#define THREE(one, its, bs) ROLE(3, FOLLOWER(#one, #its) B(#bs) A("95"))

TEST(those_that_could_be_promoted_must_have_it) {
    enum { MANY = 300 };
    static char many[MANY * 32 + 64];
    static const char named[] = "; WAIT 2 70; ROLE", numbered[] = "; ROLE; WAIT 3 ",
                      unknown[] = "; WAIT 1 70; ROLE", at_once[] = "; WAIT 2 1; ROLE",
                      not_b[] = "the replica ::1:1, ", not_all[] = "not all replicas",
                      denied[] = "-NOPERM no\r\n", no_role[] = "-ERR unknown command 'ROLE'\r\n";
    const struct {
        enum rlock_status status;
        const char *asked, *error;
        const char *says[4]; /* all is asked for: to WAIT and ROLE, in turn */
    } rows[] = {
        {RLOCK_OK, named, "", {":2\r\n", ROLE(2, A("90") B("90"))}},
        /* The same address in other words, or a name where we know a number. */
        {RLOCK_OK, named, "", {":2\r\n", ROLE(2, A("90") FOLLOWER("0:0::1", "90"))}},
        {RLOCK_OK, named, "", {":2\r\n", ROLE(2, A("90") FOLLOWER("b", "90"))}},
        /* One has been promoted behind our back: whoever answers in its place. */
        {RLOCK_AGAIN, named, not_b, {":1\r\n", ROLE(1, A("90"))}},
        {RLOCK_AGAIN, named, not_b, {":2\r\n", ROLE(2, A("90") C("90"))}},
        {RLOCK_AGAIN, named, not_b, {":2\r\n", ROLE(2, A("90") FOLLOWER("d", "90"))}},
        {RLOCK_AGAIN, named, not_b, {":2\r\n", ROLE(2, A("90") FOLLOWER("10.0.0.9", "90"))}},
        {RLOCK_AGAIN, named, "the replica 10.0.0.1:1, ", {":0\r\n", NOBODY}},
        {RLOCK_AGAIN, named, not_all, {":2\r\n", SLAVE}},
        {RLOCK_AGAIN, named, not_all, {":2\r\n", "+OK\r\n"}},
        /* Others were faster: it is waited for, too. */
        {RLOCK_OK, named, "", {":2\r\n", THREE(c, 90, 80), ":3\r\n", THREE(c, 90, 90)}},
        /* It is for as long as --replica-timeout says, not for ever (WAIT 2 0). */
        {RLOCK_AGAIN, at_once, not_b, {":2\r\n", THREE(c, 90, 80)}},
        /* One that has just come another Sentinel may know. */
        {RLOCK_OK, named, "", {":2\r\n", THREE(new, 80, 90), ":3\r\n", THREE(new, 90, 90)}},
        /* So must one that was the master, from when it follows on. */
        {RLOCK_OK, named, "", {":2\r\n", THREE(e, 80, 90), ":3\r\n", THREE(e, 90, 90)}},
        /* Nobody waits for what is no server, never becomes the master, or is gone. */
        {RLOCK_OK, named, "", {":2\r\n", ROLE(3, "*3\r\n+t\r\n+0\r\n+0\r\n" B("90") A("95"))}},
        {RLOCK_OK, named, "", {":2\r\n", ROLE(4, C("80") FOLLOWER("d", "1") B("90") A("95"))}},
        /* Sizes that no master has. */
        {RLOCK_AGAIN, named, "", {":300\r\n", many}},
        /* Who may not ask for their names goes by their number, of all that are alive: one that is
         * never promoted must not answer for one that was. */
        {RLOCK_OK, numbered, "", {":2\r\n", denied, ":3\r\n"}},
        {RLOCK_AGAIN, numbered, "", {":2\r\n", denied, ":2\r\n"}},
        {RLOCK_OK, numbered, "", {":2\r\n", no_role, ":3\r\n"}},
        /* The Sentinels could not tell: whatever follows the master must have it, and something
         * must. */
        {RLOCK_OK, unknown, "", {":1\r\n", ROLE(1, FOLLOWER("x", "90"))}},
        {RLOCK_AGAIN, unknown, "", {":1\r\n", NOBODY}},
    };
    char *to = many + sprintf(many, "*3\r\n+master\r\n:90\r\n*%d\r\n", MANY);
    for (int i = 0; i < MANY; i++)
        to = stpcpy(to, FOLLOWER("x", "90"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct servers f;
        const char *const *says = rows[i].says;
        const char *const *answers = ANSWERS(YES(17), says[0], says[1], says[2], says[3]);
        begin_named(&f, answers);
        if (rows[i].asked == unknown) {
            rlock__replicas_free(&f.routes[0].replicas);
            f.routes[0].replicas.unknown = true;
        }
        if (rows[i].asked == at_once)
            f.sites[0].replica_timeout_ms = 0;
        run_until(&f, 1, LONG_MS, -1);
        if (f.runs[0].status != rows[i].status ||
            strstr(f.routes[0].error.text, rows[i].error) != f.routes[0].error.text)
            fail_msg("row %zu: %s: %s", i, rlock_status_text(f.runs[0].status),
                     f.routes[0].error.text);
        assert_int_equal(f.runs[0].unconfirmed, rows[i].status != RLOCK_OK);
        end(&f);
        assert_non_null(strstr(peer_asked(&f.peers[0]), rows[i].asked));
        assert_null(answers[f.peers[0].request_count]);
    }
}

/* Two names at once, on one server. */
static void run_two(struct servers *f, struct rlock__run runs[2]) {
    struct rlock__batch second = {.runs = &runs[1], .count = 1, .enough = 1};
    struct rlock__batch first = {.runs = &runs[0], .count = 1, .enough = 1, .next = &second};
    const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1};
    for (size_t i = 0; i < 2; i++)
        runs[i] = (struct rlock__run){.route = f->routes, .call = &f->call};
    rlock__script_run_batches(&first, script(), &limit);
}

/* Several names at once ask the replicas together, each time. */
TEST(all_names_go_by_number_where_names_are_refused) {
    static const char denied[] = "-NOPERM no\r\n";
    struct servers f;
    struct rlock__run runs[2];
    begin_named(&f, ANSWERS(YES(17), YES(18), ":2\r\n", denied, ":3\r\n"));
    run_two(&f, runs);
    for (size_t i = 0; i < COUNT(runs); i++) {
        assert_int_equal(runs[i].status, RLOCK_OK);
        rlock__reply_free(runs[i].answer.reply);
    }
    end(&f);
}

/* It has written nothing over a new one: all replicas have that. */
TEST(replicas_are_not_asked_over_another_connection) {
    struct servers f;
    struct rlock__run runs[2];
    begin_one(&f, ANSWERS("-READONLY no\r\n", YES(18), ":1\r\n"), 1);
    run_two(&f, runs);
    assert_int_equal(runs[0].status, RLOCK_AGAIN);
    assert_int_equal(runs[1].status, RLOCK_AGAIN);
    assert_true(runs[1].unconfirmed);
    end(&f);
    assert_int_equal(f.peers[0].request_count, 2);
}

/* Each server of several asks its own; until it is confirmed it does not count for the majority. */
TEST(of_several_each_is_confirmed_by_its_own) {
    struct servers f;
    begin(&f, 3,
          SCRIPTS(ANSWERS(YES(5), ":1\r\n"), ANSWERS(YES(6), PEER_SILENT), ANSWERS(PEER_SILENT)));
    f.call.replicated = true;
    for (size_t i = 0; i < 3; i++)
        f.sites[i].replicas = 1;
    run_until(&f, 2, patience_ms(2 * SHORT_MS), -1);
    assert_true(f.took_ms >= 2 * SHORT_MS);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(f.runs[i].status, i == 0 ? RLOCK_OK : RLOCK_AGAIN);
    end(&f);
}
