/* test_scan.c: how locks are found among all keys. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rlock_admin.h"
#include "support/peer.h"

enum { LONG_MS = 5000, SHORT_MS = 300 };

#define OWNER               "11111111-2222-3333-4444-555555555555:1"
#define TEXT(size, text)    "$" #size "\r\n" text "\r\n"
#define KEYS(cursor, count) "*2\r\n" cursor "*" count "\r\n"

struct searched {
    struct peer peer;
    rlock_client *client;
    rlock_scan *scan;
    enum rlock_status status;
};

/* For so long, or until it is over. */
static void search(struct searched *f, const char *const *answers, int64_t limit_ms) {
    char url[128];
    peer_start(&f->peer, answers);
    (void)snprintf(url, sizeof url, "unix://%s", f->peer.path);
    const char *const servers[] = {url};
    struct rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    options.servers = servers;
    options.server_count = 1;
    options.io_timeout_ms = 200;
    assert_int_equal(rlock_client_new(&f->client, &options), RLOCK_OK);
    assert_int_equal(rlock_scan_new(&f->scan, f->client, 0), RLOCK_OK);
    const int64_t end_ms = rlock_now_ms() + limit_ms;
    do
        f->status = rlock_scan_step(f->scan, end_ms, -1);
    while (f->status == RLOCK_AGAIN);
}

static void forget(struct searched *f) {
    rlock_scan_free(f->scan);
    rlock_client_free(f->client);
    peer_stop(&f->peer);
}

/* A word of what was asked, by the request from 0. */
static const char *asked(const struct searched *f, size_t i, size_t word) {
    return i < f->peer.request_count ? f->peer.requests[i].words[word].data : "";
}

TEST(what_was_not_answered_in_time_is_asked_for_in_smaller_portions) {
    struct searched f = {.status = RLOCK_AGAIN};
    search(&f, ANSWERS(PEER_SILENT, KEYS(TEXT(1, "0"), "0")), LONG_MS);
    assert_int_equal(f.status, RLOCK_OK);
    assert_null(rlock_scan_name(f.scan, 0));
    forget(&f);
    assert_int_equal(f.peer.request_count, 2);
    assert_string_equal(asked(&f, 0, 0), "SCAN");
    assert_string_equal(asked(&f, 1, 0), "SCAN");
    assert_true(atol(asked(&f, 1, 3)) > 0 && atol(asked(&f, 1, 3)) < atol(asked(&f, 0, 3)) / 4);
}

TEST(a_hash_with_one_owner_is_a_lock_and_what_cannot_be_asked_has_a_reason) {
#define HASH KEYS(TEXT(1, "0"), "1") TEXT(1, "x"), "+hash\r\n", ":1\r\n"
    const struct {
        const char *const *answers;
        int64_t limit_ms;
        enum rlock_status status;
        const char *told; /* the name that was found, or why there is none */
    } rows[] = {
        {ANSWERS(HASH, "*1\r\n" TEXT(38, OWNER)), LONG_MS, RLOCK_OK, "x"},
        {ANSWERS(HASH, "*1\r\n" TEXT(4, "name")), LONG_MS, RLOCK_OK, NULL},
        /* It is not there for this user. */
        {ANSWERS(HASH, "-NOPERM No permissions to access a key\r\n"), LONG_MS, RLOCK_OK, NULL},
        {ANSWERS("-NOPERM no permissions to run the 'scan' command\r\n"), LONG_MS, RLOCK_DENIED,
         "scan"},
        {ANSWERS(":1\r\n"), LONG_MS, RLOCK_UNAVAILABLE, "can't be understood"},
        {ANSWERS(KEYS(TEXT(1, "7"), "0")), SHORT_MS, RLOCK_UNAVAILABLE, ""}, /* then it is silent */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct searched f = {.status = RLOCK_AGAIN};
        search(&f, rows[i].answers, rows[i].limit_ms);
        const bool good = f.status == RLOCK_OK;
        const char *told = good ? rlock_scan_name(f.scan, 0) : rlock_error(f.client);
        if (f.status != rows[i].status || (told == NULL) != (rows[i].told == NULL) ||
            (told != NULL && strstr(told, rows[i].told) == NULL))
            fail_msg("row %zu: %s, '%s'", i, rlock_status_text(f.status),
                     told != NULL ? told : "no name");
        assert_int_equal(rlock_scan_looked(f.scan), good);
        forget(&f);
    }
}
