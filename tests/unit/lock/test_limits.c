/* test_limits.c: the limits that rlock.h names: what is at one is taken, what is beyond is refused,
 * and nothing has been sent by then. */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "rlock_admin.h"
#include "rlock_count.h"
#include "rlock_handle.h"

/* Nobody is there: what is sent is told from what is refused. */
#define NOBODY "unix:///nowhere/sock"

static rlock_client *client;
static rlock_lock *lock;

static struct rlock_client_options client_options(void) {
    static const char *const servers[] = {NOBODY};
    struct rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    options.servers = servers;
    options.server_count = 1;
    options.connect_timeout_ms = 10;
    return options;
}

static void assert_refused(enum rlock_status status, const char *why) {
    assert_int_equal(status, RLOCK_INVALID);
    if (strstr(rlock_error(client), why) == NULL)
        fail_msg("'%s' does not say '%s'", rlock_error(client), why);
}

/* It is made, or refused because of that. */
static void assert_lock(const struct rlock_lock_options *options, const char *why) {
    rlock_lock *made;
    const enum rlock_status status = rlock_lock_new(&made, client, options);
    if (why != NULL)
        assert_refused(status, why);
    else if (status != RLOCK_OK)
        fail_msg("%s", rlock_error(client));
    assert_true((made != NULL) == (why == NULL));
    rlock_lock_free(made);
}

static struct rlock_lock_options lock_options(void) {
    static const char *const names[] = {"x"};
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.names = names;
    options.name_count = 1;
    return options;
}

void before_all(void) {
    const struct rlock_client_options of_client = client_options();
    const struct rlock_lock_options of_lock = lock_options();
    assert_int_equal(rlock_client_new(&client, &of_client), RLOCK_OK);
    assert_int_equal(rlock_lock_new(&lock, client, &of_lock), RLOCK_OK);
}

void after_all(void) {
    rlock_lock_free(lock);
    rlock_client_free(client);
}

static char *text_of(size_t length) {
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, 'x', length);
    text[length] = '\0';
    return text;
}

TEST(names_and_texts) {
    struct rlock_lock_options options = lock_options();
    const char *name;
    const struct {
        const char **text;
        size_t most;
        const char *why;
    } rows[] = {
        {&name, RLOCK_NAME_MAX, "1 to 512 bytes"},
        {&options.user, RLOCK_TEXT_MAX, "at most 1024 bytes"},
        {&options.command, RLOCK_TEXT_MAX, "at most 1024 bytes"},
        {&options.note, RLOCK_TEXT_MAX, "at most 1024 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = text_of(rows[i].most + 1);
        options = lock_options();
        name = options.names[0];
        options.names = &name;
        *rows[i].text = text;
        assert_lock(&options, rows[i].why);
        text[rows[i].most] = '\0';
        assert_lock(&options, NULL);
        free(text);
    }
}

TEST(how_many_names) {
    struct rlock_lock_options options = lock_options();
    const char *many[RLOCK_NAMES_MAX + 1];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = "x";
    options.names = many;
    options.name_count = RLOCK_NAMES_MAX;
    assert_lock(&options, NULL);
    options.name_count++;
    assert_lock(&options, "1 to 10000 names");
    options.name_count = 0;
    assert_lock(&options, "1 to 10000 names");
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
        {"run", &options.priority, 0, 0, "priority is not supported for this kind of lock"},
        {"read", &options.priority, 0, 0, "priority is not supported for this kind of lock"},
        {"sem", &options.priority, 0, 0, "priority is not supported for this kind of lock"},
        {"latch", &options.priority, 0, 0, "priority is not supported for this kind of lock"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct {
            int64_t number;
            const char *why;
        } tries[] = {{rows[i].least, NULL},
                     {rows[i].most, NULL},
                     {rows[i].least - 1, rows[i].why},
                     {rows[i].most + 1, rows[i].why}};
        options = lock_options();
        options.kind = rows[i].kind;
        for (size_t k = 0; k < COUNT(tries); k++) {
            *rows[i].field = tries[k].number;
            assert_lock(&options, tries[k].why);
        }
    }
}

TEST(what_is_not_held_is_lost_before_anybody_is_asked) {
    int64_t ttl_ms;
    assert_int_equal(rlock_check(lock, &ttl_ms), RLOCK_LOST);
    assert_string_equal(rlock_error(client), "x is not held");
}

TEST(how_long_it_stays_taken) {
    assert_int_equal(rlock_release(lock, RLOCK_TIME_MAX_MS, 0), RLOCK_OK); /* it is not held */
    assert_int_equal(rlock_release(lock, -1, 0), RLOCK_OK);
    assert_refused(rlock_release(lock, RLOCK_TIME_MAX_MS + 1, 0), "at most 36525 days");
}

TEST(a_keepers_grace) {
    struct rlock_keeper_options options = RLOCK_KEEPER_OPTIONS_INIT;
    rlock_keeper *keeper;
    options.grace_ms = -1;
    assert_refused(rlock_keeper_start(&keeper, lock, &options), "less than the lease");
    options.grace_ms = RLOCK_LEASE_DEFAULT_MS;
    assert_refused(rlock_keeper_start(&keeper, lock, &options), "less than the lease");
    assert_null(keeper);
    options.grace_ms--;
    assert_int_equal(rlock_keeper_start(&keeper, lock, &options), RLOCK_OK);
    (void)rlock_keeper_stop(keeper);
}

/* Any point in time is one, and a skip has no number. */
TEST(deadlines) {
    static const int64_t past[] = {INT64_MIN, -1, 0, 1};
    for (size_t i = 0; i < COUNT(past); i++) {
        struct rlock_wait wait = RLOCK_WAIT_INIT;
        struct rlock_count count = RLOCK_COUNT_INIT, skip = RLOCK_COUNT_INIT;
        int64_t left;
        skip.name = "x";
        skip.number = past[i];
        skip.deadline_ms = 0;
        assert_int_equal(rlock_skip(client, &skip, &left), RLOCK_UNAVAILABLE);
        wait.deadline_ms = past[i];
        assert_int_equal(rlock_acquire(lock, &wait), RLOCK_UNAVAILABLE);
        wait.deadline_ms = RLOCK_FOREVER;
        count.name = "x";
        count.deadline_ms = past[i];
        assert_int_equal(rlock_latch_set(client, &count, &left), RLOCK_UNAVAILABLE);
        assert_int_equal(rlock_release(lock, 0, past[i]), RLOCK_OK);
    }
}

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

static void assert_client(const struct rlock_client_options *options, const char *why) {
    rlock_client *other;
    const enum rlock_status status = rlock_client_new(&other, options);
    if (status != (why != NULL ? RLOCK_INVALID : RLOCK_OK) ||
        (why != NULL && strstr(rlock_error(other), why) == NULL))
        fail_msg("%d: %s", status, rlock_error(other));
    rlock_client_free(other);
}

TEST(a_clients_times_and_replicas) {
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
    options.replicas = RLOCK_REPLICAS_AUTO - 1;
    assert_client(&options, "at most 100");
    options.replicas = RLOCK_REPLICAS_MAX + 1;
    assert_client(&options, "at most 100");
    options.replicas = RLOCK_REPLICAS_MAX;
    assert_client(&options, NULL);
}
