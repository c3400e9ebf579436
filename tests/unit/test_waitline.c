/* test_waitline.c: what is said while waiting, for each kind of lock. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lock.h"
#include "out.h"
#include "waitline.h"

static const struct wrap_kind run = {.name = "run", .detail = DETAIL_NONE},
                              fair = {.name = "fair", .detail = DETAIL_PLACE},
                              reader = {.name = "read", .detail = DETAIL_KIND},
                              latch = {.name = "latch", .detail = DETAIL_COUNT};

/* What a line of that kind says of a lock whose last try was busy. */
static const char *said(const struct wrap_kind *kind, const struct rlock_holder *holder) {
    static char text[4096];
    struct rlock_lock lock = {.last_was_busy = true, .blocker = *holder};
    struct waitline line;
    FILE *caught = tmpfile();
    const int real_stderr = dup(STDERR_FILENO);
    assert_non_null(caught);
    assert_int_equal(dup2(fileno(caught), STDERR_FILENO), STDERR_FILENO);
    waitline_begin(&line, holder->name, kind);
    waitline_show(&line, NULL, &lock);
    assert_int_equal(dup2(real_stderr, STDERR_FILENO), STDERR_FILENO);
    const ssize_t n = pread(fileno(caught), text, sizeof text - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    fclose(caught);
    close(real_stderr);
    return text;
}

static void assert_says(const struct wrap_kind *kind, const struct rlock_holder *holder,
                        const char *text) {
    char expected[512];
    (void)snprintf(expected, sizeof expected, "rlock: waiting 0s for x%s\n", text);
    assert_string_equal(said(kind, holder), expected);
}

static struct rlock_holder alice(int64_t position, int64_t waiting) {
    return (struct rlock_holder){
        .name = "x",
        .owner = "u:7@web-01",
        .host = "web-01",
        .user = "alice",
        .command = "./deploy.sh",
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
    const struct rlock_holder no_place = alice(0, 4);
    assert_says(&fair, &no_place, " (fair)" BY_ALICE);
}

static void unknown_holders(void **state) {
    (void)state;
    struct rlock_holder holder = {
        .name = "x", .owner = "u:1", .host = "", .user = "", .command = ""};
    assert_says(&reader, &holder, " (read): held by u:1");
    holder.owner = "";
    assert_says(&reader, &holder, " (read): held by others");
    assert_says(&run, &holder, ": held by others");
}

static void a_latch_says_how_much_is_to_go(void **state) {
    (void)state;
    struct rlock_holder holder = {
        .name = "x", .owner = "", .host = "", .user = "", .command = "", .waiting = 3};
    char why[64];
    assert_says(&latch, &holder, " (latch, 3 to go)");
    waitline_why(why, sizeof why, &latch, &holder);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_says_what_its_waiters_want_to_know),
        cmocka_unit_test(unknown_holders),
        cmocka_unit_test(a_latch_says_how_much_is_to_go),
        cmocka_unit_test(places_are_ordinals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
