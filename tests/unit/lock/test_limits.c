/* test_limits.c: the limits that rlock.h names: what is at one is taken, what is beyond is refused,
 * and nothing has been sent by then. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rlock_admin.h"
#include "rlock_count.h"
#include "rlock_handle.h"

static rlock_client *client; /* nobody is there: what is sent is told from what is refused */
static rlock_lock *lock;
static const char *said; /* why it was refused */

/* What the tests change. */
static const char *names[RLOCK_NAMES_MAX + 1];
static struct rlock_client_options of_client;
static struct rlock_lock_options of_lock;
static struct rlock_keeper_options of_keeper;
static struct rlock_count count;
static struct rlock_break_options of_break;
static int64_t keep_ms;

void before_each(void) {
    static const char *const server = "unix:///nowhere/sock", *const owner = "somebody";
    for (size_t i = 0; i < COUNT(names); i++)
        names[i] = "x";
    of_client = (struct rlock_client_options)RLOCK_CLIENT_OPTIONS_INIT;
    of_client.servers = &server;
    of_client.server_count = 1;
    of_client.connect_timeout_ms = 10;
    of_lock = (struct rlock_lock_options)RLOCK_LOCK_OPTIONS_INIT;
    of_lock.names = names;
    of_lock.name_count = 1;
    of_keeper = (struct rlock_keeper_options)RLOCK_KEEPER_OPTIONS_INIT;
    count = (struct rlock_count)RLOCK_COUNT_INIT;
    count.name = "x";
    count.deadline_ms = 0;
    of_break = (struct rlock_break_options)RLOCK_BREAK_OPTIONS_INIT;
    of_break.name = "x";
    of_break.kind = "run";
    of_break.owners = &owner;
    of_break.owner_count = 1;
    of_break.deadline_ms = 0;
    keep_ms = 0;
}

void before_all(void) {
    before_each();
    assert_int_equal(rlock_client_new(&client, &of_client), RLOCK_OK);
    assert_int_equal(rlock_lock_new(&lock, client, &of_lock), RLOCK_OK);
    said = rlock_error(client);
}

void after_all(void) {
    rlock_lock_free(lock);
    rlock_client_free(client);
}

static enum rlock_status make_client(void) {
    static char text[256];
    rlock_client *made;
    const enum rlock_status status = rlock_client_new(&made, &of_client);
    (void)snprintf(text, sizeof text, "%s", rlock_error(made));
    said = text;
    rlock_client_free(made);
    return status;
}

static enum rlock_status make_lock(void) {
    rlock_lock *made;
    const enum rlock_status status = rlock_lock_new(&made, client, &of_lock);
    assert_true((made != NULL) == (status == RLOCK_OK));
    rlock_lock_free(made);
    return status;
}

static enum rlock_status keep(void) {
    rlock_keeper *keeper;
    const enum rlock_status status = rlock_keeper_start(&keeper, lock, &of_keeper);
    if (status == RLOCK_OK)
        (void)rlock_keeper_stop(keeper);
    else
        assert_null(keeper);
    return status;
}

static enum rlock_status release(void) { /* it is not held */
    return rlock_release(lock, keep_ms, 0);
}

static enum rlock_status set_latch(void) {
    int64_t left;
    return rlock_latch_set(client, &count, &left);
}

static enum rlock_status count_down(void) {
    int64_t left;
    return rlock_latch_down(client, &count, &left);
}

static enum rlock_status resize(void) {
    int64_t free;
    return rlock_sem_resize(client, &count, &free);
}

static enum rlock_status break_lock(void) {
    int64_t broken;
    return rlock_break(client, &of_break, &broken);
}

/* Done, or sent. */
static void assert_taken(enum rlock_status (*attempt)(void)) {
    const enum rlock_status status = attempt();
    assert_true(status == RLOCK_OK || status == RLOCK_UNAVAILABLE);
}

static void assert_refused(enum rlock_status (*attempt)(void), const char *why) {
    said = rlock_error(client);
    assert_int_equal(attempt(), RLOCK_INVALID);
    if (strstr(said, why) == NULL)
        fail_msg("'%s' does not say '%s'", said, why);
}

