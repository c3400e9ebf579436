/* test_limits.c: the limits that rlock.h names: what is at one is taken, what is beyond is refused,
 * and nothing has been sent by then. */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "rlock_admin.h"
#include "rlock_count.h"

/* Nobody is there: what is sent is told from what is refused. */
#define NOBODY "unix:///nowhere/sock"

static rlock_client *client;

static struct rlock_client_options client_options(void) {
    static const char *const servers[] = {NOBODY};
    struct rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    options.servers = servers;
    options.server_count = 1;
    options.connect_timeout_ms = 10;
    return options;
}

void before_all(void) {
    const struct rlock_client_options options = client_options();
    assert_int_equal(rlock_client_new(&client, &options), RLOCK_OK);
}

void after_all(void) {
    rlock_client_free(client);
}

static void assert_refused(enum rlock_status status, const char *why) {
    assert_int_equal(status, RLOCK_INVALID);
    if (strstr(rlock_error(client), why) == NULL)
        fail_msg("'%s' does not say '%s'", rlock_error(client), why);
}

static void assert_makes(const struct rlock_lock_options *options) {
    rlock_lock *lock;
    if (rlock_lock_new(&lock, client, options) != RLOCK_OK)
        fail_msg("%s", rlock_error(client));
    rlock_lock_free(lock);
}

static void assert_refuses(const struct rlock_lock_options *options, const char *why) {
    rlock_lock *lock;
    assert_refused(rlock_lock_new(&lock, client, options), why);
    assert_null(lock);
}

static struct rlock_lock_options lock_options(void) {
    static const char *const names[] = {"x"};
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.names = names;
    options.name_count = 1;
    return options;
}

static char *text_of(size_t length) {
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, 'x', length);
    text[length] = '\0';
    return text;
}

/* --- the lock --------------------------------------------------------------------------------- */

TEST(a_name) {
    struct rlock_lock_options options = lock_options();
    char *name = text_of(RLOCK_NAME_MAX + 1);
    options.names = (const char *const *)&name;
    assert_refuses(&options, "1 to 512 bytes");
    name[RLOCK_NAME_MAX] = '\0';
    assert_makes(&options);
    free(name);
}

TEST(names) {
    struct rlock_lock_options options = lock_options();
    const char **many = calloc(RLOCK_NAMES_MAX + 1, sizeof *many);
    for (size_t i = 0; i < RLOCK_NAMES_MAX + 1; i++)
        many[i] = "x";
    options.names = many;
    options.name_count = RLOCK_NAMES_MAX;
    assert_makes(&options);
    options.name_count++;
    assert_refuses(&options, "1 to 10000 names");
    options.name_count = 0;
    assert_refuses(&options, "1 to 10000 names");
    free(many);
}

TEST(texts) {
    struct rlock_lock_options options = lock_options();
    const char **const fields[] = {&options.user, &options.command, &options.note};
    char *text = text_of(RLOCK_TEXT_MAX + 1);
    for (size_t i = 0; i < COUNT(fields); i++) {
        text[RLOCK_TEXT_MAX] = 'x';
        *fields[i] = text;
        assert_refuses(&options, "at most 1024 bytes");
        text[RLOCK_TEXT_MAX] = '\0';
        assert_makes(&options);
    }
    free(text);
}

