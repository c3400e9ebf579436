/* test_descendants.c: no descendant escapes, whatever session, group or parent it has chosen. */
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/deadline.h"
#include "process/descendants.h"

/* Where descendants write their pids, so that we know of them without the code that is tested. */
static int pids_in, pids_out;

static void tell_pid(void) {
    const pid_t pid = getpid();
    (void)!write(pids_in, &pid, sizeof pid);
}

enum { LIFE_S = 120 }; /* of one that a test has failed to end */

_Noreturn static void live(void) {
    (void)alarm(LIFE_S);
    tell_pid();
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

/* A dead child of ours is there until it is reaped, and dies a moment after it was killed. */
static bool is_alive(pid_t pid) {
    const struct timespec moment = {0, 20000000};
    char path[32], stat[64] = "";
    (void)nanosleep(&moment, NULL);
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return false;
    assert_non_null(fgets(stat, sizeof stat, stream));
    fclose(stream);
    return strstr(stat, ") Z ") == NULL;
}

static void assert_all_gone(const pid_t *pids, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!is_gone(pids[i]))
            fail_msg("process %zu of %zu is still there", i, count);
    }
}

/* False: it still is not so after 20 s. */
static bool becomes(bool (*so)(struct descendants *), struct descendants *descendants) {
    const int64_t end_ms = boottime_ms() + 20000;
    while (!so(descendants)) {
        const struct timespec moment = {0, 1000000};
        if (boottime_ms() >= end_ms)
            return false;
        (void)nanosleep(&moment, NULL);
    }
    return true;
}

/* Reaps until no child is left. */
static bool reap_all(struct descendants *descendants) {
    return becomes(descendants_reap, descendants);
}

/* A child that was not to be waited for is listed for a moment after waitid() has none any more. */
static bool none_listed(struct descendants *unused) {
    (void)unused;
    return descendants_note_strangers(NULL, 0) == 0;
}

/* --- ways to get away ------------------------------------------------------------------------- */

static void *fork_from_thread(void *arg) {
    (void)arg;
    if (fork_child() == 0)
        live();
    for (;;) /* a thread that ends hands its children to the main thread */
        pause();
}

static void plain(void) {
    live();
}

static void own_session(void) {
    (void)setsid();
    live();
}

static void own_group(void) {
    (void)setpgid(0, 0);
    live();
}

/* It tells its pid once it has been adopted: a walk may miss one that changes its parent. */
static void daemon_twice_forked(void) {
    const struct timespec moment = {0, 1000000};
    (void)setsid();
    if (fork_child() != 0)
        _exit(0);
    (void)setsid();
    const pid_t parent = getpid();
    if (fork_child() != 0)
        _exit(0);
    while (getppid() == parent)
        (void)nanosleep(&moment, NULL);
    live();
}

static void grandchildren(void) {
    if (fork_child() == 0) {
        if (fork_child() == 0)
            live();
        live();
    }
    live();
}

static void child_of_a_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, fork_from_thread, NULL) != 0)
        abort();
    live();
}

static void stopped(void) {
    tell_pid();
    (void)raise(SIGSTOP);
    _exit(0);
}

static void deaf_to_sigterm(void) {
    (void)signal(SIGTERM, SIG_IGN);
    live();
}

static const struct {
    void (*flee)(void);
    size_t processes; /* that tell their pids */
    bool ends_by_sigterm;
} ways[] = {
    {plain, 1, true},         {own_session, 1, true},
    {own_group, 1, true},     {daemon_twice_forked, 1, true},
    {grandchildren, 3, true}, {child_of_a_thread, 2, true},
    {stopped, 1, false},      {deaf_to_sigterm, 1, false},
};

/* --- tests ------------------------------------------------------------------------------------ */

TEST(one_signal_reaches_all) {
    pid_t pids[COUNT(ways) * 3];
    size_t count = 0;
    struct descendants descendants = {.child = 0};
    for (size_t i = 0; i < COUNT(ways); i++) {
        if (!ways[i].ends_by_sigterm)
            continue;
        if (fork_child() == 0)
            ways[i].flee();
        read_pids(pids + count, ways[i].processes);
        count += ways[i].processes;
    }
    assert_int_equal(descendants_signal(&descendants, SIGTERM), 0);
    assert_true(reap_all(&descendants));
    assert_all_gone(pids, count);
    assert_false(descendants.child_ended);
}

TEST(killing_leaves_none) {
    for (size_t i = 0; i < COUNT(ways); i++) {
        pid_t pids[3];
        struct descendants descendants = {.child = 0};
        if (fork_child() == 0)
            ways[i].flee();
        read_pids(pids, ways[i].processes);
        assert_true(descendants_kill(&descendants, boottime_ms() + 20000));
        assert_all_gone(pids, ways[i].processes);
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
    assert_int_equal(descendants_signal(&descendants, SIGTERM), 0);
    assert_true(reap_all(&descendants));
    assert_all_gone(pids, MANY);
}

/* What is no descendant is not touched: not us, not our parent, not its other children. */
TEST(others_are_left_alone) {
    pid_t sibling, guardian, child;
    int status = 0;
    sibling = fork_child();
    if (sibling == 0)
        live();
    read_pids(&sibling, 1);
    guardian = fork_child();
    if (guardian == 0) {
        struct descendants descendants = {.child = 0};
        descendants_adopt_orphans();
        if (fork_child() == 0)
            daemon_twice_forked();
        read_pids(&child, 1); /* before that there is nothing to find */
        (void)!write(pids_in, &child, sizeof child);
        (void)descendants_signal(&descendants, SIGTERM);
        _exit(reap_all(&descendants) ? 17 : 1);
    }
    assert_int_equal(waitpid(guardian, &status, 0), guardian);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 17);
    read_pids(&child, 1);
    assert_true(is_gone(child));
    assert_true(is_alive(sibling));
    assert_int_equal(kill(sibling, SIGKILL), 0);
    assert_int_equal(waitpid(sibling, NULL, 0), sibling);
}

/* Children from before are not the tree's, nor is what is below them; they are no reason to think
 * that somebody was not found. */
TEST(strangers_are_left_alone) {
    pid_t strangers[2], grandchild, pids[3];
    strangers[0] = fork_child();
    if (strangers[0] == 0) {
        if (fork_child() == 0)
            live();
        for (;;)
            pause();
    }
    read_pids(&grandchild, 1);
    strangers[1] = fork_child();
    if (strangers[1] == 0)
        live();
    read_pids(&strangers[1], 1);
    struct stranger known[2];
    assert_int_equal(descendants_note_strangers(known, 2), 2);
    struct descendants descendants = {.child = 0, .strangers = known, .stranger_count = 2};
    if (fork_child() == 0)
        grandchildren();
    read_pids(pids, 3);
    assert_true(descendants_kill(&descendants, boottime_ms() + 20000));
    assert_all_gone(pids, 3);
    assert_true(is_alive(strangers[0]));
    assert_true(is_alive(strangers[1]));
    assert_true(is_alive(grandchild));
    known[0].started--; /* their numbers are others' by now */
    known[1].started--;
    assert_true(descendants_kill(&descendants, boottime_ms() + 20000));
    assert_true(is_gone(grandchild));
    assert_true(becomes(none_listed, NULL));
}

void before_all(void) {
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pids_out = fds[0];
    pids_in = fds[1];
    descendants_adopt_orphans();
}
