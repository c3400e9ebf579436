/* test_inspect.c: what a server says of a name, and how names are found among all keys, as the
 * library's caller sees it. */
#include "support/locked.h"

#include <stdlib.h>
#include <string.h>

#include "rlock_admin.h"

enum { LONG_MS = 5000, SHORT_MS = 300 };

#define OWNER               "11111111-2222-3333-4444-555555555555:1"
#define KEYS(cursor, count) "*2\r\n" cursor "*" count "\r\n"
#define TEXT(size, text)    "$" #size "\r\n" text "\r\n"
#define NONE                TEXT(0, "")
#define NOBODY              "*0\r\n"

/* What is said of a name: its kind; holders, waiters; parts of them, and where to go on. */
#define HEAD(kind) "*15\r\n:1\r\n:1700000000123\r\n:0\r\n" kind NONE ":-1\r\n:-1\r\n:-1\r\n"
#define HOLDER(owner, since, id)                                                                   \
    "*15\r\n" owner NONE ":-1\r\n" NONE NONE ":" since "\r\n:9\r\n:1\r\n" NONE                     \
    ":-1\r\n:0\r\n:0\r\n" NONE ":0\r\n" id
#define WAITER(owner, since)         "*7\r\n" owner ":" since "\r\n" NONE NONE NONE NONE ":0\r\n"
#define TAIL(parts)                  ":0\r\n*0\r\n:-1\r\n" parts
#define PART(owner, id, ttl, writes) "*4\r\n" owner id ":" ttl "\r\n:" writes "\r\n"

static const char FREE[] = HEAD(NONE) NOBODY NOBODY TAIL(NOBODY NONE);

struct asked {
    struct locked on;
    rlock_view *view; /* or */
    rlock_scan *scan;
    enum rlock_status status;
};

static void inspect_as(struct asked *f, const char *name, const char *const *answers,
                       int64_t io_timeout_ms, bool only_held) {
    *f = (struct asked){.on.timeout_ms = io_timeout_ms};
    begin(&f->on, 1, &answers);
    f->on.client->connect_timeout_ms =
        LONG_MS; /* a server that was never heard gets no other try */
    const struct rlock_inspect_options of = {.size = sizeof of,
                                             .name = name,
                                             .deadline_ms = rlock_now_ms() + 5000,
                                             .cancel_fd = -1,
                                             .only_held = only_held};
    f->status = rlock_inspect(f->on.client, &of, &f->view);
}

static void inspect(struct asked *f, const char *name, const char *const *answers,
                    int64_t io_timeout_ms) {
    inspect_as(f, name, answers, io_timeout_ms, false);
}

/* For so long, or until it is over. */
static void search(struct asked *f, const char *const *answers, int64_t limit_ms) {
    *f = (struct asked){.on.timeout_ms = patience_ms(200)};
    begin(&f->on, 1, &answers);
    assert_int_equal(rlock_scan_new(&f->scan, f->on.client, 0), RLOCK_OK);
    const int64_t end_ms = rlock_now_ms() + limit_ms;
    do
        f->status = rlock_scan_step(f->scan, end_ms, -1);
    while (f->status == RLOCK_AGAIN);
}

static void forget(struct asked *f) {
    rlock_view_free(f->view);
    rlock_scan_free(f->scan);
    end(&f->on);
}

