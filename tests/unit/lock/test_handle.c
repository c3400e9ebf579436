/* test_handle.c: a lock written down and taken up again; what is no handle is found out. */
#include "support/locked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rlock_handle.h"

#define ID "0123456789abcdef0123456789abcdef"

static struct locked on = {.timeout_ms = 1}; /* a server that nobody speaks to */

static struct rlock_handle_hold holds[] = {
    {.name = "a b\xc3\xa4{\"'$", .owner = "uuid:1@host", .id = ID, .token = 7},
    {.name = "c", .owner = "other:2@host", .id = ID, .token = INT64_MAX},
};

static const struct rlock_handle handle = {
    .size = sizeof handle,
    .kind = "run",
    .servers = on.urls[0],
    .owner = "uuid:1@host",
    .lease_ms = 1500,
    .permits = 1,
    .hold_count = 2,
    .holds = holds,
};

void before_all(void) {
    begin(&on, 1, SCRIPTS(NULL));
}

void after_all(void) {
    end(&on);
}

/* Yours to free. */
static char *written(void) {
    rlock_lock *lock;
    char *text;
    assert_int_equal(rlock_lock_resume(&lock, on.client, &handle), RLOCK_OK);
    assert_int_equal(rlock_handle_write(&text, lock, NULL), RLOCK_OK);
    rlock_lock_free(lock);
    return text;
}

/* Of each length that base64 tells apart. */
TEST(what_was_written_is_read) {
    for (const char *name = "cde"; *name != '\0'; name++) {
        struct rlock_handle *read;
        holds[1].name = name;
        char *text = written();
        assert_int_equal(
            strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."),
            strlen(text));
        assert_int_equal(rlock_handle_read(&read, text), RLOCK_OK);
        assert_string_equal(read->kind, handle.kind);
        assert_string_equal(read->servers, handle.servers);
        assert_string_equal(read->owner, handle.owner);
        assert_int_equal(read->lease_ms, handle.lease_ms);
        assert_int_equal(read->permits, handle.permits);
        assert_int_equal(read->hold_count, 2);
        for (size_t i = 0; i < 2; i++) {
            assert_string_equal(read->holds[i].name, holds[i].name);
            assert_string_equal(read->holds[i].owner, holds[i].owner);
            assert_string_equal(read->holds[i].id, holds[i].id);
            assert_int_equal(read->holds[i].token, holds[i].token);
        }
        rlock_handle_free(read);
        free(text);
    }
}

static void assert_none(const char *text) {
    struct rlock_handle *read;
    if (rlock_handle_read(&read, text) != RLOCK_INVALID)
        fail_msg("a handle: %s", text != NULL ? text : "NULL");
    assert_null(read);
}

TEST(what_was_cut_or_changed_is_none) {
    static const char *const none[] = {"rlock1.", "rlock2.AAAA", ""};
    char *text = written(), changed[1024];
    const size_t length = strlen(text);
    assert_true(length < sizeof changed - 2);
    for (size_t i = 0; i < length; i++) {
        (void)snprintf(changed, sizeof changed, "%.*s", (int)i, text);
        assert_none(changed);
        (void)snprintf(changed, sizeof changed, "%s", text);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        assert_none(changed);
    }
    for (const char *more = "A =+"; *more != '\0'; more++) {
        (void)snprintf(changed, sizeof changed, "%s%c", text, *more);
        assert_none(changed);
    }
    for (size_t i = 0; i < COUNT(none); i++)
        assert_none(none[i]);
    assert_none(NULL);
    free(text);
}

TEST(what_cannot_be_taken_up_is_refused) {
    static const char *const rows[][2] = {{"run", "redis://a redis://b redis://c"},
                                          {"mutex", NULL}};
    rlock_lock *lock;
    struct rlock_handle odd = handle;
    for (size_t i = 0; i < COUNT(rows); i++) {
        odd.kind = rows[i][0];
        odd.servers = rows[i][1];
        assert_int_equal(rlock_lock_resume(&lock, on.client, &odd), RLOCK_INVALID);
    }
    char *text;
    odd = handle;
    odd.kind = "plain"; /* without a lease there is no handle */
    odd.hold_count = 1;
    assert_int_equal(rlock_lock_resume(&lock, on.client, &odd), RLOCK_OK);
    assert_int_equal(rlock_handle_write(&text, lock, NULL), RLOCK_INVALID);
    assert_null(text);
    rlock_lock_free(lock);
}

/* It would be asked about, or written down, as something else. */
TEST(holds_that_were_never_written_are_refused) {
    static const struct rlock_handle_hold rows[] = {
        {"x", "uuid:1@host", "a b", 7},  {"x", "uuid:1@host", ID "0", 7},
        {"x", "uuid:1@host", ID ".", 7}, {"x", "uuid:1@host", ID ".9999999999", 7},
        {"x", "uuid:1@host", ID, 0},     {"x", "", ID, 7},
        {"x", "uuid:1@host\nx", ID, 7},  {"x", "uuid:1@host x", ID, 7},
    };
    rlock_lock *lock;
    struct rlock_handle odd = handle;
    odd.hold_count = 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        odd.holds = &rows[i];
        for (int its_own = 0; its_own < 2; its_own++) {
            odd.owner = its_own ? rows[i].owner : handle.owner;
            assert_int_equal(rlock_lock_resume(&lock, on.client, &odd), RLOCK_INVALID);
            assert_null(lock);
        }
    }
}

TEST(what_could_not_be_read_is_not_written) {
    static const char *const servers[] = {"", "redis://a\nredis://b"};
    rlock_lock *lock;
    char *text;
    assert_int_equal(rlock_lock_resume(&lock, on.client, &handle), RLOCK_OK);
    for (size_t i = 0; i < COUNT(servers); i++) {
        assert_int_equal(rlock_handle_write(&text, lock, servers[i]), RLOCK_INVALID);
        assert_null(text);
    }
    rlock_lock_free(lock);
    const struct rlock_handle_hold some[] = {holds[0], {"c", "other:2@host", NULL, 7}};
    struct rlock_handle odd = handle; /* it can only be checked */
    odd.holds = some;
    assert_int_equal(rlock_lock_resume(&lock, on.client, &odd), RLOCK_OK);
    assert_int_equal(rlock_handle_write(&text, lock, NULL), RLOCK_INVALID);
    assert_null(text);
    rlock_lock_free(lock);
}