TEST(numbers) {
    struct rlock_lock_options options = lock_options();
    const struct {
        const char *kind;
        int64_t *field, least, most;
        const char *why;
    } rows[] = {
        {"run", &options.lease_ms, RLOCK_LEASE_MIN_MS, RLOCK_LEASE_MAX_MS, "100ms to 7d"},
        {"run", &options.once_per_ms, 0, RLOCK_TIME_MAX_MS, "at most 36525 days"},
        {"sem", &options.permits, 0, RLOCK_TAKE_MAX, "1 to 10000"},
        {"sem", &options.permits_total, 0, RLOCK_PERMITS_MAX, "1 to 1000000000"},
        {"fair", &options.priority, -RLOCK_PRIORITY_MAX, RLOCK_PRIORITY_MAX, "-1000 to 1000"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int64_t usual = *rows[i].field;
        options.kind = rows[i].kind;
        *rows[i].field = rows[i].least;
        assert_makes(&options);
        *rows[i].field = rows[i].most;
        assert_makes(&options);
        *rows[i].field = rows[i].least - 1;
        assert_refuses(&options, rows[i].why);
        *rows[i].field = rows[i].most + 1;
        assert_refuses(&options, rows[i].why);
        *rows[i].field = usual;
    }
}

TEST(a_priority_of_fair_alone) {
    static const char *const others[] = {"run", "read", "write", "sem", "plain", "latch"};
    struct rlock_lock_options options = lock_options();
    options.priority = -1;
    for (size_t i = 0; i < COUNT(others); i++) {
        options.kind = others[i];
        assert_refuses(&options, "priority is not supported for this kind of lock");
    }
    options.kind = "fair";
    assert_makes(&options);
}

static rlock_lock *made(void) {
    const struct rlock_lock_options options = lock_options();
    rlock_lock *lock;
    assert_int_equal(rlock_lock_new(&lock, client, &options), RLOCK_OK);
    return lock;
}

TEST(how_long_it_stays_taken) {
    rlock_lock *lock = made();
    assert_int_equal(rlock_release(lock, RLOCK_TIME_MAX_MS, 0), RLOCK_OK); /* it is not held */
    assert_int_equal(rlock_release(lock, -1, 0), RLOCK_OK);
    assert_refused(rlock_release(lock, RLOCK_TIME_MAX_MS + 1, 0), "at most 36525 days");
    rlock_lock_free(lock);
}

TEST(a_keepers_grace) {
    struct rlock_keeper_options options = RLOCK_KEEPER_OPTIONS_INIT;
    rlock_keeper *keeper;
    rlock_lock *lock = made();
    options.grace_ms = -1;
    assert_refused(rlock_keeper_start(&keeper, lock, &options), "less than the lease");
    options.grace_ms = RLOCK_LEASE_DEFAULT_MS;
    assert_refused(rlock_keeper_start(&keeper, lock, &options), "less than the lease");
    assert_null(keeper);
    options.grace_ms--;
    assert_int_equal(rlock_keeper_start(&keeper, lock, &options), RLOCK_OK);
    (void)rlock_keeper_stop(keeper);
    rlock_lock_free(lock);
}

/* Any point in time is one. */
TEST(deadlines) {
    static const int64_t past[] = {INT64_MIN, -1, 0, 1};
    rlock_lock *lock = made();
    for (size_t i = 0; i < COUNT(past); i++) {
        struct rlock_wait wait = RLOCK_WAIT_INIT;
        struct rlock_count count = RLOCK_COUNT_INIT;
        int64_t left;
        wait.deadline_ms = past[i];
        assert_int_equal(rlock_acquire(lock, &wait), RLOCK_UNAVAILABLE);
        wait.deadline_ms = RLOCK_FOREVER;
        count.name = "x";
        count.deadline_ms = past[i];
        assert_int_equal(rlock_latch_set(client, &count, &left), RLOCK_UNAVAILABLE);
        assert_int_equal(rlock_release(lock, 0, past[i]), RLOCK_OK);
    }
    rlock_lock_free(lock);
}

/* --- what is changed without being held ------------------------------------------------------- */

TEST(counts) {
    const struct {
        enum rlock_status (*change)(rlock_client *, const struct rlock_count *, int64_t *);
        int64_t least;
    } rows[] = {{rlock_latch_set, 1}, {rlock_latch_down, 0}, {rlock_sem_resize, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rlock_count count = RLOCK_COUNT_INIT;
        int64_t said;
        count.name = "x";
        count.deadline_ms = 0;
        count.number = rows[i].least;
        assert_int_equal(rows[i].change(client, &count, &said), RLOCK_UNAVAILABLE);
        count.number = RLOCK_PERMITS_MAX;
        assert_int_equal(rows[i].change(client, &count, &said), RLOCK_UNAVAILABLE);
        count.number++;
        assert_refused(rows[i].change(client, &count, &said), "1 to 1000000000");
        count.number = rows[i].least - 1;
        assert_refused(rows[i].change(client, &count, &said), "1 to 1000000000");
    }
}

TEST(a_skip_has_no_number) {
    const int64_t numbers[] = {0, -1, INT64_MAX};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const struct rlock_count count = {
            .size = sizeof count, .name = "x", .number = numbers[i], .cancel_fd = -1};
        int64_t skips;
        assert_int_equal(rlock_skip(client, &count, &skips), RLOCK_UNAVAILABLE);
    }
}

TEST(who_breaks_a_lock) {
    const char *owner = "somebody";
    struct rlock_break_options options = RLOCK_BREAK_OPTIONS_INIT;
    int64_t broken;
    char *by = text_of(RLOCK_TEXT_MAX + 1);
    options.name = "x";
    options.kind = "run";
    options.owners = &owner;
    options.owner_count = 1;
    options.deadline_ms = 0;
    options.by = by;
    assert_refused(rlock_break(client, &options, &broken), "at most 1024 bytes");
    by[RLOCK_TEXT_MAX] = '\0';
    assert_int_equal(rlock_break(client, &options, &broken), RLOCK_UNAVAILABLE);
    free(by);
}

/* --- the client ------------------------------------------------------------------------------- */

static void assert_client(const struct rlock_client_options *options, const char *why) {
    rlock_client *other;
    const enum rlock_status status = rlock_client_new(&other, options);
    if (status != (why != NULL ? RLOCK_INVALID : RLOCK_OK) ||
        (why != NULL && strstr(rlock_error(other), why) == NULL))
        fail_msg("%d: %s", status, rlock_error(other));
    rlock_client_free(other);
}

TEST(a_clients_times) {
    struct rlock_client_options options = client_options();
    int64_t *const fields[] = {&options.connect_timeout_ms, &options.io_timeout_ms,
                               &options.replica_timeout_ms};
    for (size_t i = 0; i < COUNT(fields); i++) {
        *fields[i] = -1;
        assert_client(&options, "36525 days");
        *fields[i] = RLOCK_TIME_MAX_MS + 1;
        assert_client(&options, "36525 days");
        *fields[i] = RLOCK_FOREVER;
        assert_client(&options, NULL);
        *fields[i] = RLOCK_TIME_MAX_MS;
        assert_client(&options, NULL);
    }
}

TEST(replicas) {
    struct rlock_client_options options = client_options();
    options.replicas = RLOCK_REPLICAS_AUTO - 1;
    assert_client(&options, "at most 100");
    options.replicas = RLOCK_REPLICAS_MAX + 1;
    assert_client(&options, "at most 100");
    options.replicas = RLOCK_REPLICAS_MAX;
    assert_client(&options, NULL);
}
