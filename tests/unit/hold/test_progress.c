/* test_progress.c: what is said while waiting, for each kind of lock. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hold/progress.h"
#include "lock/lock.h"
#include "output/out.h"

static const struct kind run = {.name = "run", .detail = DETAIL_NONE},
                         fair = {.name = "fair", .detail = DETAIL_PLACE},
                         reader = {.name = "read", .detail = DETAIL_KIND},
                         latch = {.name = "latch", .detail = DETAIL_COUNT};

static int64_t now_ms = 1000000;
static rlock_client *client; /* that has never spoken to its server */

int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out) {
    (void)id;
    *out = (struct timespec){now_ms / 1000, now_ms % 1000 * 1000000};
    return 0;
}

/* What is written when a line gets the chance to speak. */
static const char *shown(struct progress *progress, const struct rlock_lock *lock) {
    static char text[4096];
    FILE *caught = tmpfile();
    const int real_stderr = dup(STDERR_FILENO);
    assert_non_null(caught);
    assert_int_equal(dup2(fileno(caught), STDERR_FILENO), STDERR_FILENO);
    progress_show(progress, client, lock);
    assert_int_equal(dup2(real_stderr, STDERR_FILENO), STDERR_FILENO);
    const ssize_t n = pread(fileno(caught), text, sizeof text - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    fclose(caught);
    close(real_stderr);
    return text;
}

/* What a line of that kind says of a lock whose last try was busy. */
static const char *said(const struct kind *kind, const struct rlock_holder *holder) {
    struct rlock__resource x;
    const struct rlock_lock lock = {.busy = {.resource = &x, .holder = *holder}};
    struct progress progress;
    progress_begin(&progress, holder->name, kind);
    return shown(&progress, &lock);
}

static void assert_says(const struct kind *kind, const struct rlock_holder *holder,
                        const char *text) {
    char expected[512];
    (void)snprintf(expected, sizeof expected, "rlock: waiting for x%s\n", text);
    assert_string_equal(said(kind, holder), expected);
}

static struct rlock_holder alice(int64_t position, int64_t waiting) {
    return (struct rlock_holder){
        .name = "x",
        .owner = "u:7@web-01",
        .host = "web-01",
        .user = "alice",
        .command = "./deploy.sh",
        .note = "",
        .pid = 7,
        .held_ms = 180000,
        .as_of_ms = rlock_now_ms(),
        .position = position,
        .waiting = waiting,
    };
}

#define BY_ALICE ": held by alice@web-01 pid 7 for 3m, ./deploy.sh"

static void each_kind_says_what_its_waiters_want_to_know(void **state) {
    (void)state;
    const struct rlock_holder holder = alice(2, 4);
    assert_says(&run, &holder, BY_ALICE);
    assert_says(&fair, &holder, " (fair, 2nd of 4)" BY_ALICE);
    assert_says(&reader, &holder, " (read)" BY_ALICE);
    struct rlock_holder noted = holder;
    noted.note = "https://ci/7";
    assert_says(&run, &noted, ": held by alice@web-01 pid 7 for 3m (https://ci/7), ./deploy.sh");
    const struct rlock_holder no_place = alice(0, 4);
    assert_says(&fair, &no_place, " (fair)" BY_ALICE);
}

static void unknown_holders(void **state) {
    (void)state;
    struct rlock_holder holder = {
        .name = "x", .owner = "u:1", .host = "", .user = "", .command = "", .note = ""};
    assert_says(&reader, &holder, " (read): held by u:1");
    holder.owner = "";
    assert_says(&reader, &holder, " (read): held by others");
    assert_says(&run, &holder, ": held by others");
}

static void a_latch_says_how_much_is_to_go(void **state) {
    (void)state;
    struct rlock_holder holder = {
        .name = "x", .owner = "", .host = "", .user = "", .command = "", .note = "", .waiting = 3};
    char why[64];
    assert_says(&latch, &holder, " (latch, 3 to go)");
    progress_why(why, sizeof why, &latch, &holder);
    assert_string_equal(why, "3 to go");
    holder.waiting = 0;
    assert_says(&latch, &holder, " (latch, not set yet)");
}

static void places_are_ordinals(void **state) {
    (void)state;
    static const struct {
        int64_t place;
        const char *text;
    } rows[] = {{1, "1st"},     {2, "2nd"},     {3, "3rd"},     {4, "4th"},     {10, "10th"},
                {11, "11th"},   {12, "12th"},   {13, "13th"},   {14, "14th"},   {20, "20th"},
                {21, "21st"},   {22, "22nd"},   {23, "23rd"},   {24, "24th"},   {100, "100th"},
                {101, "101st"}, {111, "111th"}, {112, "112th"}, {113, "113th"}, {121, "121st"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        const struct rlock_holder holder = alice(rows[i].place, 200);
        (void)snprintf(text, sizeof text, " (fair, %s of 200)" BY_ALICE, rows[i].text);
        assert_says(&fair, &holder, text);
    }
}

/* Here, without a terminal. */
static void a_line_at_the_start_and_every_30_seconds(void **state) {
    (void)state;
    const struct rlock_holder holder = {
        .name = "x", .owner = "", .host = "", .user = "", .command = "", .note = ""};
    struct rlock__resource x;
    const struct rlock_lock lock = {.busy = {.resource = &x, .holder = holder}};
    static const struct {
        int64_t at_ms;
        const char *waited; /* NULL: nothing is said */
    } rows[] = {{0, ""},       {1, NULL},         {29999, NULL},   {30000, "30s "},
                {31000, NULL}, {62500, "1m2s "}, /* late: a machine that was busy */
                {89999, NULL}, {90000, "1m30s "}, {3600000, "1h "}};
    const int64_t began_ms = now_ms;
    struct progress progress;
    progress_begin(&progress, "x", &run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128] = "";
        now_ms = began_ms + rows[i].at_ms;
        if (rows[i].waited != NULL)
            (void)snprintf(text, sizeof text, "rlock: waiting %sfor x: held by others\n",
                           rows[i].waited);
        assert_string_equal(shown(&progress, &lock), text);
        assert_true(progress.next_ms > now_ms && progress.next_ms <= now_ms + 30000);
    }
}

/* It may be back in a moment; then it is told every 30 seconds, too. */
static void a_server_that_is_away_is_told_after_10_seconds(void **state) {
    (void)state;
    const struct rlock_lock lock = {.busy.resource = NULL};
    const int64_t began_ms = now_ms;
    struct progress progress;
    progress_begin(&progress, "x", &run);
    for (; now_ms < began_ms + 10000; now_ms += 500)
        assert_string_equal(shown(&progress, &lock), "");
    assert_string_equal(shown(&progress, &lock),
                        "rlock: waiting 10s for x: cannot use unix:///none/sock: \n");
    assert_int_equal(progress.next_ms, began_ms + 30000);
}

static int make_client(void **state) {
    (void)state;
    static const char *const url = "unix:///none/sock";
    const struct rlock_client_options options = {
        .size = sizeof options, .servers = &url, .server_count = 1};
    return rlock_client_new(&client, &options) == RLOCK_OK ? 0 : -1;
}

static int free_client(void **state) {
    (void)state;
    rlock_client_free(client);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_says_what_its_waiters_want_to_know),
        cmocka_unit_test(unknown_holders),
        cmocka_unit_test(a_latch_says_how_much_is_to_go),
        cmocka_unit_test(places_are_ordinals),
        cmocka_unit_test(a_line_at_the_start_and_every_30_seconds),
        cmocka_unit_test(a_server_that_is_away_is_told_after_10_seconds),
    };
    return cmocka_run_group_tests(tests, make_client, free_client);
}