TEST(numbers) {
    static const char unsupported[] = "priority is not supported for this kind of lock";
    static const char days[] = "36525 days", billion[] = "1 to 1000000000";
    const struct {
        enum rlock_status (*attempt)(void);
        const char *kind;
        int64_t *field, least, most;
        const char *why;
    } rows[] = {
        {make_lock, "run", &of_lock.lease_ms, RLOCK_LEASE_MIN_MS, RLOCK_LEASE_MAX_MS,
         "100ms to 7d"},
        {make_lock, "run", &of_lock.once_per_ms, 0, RLOCK_TIME_MAX_MS, days},
        {make_lock, "sem", &of_lock.permits, 0, RLOCK_TAKE_MAX, "1 to 10000"},
        {make_lock, "sem", &of_lock.permits_total, 0, RLOCK_PERMITS_MAX, billion},
        {make_lock, "fair", &of_lock.priority, -RLOCK_PRIORITY_MAX, RLOCK_PRIORITY_MAX,
         "-1000 to 1000"},
        {make_lock, "run", &of_lock.priority, 0, 0, unsupported},
        {make_lock, "read", &of_lock.priority, 0, 0, unsupported},
        {make_lock, "write", &of_lock.priority, 0, 0, unsupported},
        {make_lock, "sem", &of_lock.priority, 0, 0, unsupported},
        {make_lock, "plain", &of_lock.priority, 0, 0, unsupported},
        {make_lock, "latch", &of_lock.priority, 0, 0, unsupported},
        {keep, "run", &of_keeper.grace_ms, 0, RLOCK_LEASE_DEFAULT_MS - 1, "less than the lease"},
        {release, "run", &keep_ms, INT64_MIN, RLOCK_TIME_MAX_MS, days},
        {set_latch, "run", &count.number, 1, RLOCK_PERMITS_MAX, billion},
        {count_down, "run", &count.number, 0, RLOCK_PERMITS_MAX, billion},
        {resize, "run", &count.number, 1, RLOCK_PERMITS_MAX, billion},
        {make_client, "run", &of_client.connect_timeout_ms, 0, RLOCK_TIME_MAX_MS, days},
        {make_client, "run", &of_client.io_timeout_ms, 0, RLOCK_TIME_MAX_MS, days},
        {make_client, "run", &of_client.replica_timeout_ms, 0, RLOCK_TIME_MAX_MS, days},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        before_each();
        of_lock.kind = rows[i].kind;
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
    of_client.connect_timeout_ms = of_client.io_timeout_ms = of_client.replica_timeout_ms =
        RLOCK_FOREVER;
    of_client.replicas = RLOCK_REPLICAS_MAX;
    assert_taken(make_client);
    of_client.replicas = RLOCK_REPLICAS_AUTO - 1;
    assert_refused(make_client, "at most 100");
    of_client.replicas = RLOCK_REPLICAS_MAX + 1;
    assert_refused(make_client, "at most 100");
}

TEST(names_and_texts) {
    static const char many[] = "1 to 10000 names", long_text[] = "at most 1024 bytes";
    const struct {
        enum rlock_status (*attempt)(void);
        const char **text;
        size_t most;
        const char *why;
    } rows[] = {
        {make_lock, &names[0], RLOCK_NAME_MAX, "1 to 512 bytes"},
        {make_lock, &of_lock.user, RLOCK_TEXT_MAX, long_text},
        {make_lock, &of_lock.command, RLOCK_TEXT_MAX, long_text},
        {make_lock, &of_lock.note, RLOCK_TEXT_MAX, long_text},
        {break_lock, &of_break.by, RLOCK_TEXT_MAX, long_text},
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
    before_each();
    of_lock.name_count = RLOCK_NAMES_MAX;
    assert_taken(make_lock);
    of_lock.name_count++;
    assert_refused(make_lock, many);
    of_lock.name_count = 0;
    assert_refused(make_lock, many);
}

/* Any point in time is one, and a skip has no number. */
TEST(deadlines) {
    static const int64_t past[] = {INT64_MIN, -1, 0, 1};
    for (size_t i = 0; i < COUNT(past); i++) {
        struct rlock_wait wait = RLOCK_WAIT_INIT;
        int64_t skips;
        count.number = past[i];
        assert_int_equal(rlock_skip(client, &count, &skips), RLOCK_UNAVAILABLE);
        wait.deadline_ms = past[i];
        assert_int_equal(rlock_acquire(lock, &wait), RLOCK_UNAVAILABLE);
        count.number = 1;
        count.deadline_ms = past[i];
        assert_int_equal(set_latch(), RLOCK_UNAVAILABLE);
        count.deadline_ms = 0;
        assert_int_equal(rlock_release(lock, 0, past[i]), RLOCK_OK);
    }
}

TEST(what_is_not_held_is_lost_before_anybody_is_asked) {
    int64_t ttl_ms;
    assert_int_equal(rlock_check(lock, &ttl_ms), RLOCK_LOST);
    assert_string_equal(rlock_error(client), "x is not held");
}
