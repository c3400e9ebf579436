/* test_progress.c: what is said while waiting, for each kind of lock. */
#include "support/locked.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "hold/acquired.h"
#include "output/out.h"

static const struct kind run = {.name = "run", .detail = DETAIL_NONE},
                         fair = {.name = "fair", .detail = DETAIL_PLACE},
                         reader = {.name = "read", .detail = DETAIL_KIND},
                         latch = {.name = "latch", .detail = DETAIL_COUNT};

static int64_t now_ms = 1000000;
static struct locked on = {.timeout_ms = 1}; /* a server that was never spoken to */
static const char *names[] = {"x"};
static const struct settings settings = {.names = names, .name_count = 1};

/* A wait that begins now. */
static struct acquired wait_for(const struct kind *kind, const rlock_lock *lock) {
    return (struct acquired){
        .settings = &settings,
        .kind = kind,
        .server.client = on.client,
        .lock = (rlock_lock *)lock,
        .asked_ms = now_ms,
    };
}

int __wrap_clock_gettime(clockid_t id, struct timespec *out) {
    (void)id;
    *out = (struct timespec){now_ms / 1000, now_ms % 1000 * 1000000};
    return 0;
}

/* What is written when a line gets the chance to speak. */
static const char *shown(struct acquired *wait) {
    static char text[4096];
    FILE *caught = tmpfile();
    const int real_stderr = dup(STDERR_FILENO);
    assert_non_null(caught);
    assert_int_equal(dup2(fileno(caught), STDERR_FILENO), STDERR_FILENO);
    progress_show(wait);
    assert_int_equal(dup2(real_stderr, STDERR_FILENO), STDERR_FILENO);
    const ssize_t n = pread(fileno(caught), text, sizeof text - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    fclose(caught);
    close(real_stderr);
    return text;
}

/* Who is in the way: alice, or one of whom nothing but the owner is known. */
#define ALICE(said)                                                                                \
    .name = "x", .owner = "u:7@web-01", .host = "web-01", .user = "alice", .pid = 7,               \
    .held_ms = 180000, .command = "./deploy.sh", .note = (said)
#define OWNER(known)                                                                               \
    .name = "x", .owner = (known), .host = "", .user = "", .command = "", .note = ""
#define BY_ALICE ": held by alice@web-01 pid 7 for 3m, ./deploy.sh"

TEST(each_kind_says_what_its_waiters_want_to_know) {
    static const struct {
        const struct kind *kind;
        struct rlock_holder holder;
        const char *said;
    } rows[] = {
        {&run, {ALICE(""), .position = 2, .waiting = 4}, BY_ALICE},
        {&run,
         {ALICE("https://ci/7"), .position = 2, .waiting = 4},
         ": held by alice@web-01 pid 7 for 3m (https://ci/7), ./deploy.sh"},
        {&reader, {ALICE(""), .position = 2, .waiting = 4}, " (read)" BY_ALICE},
        {&fair, {ALICE(""), .position = 2, .waiting = 4}, " (fair, 2nd of 4)" BY_ALICE},
        {&fair, {ALICE(""), .position = 0, .waiting = 4}, " (fair)" BY_ALICE},
        {&fair, {ALICE(""), .position = 1, .waiting = 4}, " (fair, 1st of 4)" BY_ALICE},
        {&fair, {ALICE(""), .position = 3, .waiting = 4}, " (fair, 3rd of 4)" BY_ALICE},
        {&fair, {ALICE(""), .position = 4, .waiting = 4}, " (fair, 4th of 4)" BY_ALICE},
        {&fair, {ALICE(""), .position = 11, .waiting = 200}, " (fair, 11th of 200)" BY_ALICE},
        {&fair, {ALICE(""), .position = 13, .waiting = 200}, " (fair, 13th of 200)" BY_ALICE},
        {&fair, {ALICE(""), .position = 21, .waiting = 200}, " (fair, 21st of 200)" BY_ALICE},
        {&fair, {ALICE(""), .position = 111, .waiting = 200}, " (fair, 111th of 200)" BY_ALICE},
        {&reader, {OWNER("u:1")}, " (read): held by u:1"},
        {&reader, {OWNER("")}, " (read): held by others"},
        {&run, {OWNER("")}, ": held by others"},
        {&latch, {OWNER(""), .waiting = 3}, " (latch, 3 to go)"},
        {&latch, {OWNER("")}, " (latch, not set yet)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[128];
        struct rlock__resource x;
        struct rlock_lock lock = {.busy = {.resource = &x, .holder = rows[i].holder}};
        struct acquired wait = wait_for(rows[i].kind, &lock);
        lock.busy.holder.as_of_ms = rlock_now_ms();
        (void)snprintf(expected, sizeof expected, "rlock: waiting for x%s\n", rows[i].said);
        assert_string_equal(shown(&wait), expected);
    }
}

/* Here, without a terminal. */
TEST(a_line_at_the_start_and_every_30_seconds) {
    struct rlock__resource x;
    const struct rlock_lock lock = {.busy = {.resource = &x, .holder = {OWNER("")}}};
    static const struct {
        int64_t at_ms;
        const char *waited; /* NULL: nothing is said */
    } rows[] = {{0, ""},       {1, NULL},         {29999, NULL},   {30000, "30s "},
                {31000, NULL}, {62500, "1m2s "}, /* late: a machine that was busy */
                {89999, NULL}, {90000, "1m30s "}, {3600000, "1h "}};
    const int64_t began_ms = now_ms;
    struct acquired wait = wait_for(&run, &lock);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128] = "";
        now_ms = began_ms + rows[i].at_ms;
        if (rows[i].waited != NULL)
            (void)snprintf(text, sizeof text, "rlock: waiting %sfor x: held by others\n",
                           rows[i].waited);
        assert_string_equal(shown(&wait), text);
        assert_true(wait.speak_ms > now_ms && wait.speak_ms <= now_ms + 30000);
    }
}

/* It may be back in a moment; then it is told every 30 seconds, too. */
TEST(a_server_that_is_away_is_told_after_10_seconds) {
    const struct rlock_lock lock = {.busy.resource = NULL};
    const int64_t began_ms = now_ms;
    struct acquired wait = wait_for(&run, &lock);
    for (; now_ms < began_ms + 10000; now_ms += 500)
        assert_string_equal(shown(&wait), "");
    assert_string_equal(shown(&wait),
                        "rlock: waiting 10s for x: cannot use unix:///tmp/rlock-there-is-none: \n");
    assert_int_equal(wait.speak_ms, began_ms + 30000);
}

void before_all(void) {
    begin(&on, 1, SCRIPTS(NULL));
}

void after_all(void) {
    end(&on);
}