/* Holders and waiters that come twice, for others come and go between two pages. */
TEST(pages_are_put_together) {
    /* clang-format off */
    static const char *const answers[] = {
        HEAD(TEXT(4, "read"))
        "*2\r\n" HOLDER(TEXT(1, "b"), "20", TEXT(1, "b")) HOLDER(TEXT(1, "a"), "30", TEXT(1, "a"))
        "*2\r\n" WAITER(TEXT(1, "y"), "1") WAITER(TEXT(1, "x"), "2")
        TAIL("*2\r\n" PART(TEXT(1, "b"), TEXT(1, "1"), "40", "0")
                      PART(TEXT(1, "c"), TEXT(1, "3"), "40", "0") TEXT(4, "4 17")),
        HEAD(TEXT(4, "read"))
        "*3\r\n" HOLDER(TEXT(1, "a"), "30", TEXT(7, "a:write")) HOLDER(TEXT(1, "b"), "20", TEXT(1, "b"))
                 HOLDER(TEXT(1, "d"), "40", TEXT(1, "d"))
        "*2\r\n" WAITER(TEXT(1, "x"), "2") WAITER(TEXT(1, "z"), "3")
        TAIL("*4\r\n" PART(TEXT(1, "b"), TEXT(1, "1"), "41", "0")
                      PART(TEXT(1, "b"), TEXT(1, "2"), "50", "1")
                      PART(TEXT(1, "b"), TEXT(1, "4"), "0", "0")
                      PART(TEXT(1, "d"), TEXT(1, "5"), "0", "0") NONE),
        NULL,
    };
    /* clang-format on */
    struct asked f;
    inspect(&f, "a", answers, LONG_MS);
    assert_int_equal(f.status, RLOCK_OK);
    assert_string_equal(f.view->kind, "write");
    assert_true(f.view->held && f.view->holder_count == 2 && f.view->since_ms == 30);
    const struct rlock_view_holder *a = &f.view->holders[0], *b = &f.view->holders[1];
    assert_string_equal(a->owner, "a"); /* as the hash says */
    assert_true(a->holds == 2 && a->ttl_ms == 9 && !a->writes);
    assert_string_equal(b->owner, "b"); /* as its leases say */
    assert_true(b->holds == 2 && b->ttl_ms == 50 && b->writes);
    assert_int_equal(f.view->waiter_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(f.view->waiters[i].owner[0], "yxz"[i]);
        assert_int_equal(f.view->waiters[i].position, i + 1);
    }
    forget(&f);
    assert_int_equal(f.on.peers[0].request_count, 2);
}

/* The waiters of the first page are enough, and a holder that lives. */
TEST(whether_it_is_held_is_known_before_all_has_been_seen) {
    /* clang-format off */
    static const char *const answers[] = {
        HEAD(TEXT(4, "read")) NOBODY "*1\r\n" WAITER(TEXT(1, "y"), "1") TAIL(NOBODY TEXT(4, "2 20")),
        HEAD(TEXT(4, "read"))
        "*1\r\n" HOLDER(TEXT(1, "a"), "30", TEXT(1, "a")) NOBODY
        TAIL("*1\r\n" PART(TEXT(1, "a"), TEXT(1, "1"), "0", "0") TEXT(4, "5 17")),
        HEAD(TEXT(4, "read"))
        "*1\r\n" HOLDER(TEXT(1, "b"), "20", TEXT(1, "b")) NOBODY TAIL(NOBODY TEXT(4, "5 99")),
        NULL,
    };
    /* clang-format on */
    static const char *const places[] = {"", "4 0", "5 17"};
    struct asked f;
    inspect_as(&f, "a", answers, LONG_MS, true);
    assert_int_equal(f.status, RLOCK_OK);
    assert_true(f.view->held && f.view->holder_count == 1);
    assert_string_equal(f.view->holders[0].owner, "b");
    forget(&f);
    assert_int_equal(f.on.peers[0].request_count, COUNT(places));
    for (size_t i = 0; i < COUNT(places); i++) {
        const struct peer_request *request = &f.on.peers[0].requests[i];
        assert_string_equal(request->words[request->word_count - 2].data, places[i]);
    }
}

