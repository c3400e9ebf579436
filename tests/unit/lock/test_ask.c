/* test_ask.c: several names in one request: which are asked about, in which order, and which of
 * their outcomes counts. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "lock/lock.h"
#include "support/peer.h"

enum { ANSWER_MS = 2000, LEASE_MS = 30000 };

#define GRANTED "*3\r\n:1\r\n:17\r\n:30000\r\n"
#define DONE    "*3\r\n:1\r\n:30000\r\n:0\r\n"
#define GONE    "*3\r\n:0\r\n:0\r\n:0\r\n"
#define HELD                                                                                       \
    "*10\r\n:0\r\n:29000\r\n:2\r\n$1\r\no\r\n$1\r\nh\r\n:1\r\n$1\r\nu\r\n$1\r\nc\r\n:0\r\n:1\r\n"
#define OTHER_KIND "*3\r\n:-1\r\n:0\r\n:0\r\n"

#define ANSWERS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A lock of the names a, b and c. */
struct fixture {
    struct peer peer;
    rlock_client *client;
    rlock_lock *lock;
};

static void begin(struct fixture *f, const char *const *answers) {
    static const char *const names[] = {"c", "a", "b"};
    char url[128];
    peer_start(&f->peer, answers);
    (void)snprintf(url, sizeof url, "unix://%s", f->peer.path);
    const char *const servers[] = {url};
    const struct rlock_client_options client = {.size = sizeof client,
                                                .servers = servers,
                                                .server_count = 1,
                                                .connect_timeout_ms = ANSWER_MS,
                                                .io_timeout_ms = ANSWER_MS};
    const struct rlock_lock_options lock = {.size = sizeof lock,
                                            .kind = "run",
                                            .names = (const char **)names,
                                            .name_count = COUNT(names),
                                            .lease_ms = LEASE_MS};
    assert_int_equal(rlock_client_new(&f->client, &client), RLOCK_OK);
    assert_int_equal(rlock_lock_new(&f->lock, f->client, &lock), RLOCK_OK);
}

static enum rlock_status try_once(struct fixture *f) {
    const struct rlock_wait wait = {
        .size = sizeof wait, .deadline_ms = 0, .until_ms = RLOCK_FOREVER, .cancel_fd = -1};
    return rlock_acquire(f->lock, &wait);
}

static enum rlock_status release(struct fixture *f) {
    return rlock_release(f->lock, 0, rlock_now_ms() + ANSWER_MS);
}

/* Each request is a letter, 'a'cquire, 'r'enew or give 'b'ack, and the name. */
static void end(struct fixture *f, const char *expected) {
    const struct rlock__kind *kind = rlock__kind_find("run");
    char text[PEER_REQUESTS_MAX * 3 + 1] = "";
    rlock_lock_free(f->lock);
    rlock_client_free(f->client);
    peer_stop(&f->peer);
    for (size_t i = 0; i < f->peer.request_count; i++) {
        const struct peer_request *request = &f->peer.requests[i];
        const char *sha1 = request->words[1].data;
        const char verb = strcmp(sha1, kind->acquire->sha1) == 0   ? 'a'
                          : strcmp(sha1, kind->renew->sha1) == 0   ? 'r'
                          : strcmp(sha1, kind->release->sha1) == 0 ? 'b'
                                                                   : '?';
        const size_t length = strlen(text);
        (void)snprintf(text + length, sizeof text - length, "%s%c%s", i > 0 ? " " : "", verb,
                       request->words[3].data);
    }
    assert_string_equal(text, expected);
    peer_free(&f->peer);
}

static void names_are_taken_in_order_and_given_back_the_last_first(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED, GRANTED, GRANTED, DONE, DONE, DONE));
    assert_int_equal(try_once(&f), RLOCK_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rlock_hold_at(f.lock, i)->token, 17);
    assert_int_equal(release(&f), RLOCK_OK);
    end(&f, "aa ab ac bc bb ba");
}

/* The first one that is busy is the one to wait for; what was granted beside it is given back. */
static void the_first_name_that_is_not_granted_counts(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED, HELD, OTHER_KIND, DONE));
    assert_int_equal(try_once(&f), RLOCK_BUSY);
    assert_string_equal(rlock_stuck_at(f.lock), "b");
    assert_string_equal(rlock_blocker(f.lock)->owner, "o");
    assert_null(rlock_hold_at(f.lock, 0));
    assert_false(rlock_in_doubt(f.lock));
    end(&f, "aa ab ac ba");
}

/* What is lost is known, however the others fare. */
static void a_lost_name_counts_before_one_that_was_not_answered(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED, GRANTED, GRANTED, "-LOADING wait\r\n", GONE, "-NOPERM no\r\n", DONE,
                      DONE, DONE));
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(rlock_renew(f.lock), RLOCK_LOST);
    assert_string_equal(rlock_stuck_at(f.lock), "b");
    assert_int_equal(release(&f), RLOCK_OK);
    end(&f, "aa ab ac ra rb rc bc bb ba");
}

/* Only what was not answered is asked for again, and a name that was lost stays lost. */
static void a_second_request_is_about_the_rest(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, ANSWERS(GRANTED, GRANTED, GRANTED, GONE, "-LOADING wait\r\n", DONE, DONE));
    assert_int_equal(try_once(&f), RLOCK_OK);
    assert_int_equal(release(&f), RLOCK_LOST);
    assert_string_equal(rlock_stuck_at(f.lock), "c");
    assert_string_equal(rlock_error(f.client), "c is not ours any more");
    for (size_t i = 0; i < 3; i++)
        assert_null(rlock_hold_at(f.lock, i));
    end(&f, "aa ab ac bc bb ba bb");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_taken_in_order_and_given_back_the_last_first),
        cmocka_unit_test(the_first_name_that_is_not_granted_counts),
        cmocka_unit_test(a_lost_name_counts_before_one_that_was_not_answered),
        cmocka_unit_test(a_second_request_is_about_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
