/* test_limits.c: what the library is given: what is at a limit that rlock.h names is taken, what is
 * beyond is refused, and so is what is missing; and nothing has been sent by then. */
#include "support/locked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rlock_admin.h"
#include "rlock_count.h"
#include "rlock_handle.h"

/* Nobody is there: what is sent is told from what is refused. */
static struct locked on = {.timeout_ms = 10};

/* What it is given: all is good, until a test changes something. */
static const char *names[RLOCK_NAMES_MAX + 1];
static struct given {
    const char *url, *owner;
    struct rlock_client_options client;
    struct rlock_tls_options tls;
    struct rlock_lock_options lock;
    struct rlock_handle handle;
    struct rlock_handle_hold hold;
    struct rlock_wait wait;
    struct rlock_keeper_options keeper;
    struct rlock_count count;
    struct rlock_inspect_options look;
    struct rlock_break_options breaking;
    struct rlock_probe_options probe;
    int64_t keep_ms;
} given;

#define OF(type, ...)                                                                              \
    { .size = sizeof(struct rlock_##type), __VA_ARGS__ }

void before_each(void) {
    static const struct given good = {
        .url = "unix:///nowhere/sock",
        .owner = "somebody",
        .client =
            OF(client_options, .servers = &given.url, .server_count = 1, .connect_timeout_ms = 10,
               .io_timeout_ms = 10, .replicas = RLOCK_REPLICAS_AUTO),
        .tls = OF(tls_options, .insecure = true),
        .lock = OF(lock_options, .names = names, .name_count = 1, .kind = "run",
                   .lease_ms = RLOCK_LEASE_DEFAULT_MS),
        .hold = {.name = "x", .owner = "somebody", .token = 1},
        .handle = OF(handle, .kind = "run", .owner = "somebody", .lease_ms = 30000, .permits = 1,
                     .holds = &given.hold, .hold_count = 1),
        .wait = OF(wait, .until_ms = RLOCK_FOREVER, .cancel_fd = -1),
        .keeper = OF(keeper_options, .grace_ms = 0),
        .count = OF(count, .name = "x", .number = 1, .cancel_fd = -1),
        .look = OF(inspect_options, .name = "x", .cancel_fd = -1),
        .breaking = OF(break_options, .name = "x", .kind = "run", .owners = &given.owner,
                       .owner_count = 1, .cancel_fd = -1),
        .probe = OF(probe_options, .name = "x", .cancel_fd = -1),
    };
    given = good;
    names[0] = "x";
}

void before_all(void) {
    before_each();
    for (size_t i = 1; i < COUNT(names); i++)
        names[i] = names[0];
    begin(&on, 1, SCRIPTS(NULL));
}

void after_all(void) {
    end(&on);
}

enum attempt {
    MAKE_CLIENT,
    MAKE_TLS_CLIENT,
    MAKE_LOCK,
    RESUME,
    KEEP,
    INSPECT,
    PROBE,
    ACQUIRE,
    RELEASE, /* of what is not held */
    SET_LATCH,
    COUNT_DOWN,
    RESIZE,
    BREAK,
};

static const char *said; /* why it was refused */

/* Of what is refused nothing is made. */
static enum rlock_status try(enum attempt attempt) {
    static char text[256];
    enum rlock_status status = RLOCK_OK;
    union {
        void *any;
        rlock_client *client;
        rlock_lock *lock;
        rlock_keeper *keeper;
        rlock_view *view;
        rlock_facts *facts;
    } made = {&given};
    int64_t number;
    said = rlock_error(on.client);
    switch (attempt) {
    case MAKE_TLS_CLIENT: given.client.tls = &given.tls; /* fall through */
    case MAKE_CLIENT:
        status = rlock_client_new(&made.client, &given.client);
        (void)snprintf(text, sizeof text, "%s", rlock_error(made.client));
        said = text;
        rlock_client_free(made.client);
        break;
    case MAKE_LOCK: status = rlock_lock_new(&made.lock, on.client, &given.lock); break;
    case RESUME: status = rlock_lock_resume(&made.lock, on.client, &given.handle); break;
    case KEEP: status = rlock_keeper_start(&made.keeper, on.lock, &given.keeper); break;
    case INSPECT: status = rlock_inspect(on.client, &given.look, &made.view); break;
    case PROBE: status = rlock_probe(on.client, &given.probe, &made.facts); break;
    case ACQUIRE: status = rlock_acquire(on.lock, &given.wait); break;
    case RELEASE: status = rlock_release(on.lock, given.keep_ms, 0); break;
    case SET_LATCH: status = rlock_latch_set(on.client, &given.count, &number); break;
    case COUNT_DOWN: status = rlock_latch_down(on.client, &given.count, &number); break;
    case RESIZE: status = rlock_sem_resize(on.client, &given.count, &number); break;
    case BREAK: status = rlock_break(on.client, &given.breaking, &number); break;
    }
    if (attempt >= MAKE_LOCK && attempt <= PROBE && status == RLOCK_INVALID)
        assert_null(made.any);
    if (attempt == MAKE_LOCK || attempt == RESUME)
        rlock_lock_free(made.lock);
    if (attempt == KEEP && status == RLOCK_OK)
        (void)rlock_keeper_stop(made.keeper);
    if (attempt == PROBE)
        rlock_facts_free(made.facts);
    return status;
}

/* Done, or sent. */
static void assert_taken(enum attempt attempt) {
    const enum rlock_status status = try(attempt);
    assert_true(status == RLOCK_OK || status == RLOCK_UNAVAILABLE);
}

static void assert_refused(enum attempt attempt, const char *why) {
    assert_int_equal(try(attempt), RLOCK_INVALID);
    if (strstr(said, why) == NULL)
        fail_msg("'%s' does not say '%s'", said, why);
}

TEST(numbers) {
    static const char days[] = "36525 days", billion[] = "1 to 1000000000";
#define ONLY_FAIR_HAS_PRIORITIES                                                                   \
    &given.lock.priority, 0, 0, "priority is not supported for this kind of lock"
    const struct {
        enum attempt attempt;
        const char *kind;
        int64_t *field, least, most;
        const char *why;
    } rows[] = {
        {MAKE_LOCK, "run", &given.lock.lease_ms, RLOCK_LEASE_MIN_MS, RLOCK_LEASE_MAX_MS,
         "100ms to 7d"},
        {MAKE_LOCK, "run", &given.lock.once_per_ms, 0, RLOCK_TIME_MAX_MS, days},
        {MAKE_LOCK, "sem", &given.lock.permits, 0, RLOCK_TAKE_MAX, "1 to 10000"},
        {MAKE_LOCK, "sem", &given.lock.permits_total, 0, RLOCK_PERMITS_MAX, billion},
        {MAKE_LOCK, "fair", &given.lock.priority, -RLOCK_PRIORITY_MAX, RLOCK_PRIORITY_MAX,
         "-1000 to 1000"},
        {MAKE_LOCK, "run", ONLY_FAIR_HAS_PRIORITIES},
        {MAKE_LOCK, "read", ONLY_FAIR_HAS_PRIORITIES},
        {MAKE_LOCK, "write", ONLY_FAIR_HAS_PRIORITIES},
        {MAKE_LOCK, "sem", ONLY_FAIR_HAS_PRIORITIES},
        {MAKE_LOCK, "plain", ONLY_FAIR_HAS_PRIORITIES},
        {MAKE_LOCK, "latch", ONLY_FAIR_HAS_PRIORITIES},
        {KEEP, "run", &given.keeper.grace_ms, 0, RLOCK_LEASE_DEFAULT_MS / 2, "half of the lease"},
        {RELEASE, "run", &given.keep_ms, INT64_MIN, RLOCK_TIME_MAX_MS, days},
        {SET_LATCH, "run", &given.count.number, 1, RLOCK_PERMITS_MAX, billion},
        {COUNT_DOWN, "run", &given.count.number, 0, RLOCK_PERMITS_MAX, billion},
        {RESIZE, "run", &given.count.number, 1, RLOCK_PERMITS_MAX, billion},
        {MAKE_CLIENT, "run", &given.client.connect_timeout_ms, 1, RLOCK_TIME_MAX_MS, days},
        {MAKE_CLIENT, "run", &given.client.io_timeout_ms, 1, RLOCK_TIME_MAX_MS, days},
        {MAKE_CLIENT, "run", &given.client.replica_timeout_ms, 0, RLOCK_TIME_MAX_MS, days},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        before_each();
        given.lock.kind = rows[i].kind;
        *rows[i].field = rows[i].least;
        assert_taken(rows[i].attempt);
        *rows[i].field = rows[i].most;
        assert_taken(rows[i].attempt);
        *rows[i].field = rows[i].most + 1;
        assert_refused(rows[i].attempt, rows[i].why);
        if (rows[i].least == INT64_MIN)
            continue;
        *rows[i].field = rows[i].least - 1;
        assert_refused(rows[i].attempt, rows[i].why);
    }
    before_each();
    given.client.connect_timeout_ms = given.client.io_timeout_ms = given.client.replica_timeout_ms =
        RLOCK_FOREVER;
    given.client.replicas = RLOCK_REPLICAS_MAX;
    assert_taken(MAKE_CLIENT);
    given.client.replicas = RLOCK_REPLICAS_AUTO - 1;
    assert_refused(MAKE_CLIENT, "at most 100");
    given.client.replicas = RLOCK_REPLICAS_MAX + 1;
    assert_refused(MAKE_CLIENT, "at most 100");
}

TEST(permits_and_a_latch_have_one_name) {
    static const char *const kinds[] = {"sem", "plain", "latch"};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        given.lock.kind = kinds[i];
        given.lock.name_count = 2;
        assert_refused(MAKE_LOCK, "permits and a latch have one name");
        given.lock.name_count = 1;
        assert_taken(MAKE_LOCK);
    }
}

TEST(no_more_permits_are_taken_than_there_are) {
    given.lock.kind = "sem";
    given.lock.permits = 4;
    assert_taken(MAKE_LOCK); /* of as many as were set before */
    given.lock.permits_total = 4;
    assert_taken(MAKE_LOCK);
    given.lock.permits_total = 3;
    assert_refused(MAKE_LOCK, "permits is more than permits_total");
}

TEST(texts_have_a_longest) {
    static const char long_text[] = "at most 1024 bytes";
    const struct {
        enum attempt attempt;
        const char **text;
        size_t most;
        const char *why;
    } rows[] = {
        {MAKE_LOCK, &names[0], RLOCK_NAME_MAX, "1 to 512 bytes"},
        {MAKE_LOCK, &given.lock.user, RLOCK_TEXT_MAX, long_text},
        {MAKE_LOCK, &given.lock.command, RLOCK_TEXT_MAX, long_text},
        {MAKE_LOCK, &given.lock.note, RLOCK_TEXT_MAX, long_text},
        {BREAK, &given.breaking.by, RLOCK_TEXT_MAX, long_text},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = calloc(1, rows[i].most + 2); /* so that a sanitizer sees the end */
        before_each();
        *rows[i].text = memset(text, 'x', rows[i].most + 1);
        assert_refused(rows[i].attempt, rows[i].why);
        text[rows[i].most] = '\0';
        assert_taken(rows[i].attempt);
        free(text);
    }
}

/* What an _INIT leaves to the program is missed, not followed as a null pointer. */
TEST(what_is_missing_is_told) {
    static const char no_name[] =
        "cannot use the lock's name: it is empty: a name has 1 to 512 bytes";
#define A(what)       &(what), sizeof(what)
#define NO_SIZE(name) "the size in struct rlock_" name " is 0: begin with its _INIT"
    const struct {
        enum attempt attempt;
        void *field; /* all of it is 0 then */
        size_t size;
        const char *why;
    } rows[] = {
        {MAKE_CLIENT, A(given.url), "cannot read the server's URL"},
        {MAKE_LOCK, A(names[0]), no_name},
        {MAKE_LOCK, A(given.lock.kind), "there is no such kind of lock"},
        {RESUME, A(given.handle.owner), "a handle needs an owner"},
        {RESUME, A(given.hold.owner), "a handle needs an owner"},
        {RESUME, A(given.hold.token), "the token of a hold is 1 or more"},
        {RESUME, A(given.handle.holds), "a handle needs a hold"},
        {MAKE_CLIENT, A(given.client.servers), "a lock lives on 1 to 15 servers"},
        {MAKE_LOCK, A(given.lock.names), "a lock has 1 to 10000 names"},
        {SET_LATCH, A(given.count.name), no_name},
        {INSPECT, A(given.look.name), no_name},
        {BREAK, A(given.breaking.name), no_name},
        {BREAK, A(given.breaking.kind), "nobody holds such a lock"},
        {BREAK, A(given.breaking.owners), "an owner is missing"},
        {BREAK, A(given.owner), "an owner is missing"},
        {PROBE, A(given.probe.name), "a lock's name is missing"},
        {MAKE_CLIENT, A(given.client.server_count), "a lock lives on 1 to 15 servers"},
        {MAKE_LOCK, A(given.lock.name_count), "a lock has 1 to 10000 names"},
        {RESUME, A(given.handle.hold_count), "a handle needs a hold"},
        {MAKE_CLIENT, A(given.client.size), NO_SIZE("client_options")},
        {MAKE_TLS_CLIENT, A(given.tls.size), NO_SIZE("tls_options")},
        {MAKE_LOCK, A(given.lock.size), NO_SIZE("lock_options")},
        {RESUME, A(given.handle.size), NO_SIZE("handle")},
        {ACQUIRE, A(given.wait.size), NO_SIZE("wait")},
        {KEEP, A(given.keeper.size), NO_SIZE("keeper_options")},
        {SET_LATCH, A(given.count.size), NO_SIZE("count")},
        {COUNT_DOWN, A(given.count.size), NO_SIZE("count")},
        {RESIZE, A(given.count.size), NO_SIZE("count")},
        {INSPECT, A(given.look.size), NO_SIZE("inspect_options")},
        {BREAK, A(given.breaking.size), NO_SIZE("break_options")},
        {PROBE, A(given.probe.size), NO_SIZE("probe_options")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        before_each();
        assert_taken(rows[i].attempt);
        memset(rows[i].field, 0, rows[i].size);
        assert_refused(rows[i].attempt, rows[i].why);
    }
    assert_string_equal(rlock_error(NULL), "out of memory");
}

/* It may be from an environment that has none. */
TEST(a_proof_that_lacks_something_is_none) {
    static const struct rlock_proof proofs[] = {{"x", NULL, 1}, {NULL, "somebody", 1}};
    given.lock.proofs = proofs;
    given.lock.proof_count = COUNT(proofs);
    assert_taken(MAKE_LOCK);
}

TEST(proofs_that_are_counted_are_there) {
    given.lock.proofs = NULL;
    given.lock.proof_count = 1;
    assert_refused(MAKE_LOCK, "proofs is NULL");
}

TEST(only_what_has_a_lease_stays_taken) {
    static const char *const kinds[] = {"plain", "latch"};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        on.lock->kind = rlock__kind_find(kinds[i]);
        given.keep_ms = 0;
        assert_taken(RELEASE);
        given.keep_ms = 1;
        assert_refused(RELEASE, "only a lock with a lease");
    }
    on.lock->kind = rlock__kind_find("run");
}

TEST(a_lock_has_no_more_than_so_many_names) {
    given.lock.name_count = RLOCK_NAMES_MAX;
    assert_taken(MAKE_LOCK);
    given.lock.name_count++;
    assert_refused(MAKE_LOCK, "1 to 10000 names");
}

/* Any point in time is one, and a skip has no number. */
TEST(deadlines) {
    static const int64_t past[] = {INT64_MIN, -1, 0, 1};
    for (size_t i = 0; i < COUNT(past); i++) {
        int64_t skips;
        given.count.number = past[i];
        assert_int_equal(rlock_skip(on.client, &given.count, &skips), RLOCK_UNAVAILABLE);
        given.wait.deadline_ms = past[i];
        assert_int_equal(try(ACQUIRE), RLOCK_UNAVAILABLE);
        given.count.number = 1;
        given.count.deadline_ms = past[i];
        assert_int_equal(try(SET_LATCH), RLOCK_UNAVAILABLE);
        given.count.deadline_ms = 0;
        assert_int_equal(rlock_release(on.lock, 0, past[i]), RLOCK_OK);
    }
}

TEST(what_is_not_held_is_lost_before_anybody_is_asked) {
    int64_t ttl_ms;
    assert_int_equal(rlock_check(on.lock, &ttl_ms), RLOCK_LOST);
    assert_string_equal(rlock_error(on.client), "x is not held");
}
