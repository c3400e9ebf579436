/* test_options.c: programs older and newer than the library are understood, or refused. */
#include "support/test.h"

#include <string.h>

#include "os/options.h"
#include "rlock_admin.h"
#include "rlock_count.h"
#include "rlock_handle.h"

/* The same structure in three versions, as one after the other adds to it. */
struct first {
    size_t size;
    int64_t lease_ms;
    bool loud;
};

struct known {
    size_t size;
    int64_t lease_ms;
    bool loud;
    const char *note;
};

struct newer {
    size_t size;
    int64_t lease_ms;
    bool loud;
    const char *note;
    int64_t speed;
    bool proud;
};

static struct rlock__error error;

static enum rlock_status read_into(struct known *out, const void *given) {
    error.text[0] = '\0';
    memset(out, 'x', sizeof *out);
    return RLOCK__READ_OPTIONS(known, loud, out, given, &error);
}

TEST(what_an_older_program_does_not_know_is_zero) {
    const struct known same = {.size = sizeof same, .lease_ms = 7, .loud = true, .note = "n"};
    const struct first older = {.size = sizeof older, .lease_ms = 7, .loud = true};
    struct known out;
    assert_int_equal(read_into(&out, &same), RLOCK_OK);
    assert_true(out.lease_ms == 7 && out.loud);
    assert_string_equal(out.note, "n");
    assert_int_equal(read_into(&out, &older), RLOCK_OK);
    assert_true(out.lease_ms == 7 && out.loud);
    assert_null(out.note);
}

TEST(a_newer_program_is_served_while_it_uses_nothing_new) {
    struct known out;
    struct newer given;
    memset(&given, 0, sizeof given); /* also what no field has */
    given.size = sizeof given;
    given.note = "n";
    assert_int_equal(read_into(&out, &given), RLOCK_OK);
    assert_string_equal(out.note, "n");
    given.proud = true; /* the last byte that is any field's */
    assert_int_equal(read_into(&out, &given), RLOCK_INVALID);
    assert_non_null(
        strstr(error.text, "struct known has an option that this version of librlock, "));
    assert_non_null(strstr(error.text, rlock_version()));
}

TEST(a_size_that_cannot_be_is_refused) {
    static const size_t sizes[] = {0, 1, offsetof(struct first, loud), 4097, SIZE_MAX};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct known out;
        const struct known given = {.size = sizes[i], .lease_ms = 7};
        assert_int_equal(read_into(&out, &given), RLOCK_INVALID);
        assert_non_null(strstr(error.text, "the size in struct known is "));
    }
}

/* --- each function that is given options ------------------------------------------------------ */

static const char *const url = "unix:///none/sock", *const none = NULL;
static rlock_client *client;

void before_all(void) {
    struct rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    options.servers = &url;
    options.server_count = 1;
    assert_int_equal(rlock_client_new(&client, &options), RLOCK_OK);
}

void after_all(void) {
    rlock_client_free(client);
}

static void assert_refused(enum rlock_status status, const char *why) {
    assert_int_equal(status, RLOCK_INVALID);
    assert_string_equal(rlock_error(client), why);
}

#define NO_SIZE(name) "the size in struct rlock_" name " is 0: begin with its _INIT"

