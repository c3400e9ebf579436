/* test_descendants.c: no descendant is missed by the walk. Who leaves by session, group or parent
 * is tests/cli/promise/tree.bats's. */
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "process/deadline.h"
#include "process/descendants.h"

/* Where descendants write their pids, so that we know of them without the code that is tested. */
static int pids_in, pids_out;

enum { LIFE_S = 120 }; /* of one that a test has failed to end */

_Noreturn static void live(void) {
    const pid_t pid = getpid();
    (void)alarm(LIFE_S);
    (void)!write(pids_in, &pid, sizeof pid);
    for (;;)
        pause();
}

static pid_t fork_child(void) {
    const pid_t pid = fork();
    if (pid < 0)
        abort();
    return pid;
}

static void read_pids(pid_t *pids, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_int_equal(read(pids_out, &pids[i], sizeof pids[i]), sizeof pids[i]);
}

/* Gone, not merely dead. The kernel takes the dead away itself while a tree is killed, and gives
 * their numbers back a moment after they have ceased to be our children. */
static bool is_gone(pid_t pid) {
    const int64_t end_ms = boottime_ms() + 1000;
    while (kill(pid, 0) == 0) {
        if (boottime_ms() > end_ms)
            return false;
    }
    return errno == ESRCH;
}

/* Reaps until no child is left, for 20 s. */
static void assert_all_end(struct descendants *descendants, const pid_t *pids, size_t count) {
    const struct timespec moment = {0, 1000000};
    const int64_t end_ms = boottime_ms() + 20000;
    while (!descendants_reap(descendants)) {
        assert_true(boottime_ms() < end_ms);
        (void)nanosleep(&moment, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_gone(pids[i]))
            fail_msg("process %zu of %zu is still there", i, count);
    }
}

static void *fork_from_thread(void *arg) {
    (void)arg;
    if (fork_child() == 0)
        live();
    for (;;) /* a thread that ends hands its children to the main thread */
        pause();
}

TEST(children_of_a_thread_are_found) {
    for (int by_signal = 0; by_signal <= 1; by_signal++) {
        pid_t pids[2];
        pthread_t thread;
        struct descendants descendants = {.child = 0};
        if (fork_child() == 0) {
            if (pthread_create(&thread, NULL, fork_from_thread, NULL) != 0)
                abort();
            live();
        }
        read_pids(pids, 2);
        if (by_signal)
            descendants_stop(&descendants);
        else
            assert_true(descendants_kill(&descendants, boottime_ms() + 20000));
        assert_all_end(&descendants, pids, 2);
    }
}

/* More children than one read of the kernel's list holds: a number cut in two is none of theirs. */
TEST(many_children_are_found) {
    enum { MANY = 1000 };
    static pid_t pids[MANY];
    struct descendants descendants = {.child = 0};
    for (size_t i = 0; i < MANY; i++) {
        if (fork_child() == 0)
            live();
        read_pids(&pids[i], 1);
    }
    descendants_stop(&descendants);
    assert_all_end(&descendants, pids, MANY);
}

/* A child from before is left alone, tests/cli/promise/proc.bats; its number may be another's by
 * now, which is not. */
TEST(who_has_a_strangers_number_is_none) {
    pid_t pid;
    struct stranger known;
    struct descendants descendants = {.child = 0, .strangers = &known, .stranger_count = 1};
    if (fork_child() == 0)
        live();
    read_pids(&pid, 1);
    assert_int_equal(descendants_note_strangers(&known, 1), 1);
    known.started--;
    assert_true(descendants_kill(&descendants, boottime_ms() + 20000));
    assert_true(is_gone(pid));
}

void before_all(void) {
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pids_out = fds[0];
    pids_in = fds[1];
    descendants_adopt_orphans();
}
