/* test_descendants.c: no descendant escapes, whatever session, group or parent it has chosen. */
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/deadline.h"
#include "process/descendants.h"
#include "process/proc.h"

/* Where descendants write their pids, so that we know of them without the code that is tested. */
static int pids_in, pids_out;

static void tell_pid(void) {
    const pid_t pid = getpid();
    (void)!write(pids_in, &pid, sizeof pid);
}

_Noreturn static void live(void) {
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

static void assert_all_gone(const pid_t *pids, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!is_gone(pids[i]))
            fail_msg("process %zu of %zu is still there", i, count);
    }
}

/* Reaps until no child is left, for 20 s at most. */
static void reap_all(struct descendants *descendants) {
    const int64_t end_ms = boottime_ms() + 20000;
    while (!descendants_reap(descendants)) {
        const struct timespec moment = {0, 1000000};
        assert_true(boottime_ms() < end_ms);
        (void)nanosleep(&moment, NULL);
    }
}

/* --- ways to get away ---------------------------------------------------------------------------
 */

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

static void daemon_twice_forked(void) {
    (void)setsid();
    if (fork_child() != 0)
        _exit(0);
    (void)setsid();
    if (fork_child() != 0)
        _exit(0);
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

/* --- tests --------------------------------------------------------------------------------------
 */

static void one_signal_reaches_all(void **state) {
    (void)state;
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
    reap_all(&descendants);
    assert_all_gone(pids, count);
    assert_false(descendants.child_ended);
}

static void killing_leaves_none(void **state) {
    (void)state;
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

/* Each is gone before it can be found, and has left another: only adoption catches the last. */
static void a_chain_of_forks_is_caught(void **state) {
    (void)state;
    struct descendants descendants = {.child = 0};
    pid_t pid;
    if (fork_child() == 0) {
        tell_pid();
        for (;;) {
            if (fork_child() != 0)
                _exit(0);
            (void)setsid();
        }
    }
    read_pids(&pid, 1);
    assert_true(descendants_kill(&descendants, boottime_ms() + 20000));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* More children than one read of the kernel's list holds: a number cut in two is none of theirs. */
static void many_children_are_found(void **state) {
    (void)state;
    enum { MANY = 1500 };
    static pid_t pids[MANY];
    struct descendants descendants = {.child = 0};
    for (size_t i = 0; i < MANY; i++) {
        if (fork_child() == 0)
            live();
        read_pids(&pids[i], 1);
    }
    assert_int_equal(descendants_signal(&descendants, SIGTERM), 0);
    reap_all(&descendants);
    assert_all_gone(pids, MANY);
}

/* What is no descendant is not touched: not us, not our parent, not its other children. */
static void others_are_left_alone(void **state) {
    (void)state;
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
        reap_all(&descendants);
        _exit(17);
    }
    assert_int_equal(waitpid(guardian, &status, 0), guardian);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 17);
    read_pids(&child, 1);
    assert_true(is_gone(child));
    assert_false(is_gone(sibling));
    assert_int_equal(kill(sibling, SIGKILL), 0);
    assert_int_equal(waitpid(sibling, NULL, 0), sibling);
}

/* Children from before are not the tree's, nor is what is below them; they are no reason to think
 * that somebody was not found. */
static void strangers_are_left_alone(void **state) {
    (void)state;
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
    assert_false(is_gone(strangers[0]));
    assert_false(is_gone(strangers[1]));
    assert_false(is_gone(grandchild));
    known[0].started--; /* their numbers are others' by now */
    known[1].started--;
    assert_true(descendants_kill(&descendants, boottime_ms() + 20000));
    assert_true(is_gone(grandchild));
    assert_int_equal(descendants_note_strangers(NULL, 0), 0);
}

static void the_childs_status_is_told(void **state) {
    (void)state;
    const pid_t other = fork_child();
    if (other == 0)
        _exit(3);
    struct descendants descendants = {.child = fork_child()};
    if (descendants.child == 0)
        _exit(42);
    reap_all(&descendants);
    assert_true(descendants.child_ended);
    assert_int_equal(descendants.child, 0);
    assert_int_equal(WEXITSTATUS(descendants.status), 42);

    descendants = (struct descendants){.child = fork_child()};
    if (descendants.child == 0)
        live();
    read_pids(&(pid_t){0}, 1);
    assert_false(descendants_reap(&descendants));
    assert_false(descendants.child_ended);
    assert_true(descendants_kill(&descendants, boottime_ms() + 20000));
    assert_int_equal(descendants.child, 0);
}

static void await_stopped_by(struct descendants *descendants, int signal) {
    const int64_t end_ms = boottime_ms() + 20000;
    while (descendants->stopped_by != signal) {
        (void)descendants_reap(descendants);
        assert_true(boottime_ms() < end_ms);
    }
}

static void the_childs_stops_are_told(void **state) {
    (void)state;
    struct descendants descendants = {.child = fork_child()};
    if (descendants.child == 0)
        live();
    read_pids(&(pid_t){0}, 1);
    assert_int_equal(kill(descendants.child, SIGSTOP), 0);
    await_stopped_by(&descendants, SIGSTOP);
    assert_int_equal(kill(descendants.child, SIGCONT), 0);
    await_stopped_by(&descendants, 0);
    assert_true(descendants_kill(&descendants, boottime_ms() + 20000));
}

static void a_proc_of_ours_will_do(void **state) {
    (void)state;
    const char *why = NULL;
    assert_true(proc_is_ours(&why));
    assert_null(why);
}

static int set_up(void **state) {
    (void)state;
    int fds[2];
    if (pipe(fds) != 0)
        return -1;
    pids_out = fds[0];
    pids_in = fds[1];
    descendants_adopt_orphans();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_signal_reaches_all),     cmocka_unit_test(killing_leaves_none),
        cmocka_unit_test(a_chain_of_forks_is_caught), cmocka_unit_test(many_children_are_found),
        cmocka_unit_test(others_are_left_alone),      cmocka_unit_test(strangers_are_left_alone),
        cmocka_unit_test(the_childs_status_is_told),  cmocka_unit_test(the_childs_stops_are_told),
        cmocka_unit_test(a_proc_of_ours_will_do),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