/* What an _INIT leaves to the program is missed, not followed as a null pointer. */
TEST(a_client_of_nothing_is_refused) {
    enum { SIZE = sizeof(struct rlock_client_options) };
    static const struct rlock_tls_options tls = {.insecure = true};
    const struct {
        struct rlock_client_options options;
        const char *why;
    } rows[] = {
        {{.servers = &url, .server_count = 1}, NO_SIZE("client_options")},
        {{.size = SIZE, .servers = &url, .server_count = 1, .tls = &tls}, NO_SIZE("tls_options")},
        {RLOCK_CLIENT_OPTIONS_INIT, "a lock lives on 1 to 15 servers"},
        {{.size = SIZE, .servers = &none, .server_count = 1}, "cannot read the server's URL"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rlock_client *other;
        assert_int_equal(rlock_client_new(&other, &rows[i].options), RLOCK_INVALID);
        if (strstr(rlock_error(other), rows[i].why) == NULL)
            fail_msg("'%s', not '%s'", rlock_error(other), rows[i].why);
        rlock_client_free(other);
    }
    assert_string_equal(rlock_error(NULL), "out of memory");
}

TEST(what_has_no_size_is_refused) {
    static const char *const name = "x";
    const struct rlock_lock_options nameless = {.kind = "run"};
    const struct rlock_handle handle = {.kind = "run", .owner = "o"};
    const struct rlock_wait wait = {.cancel_fd = -1};
    const struct rlock_keeper_options keeping = {.grace_ms = 1};
    const struct rlock_count count = {.name = "x", .number = 1, .cancel_fd = -1};
    const struct rlock_inspect_options looking = {.name = "x", .cancel_fd = -1};
    const struct rlock_break_options breaking = {.name = "x", .kind = "run", .cancel_fd = -1};
    const struct rlock_probe_options probing = {.name = "x", .cancel_fd = -1};
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    int64_t number;
    rlock_lock *lock;
    rlock_keeper *keeper;
    rlock_view *view;
    rlock_facts *facts;
    assert_refused(rlock_lock_new(&lock, client, &nameless), NO_SIZE("lock_options"));
    assert_null(lock);
    assert_refused(rlock_lock_resume(&lock, client, &handle), NO_SIZE("handle"));
    assert_null(lock);
    assert_refused(rlock_latch_set(client, &count, &number), NO_SIZE("count"));
    assert_refused(rlock_latch_down(client, &count, &number), NO_SIZE("count"));
    assert_refused(rlock_sem_resize(client, &count, &number), NO_SIZE("count"));
    assert_refused(rlock_inspect(client, &looking, &view), NO_SIZE("inspect_options"));
    assert_refused(rlock_break(client, &breaking, &number), NO_SIZE("break_options"));
    assert_refused(rlock_probe(client, &probing, &facts), NO_SIZE("probe_options"));
    assert_true(view == NULL && facts == NULL);
    options.names = &name;
    options.name_count = 1;
    assert_int_equal(rlock_lock_new(&lock, client, &options), RLOCK_OK);
    assert_refused(rlock_acquire(lock, &wait), NO_SIZE("wait"));
    assert_refused(rlock_keeper_start(&keeper, lock, &keeping), NO_SIZE("keeper_options"));
    assert_null(keeper);
    rlock_lock_free(lock);
}

TEST(what_is_missing_is_told) {
    static const char empty[] =
        "cannot use the lock's name: it is empty: a name has 1 to 512 bytes";
    const struct rlock_handle_hold hold = {.name = "x"};
    const struct rlock_count count = RLOCK_COUNT_INIT;
    const struct rlock_inspect_options looking = RLOCK_INSPECT_OPTIONS_INIT;
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    struct rlock_handle handle = RLOCK_HANDLE_INIT;
    struct rlock_break_options breaking = RLOCK_BREAK_OPTIONS_INIT;
    int64_t number;
    rlock_lock *lock;
    rlock_view *view;
    assert_refused(rlock_lock_new(&lock, client, &options), "a lock has 1 to 10000 names");
    options.names = &none;
    options.name_count = 1;
    assert_refused(rlock_lock_new(&lock, client, &options), empty);
    options.kind = NULL;
    assert_refused(rlock_lock_new(&lock, client, &options), "there is no such kind of lock");
    assert_refused(rlock_lock_resume(&lock, client, &handle), "a handle needs a hold");
    handle.holds = &hold;
    handle.hold_count = 1;
    assert_refused(rlock_lock_resume(&lock, client, &handle), "a handle needs an owner");
    handle.owner = "o"; /* and the hold has none */
    assert_refused(rlock_lock_resume(&lock, client, &handle), "a handle needs an owner");
    assert_refused(rlock_latch_set(client, &count, &number), empty);
    assert_refused(rlock_inspect(client, &looking, &view), empty);
    assert_refused(rlock_break(client, &breaking, &number), empty);
    breaking.name = "x";
    assert_refused(rlock_break(client, &breaking, &number), "nobody holds such a lock");
}