/* What took the server too long must not take it as long again. */
TEST(what_was_not_answered_in_time_is_asked_for_in_smaller_portions) {
    for (int scans = 0; scans <= 1; scans++) {
        struct asked f;
        long portions[2];
        if (scans)
            search(&f, ANSWERS(PEER_SILENT, KEYS(TEXT(1, "0"), "0")), LONG_MS);
        else
            inspect(&f, "a", ANSWERS(PEER_SILENT, FREE), patience_ms(100));
        assert_int_equal(f.status, RLOCK_OK);
        forget(&f);
        assert_int_equal(f.on.peers[0].request_count, 2);
        for (size_t i = 0; i < 2; i++) {
            const struct peer_request *request = &f.on.peers[0].requests[i];
            portions[i] = atol(request->words[scans ? 3 : request->word_count - 1].data);
        }
        assert_true(portions[1] > 0 && portions[1] <= portions[0] / 4);
    }
}

TEST(a_hash_with_one_owner_is_a_lock_and_what_cannot_be_seen_has_a_reason) {
#define FREE_BUT(place) HEAD(NONE) NOBODY NOBODY TAIL(NOBODY TEXT(3, place))
#define HASH            KEYS(TEXT(1, "0"), "1") TEXT(1, "x"), "+hash\r\n", ":1\r\n"
    const struct {
        const char *inspected; /* NULL: a scan */
        const char *const *answers;
        enum rlock_status status;
        const char *told; /* the name that was found, or why there is none */
    } rows[] = {
        {"a", ANSWERS("*3\r\n:-1\r\n:0\r\n:0\r\n"), RLOCK_WRONG_KIND,
         "a is another kind of lock, or none"},
        {"a", ANSWERS("*3\r\n:1\r\n:0\r\n:0\r\n"), RLOCK_UNAVAILABLE, "can't be understood"},
        {"a", ANSWERS(FREE_BUT("2 0"), FREE_BUT("2 0"), FREE_BUT("2 0")), RLOCK_UNAVAILABLE,
         "go round in a circle"},
        {"a", ANSWERS("-NOPERM no right\r\n"), RLOCK_DENIED, "no right"},
        {"", ANSWERS(FREE), RLOCK_INVALID, "name"},
        {"a\nb", ANSWERS(FREE), RLOCK_INVALID, "control"},
        {NULL, ANSWERS(HASH, "*1\r\n" TEXT(38, OWNER)), RLOCK_OK, "x"},
        {NULL, ANSWERS(HASH, "*1\r\n" TEXT(4, "name")), RLOCK_OK, NULL},
        /* It is not there for this user. */
        {NULL, ANSWERS(HASH, "-NOPERM No permissions to access a key\r\n"), RLOCK_OK, NULL},
        {NULL, ANSWERS("-NOPERM no permissions to run the 'scan' command\r\n"), RLOCK_DENIED,
         "scan"},
        {NULL, ANSWERS(":1\r\n"), RLOCK_UNAVAILABLE, "can't be understood"},
        {NULL, ANSWERS(KEYS(TEXT(1, "7"), "0")), RLOCK_UNAVAILABLE, ""}, /* then it is silent */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct asked f;
        if (rows[i].inspected != NULL)
            inspect(&f, rows[i].inspected, rows[i].answers, LONG_MS);
        else
            search(&f, rows[i].answers, i + 1 < COUNT(rows) ? LONG_MS : SHORT_MS);
        const bool good = f.status == RLOCK_OK;
        const char *told = good ? rlock_scan_name(f.scan, 0) : rlock_error(f.on.client);
        if (f.status != rows[i].status || (told == NULL) != (rows[i].told == NULL) ||
            (told != NULL && strstr(told, rows[i].told) == NULL))
            fail_msg("row %zu: %s, '%s'", i, rlock_status_text(f.status),
                     told != NULL ? told : "no name");
        assert_null(f.view);
        if (rows[i].inspected == NULL)
            assert_int_equal(rlock_scan_looked(f.scan), good);
        forget(&f);
        assert_int_equal(f.on.peers[0].request_count == 0, rows[i].status == RLOCK_INVALID);
    }
}
