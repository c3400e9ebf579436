/* test_inspect.c: what a server says of a name, as the library's caller sees it. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "rlock_admin.h"
#include "support/peer.h"

#define TEXT(size, text) "$" #size "\r\n" text "\r\n"
#define HEAD(held, kind, token, numbers)                                                           \
    "*10\r\n:1\r\n:1700000000123\r\n:" held "\r\n" kind token numbers
#define NO_NUMBERS ":-1\r\n:-1\r\n:-1\r\n"
#define NOBODY     "*0\r\n"

static const char FREE[] = HEAD("0", TEXT(0, ""), TEXT(0, ""), NO_NUMBERS) NOBODY NOBODY;

struct inspected {
    struct peer peer;
    char url[128];
    rlock_client *client;
    rlock_view *view;
    enum rlock_status status;
    size_t asked; /* by then, how often */
};

static void inspect(struct inspected *f, const char *name, const char *answer) {
    const char *answers[] = {answer, NULL};
    peer_start(&f->peer, answers);
    (void)snprintf(f->url, sizeof f->url, "unix://%s", f->peer.path);
    const char *const servers[] = {f->url};
    struct rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    options.servers = servers;
    options.server_count = 1;
    assert_int_equal(rlock_client_new(&f->client, &options), RLOCK_OK);
    const struct rlock_inspect_options asked = {sizeof asked, name, 0, rlock_now_ms() + 5000, -1};
    f->status = rlock_inspect(f->client, &asked, &f->view);
}

static void forget(struct inspected *f) {
    rlock_view_free(f->view);
    rlock_client_free(f->client);
    peer_stop(&f->peer);
    f->asked = f->peer.request_count;
    peer_free(&f->peer);
}

static void a_free_name_has_nothing(void **state) {
    (void)state;
    struct inspected f;
    inspect(&f, "a", FREE);
    assert_int_equal(f.status, RLOCK_OK);
    assert_string_equal(f.view->name, "a");
    assert_string_equal(f.view->server, f.url);
    assert_null(f.view->kind);
    assert_false(f.view->held);
    assert_int_equal(f.view->as_of_ms, 1700000000123);
    assert_int_equal(f.view->token, -1);
    assert_int_equal(f.view->since_ms, -1);
    assert_int_equal(f.view->holder_count + f.view->waiter_count, 0);
    forget(&f);
}

static void holders_and_waiters_are_read(void **state) {
    (void)state;
    /* clang-format off */
    static const char answer[] =
        HEAD("1", TEXT(3, "sem"), TEXT(19, "9223372036854775807"), ":5\r\n:2\r\n:-1\r\n")
        "*2\r\n"
        "*11\r\n" TEXT(7, "u:1@far") TEXT(4, "near") ":7\r\n" TEXT(1, "u") TEXT(1, "c")
        ":1700\r\n:30\r\n:2\r\n" TEXT(16, "9007199254740993") ":3\r\n:1\r\n"
        "*11\r\n" TEXT(5, "u:4@h") TEXT(0, "") ":-1\r\n" TEXT(0, "") TEXT(0, "")
        ":-1\r\n:-1\r\n:1\r\n" TEXT(20, "99999999999999999999") ":-1\r\n:0\r\n"
        "*2\r\n*2\r\n" TEXT(6, "u:8@h8") ":16\r\n*2\r\n" TEXT(3, "u:9") ":17\r\n";
    /* clang-format on */
    struct inspected f;
    inspect(&f, "a", answer);
    assert_int_equal(f.status, RLOCK_OK);
    assert_string_equal(f.view->kind, "sem");
    assert_true(f.view->held && f.view->token == INT64_MAX);
    assert_true(f.view->permits_total == 5 && f.view->permits_available == 2);
    assert_true(f.view->count == -1 && f.view->since_ms == 1700);
    assert_int_equal(f.view->holder_count, 2);
    const struct rlock_view_holder *first = &f.view->holders[0], *second = &f.view->holders[1];
    assert_string_equal(first->owner, "u:1@far");
    assert_string_equal(first->host, "near"); /* what it says of itself comes first */
    assert_string_equal(first->user, "u");
    assert_string_equal(first->command, "c");
    assert_true(first->pid == 7 && first->since_ms == 1700 && first->ttl_ms == 30);
    assert_true(first->holds == 2 && first->token == 9007199254740993 && first->permits == 3);
    assert_true(first->writes);
    assert_string_equal(second->host, "h"); /* else its owner does */
    assert_true(second->pid == 4 && second->user == NULL && second->command == NULL);
    assert_true(second->since_ms == -1 && second->ttl_ms == -1 && second->permits == -1);
    assert_true(!second->writes);
    assert_int_equal(f.view->waiter_count, 2);
    const struct rlock_view_waiter *waiters = f.view->waiters;
    assert_string_equal(waiters[0].host, "h8");
    assert_true(waiters[0].pid == 8 && waiters[0].position == 1 && waiters[0].since_ms == 16);
    assert_string_equal(waiters[1].owner, "u:9"); /* Redisson's: a thread's id, not a process's */
    assert_true(waiters[1].host == NULL && waiters[1].pid == -1 && waiters[1].position == 2);
    forget(&f);
}

static void what_cannot_be_seen_has_a_reason(void **state) {
    (void)state;
    static const struct {
        const char *name, *answer;
        enum rlock_status status;
        const char *error;
    } rows[] = {
        {"a", "*3\r\n:-1\r\n:0\r\n:0\r\n", RLOCK_WRONG_KIND, ""},
        {"a", "*3\r\n:1\r\n:0\r\n:0\r\n", RLOCK_UNAVAILABLE, "can't be understood"},
        {"a", "-NOPERM no right\r\n", RLOCK_DENIED, "no right"},
        {"", FREE, RLOCK_INVALID, "name"},
        {"a\nb", FREE, RLOCK_INVALID, "control"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct inspected f;
        inspect(&f, rows[i].name, rows[i].answer);
        assert_int_equal(f.status, rows[i].status);
        assert_non_null(strstr(rlock_error(f.client), rows[i].error));
        assert_null(f.view);
        forget(&f);
        assert_int_equal(f.asked, rows[i].status == RLOCK_INVALID ? 0 : 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_name_has_nothing),
        cmocka_unit_test(holders_and_waiters_are_read),
        cmocka_unit_test(what_cannot_be_seen_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
