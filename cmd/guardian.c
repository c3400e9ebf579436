/* guardian.c: ends the command's whole tree in time, whatever has happened to rlock.
 *
 * rlock may be stopped (SIGSTOP, a debugger, Ctrl-Z) or killed; a thread of it would be, too. So
 * the command is this process's child: this process adopts the tree's orphans, keeps the deadline
 * on a timer of its own in a session of its own, and learns from the socket's end of file when
 * rlock dies. It asks for no memory once the command runs, and holds none of the caller's
 * descriptors beyond the standard three. */
#include "guardian.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boottime.h"
#include "tree.h"

enum phase {
    RUNNING,  /* the lease is sure */
    STOPPING, /* SIGTERM is out; SIGKILL follows */
    ENDED,
};

struct guardian {
    const struct guardian_plan *plan;
    enum phase phase;
    pid_t child;  /* 0: it has been reaped */
    int child_fd; /* signalfd for SIGCHLD */
    int timer_fd;
    int64_t kill_at_ms; /* STOPPING */
    struct report report;
};

static void set_timer(const struct guardian *guardian, int64_t at_ms) {
    if (at_ms < 1)
        at_ms = 1; /* zero would disarm it */
    const struct itimerspec when = {.it_value = {at_ms / 1000, at_ms % 1000 * 1000000}};
    (void)timerfd_settime(guardian->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static int64_t lease_end_ms(const struct guardian *guardian) {
    return __atomic_load_n(&guardian->plan->shared->lease_end_ms, __ATOMIC_ACQUIRE);
}

static int64_t last_kill_ms(const struct guardian *guardian) {
    return lease_end_ms(guardian) - guardian->plan->margin_ms;
}

static int64_t stop_at_ms(const struct guardian *guardian) {
    return last_kill_ms(guardian) - guardian->plan->kill_after_ms;
}

/* In the child, which may share our memory until exec: touch nothing but exec_error. */
_Noreturn static void become_command(const struct guardian_plan *plan, pid_t guardian) {
    /* Should this guardian be killed, the command goes with it. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != guardian)
        _exit(128 + SIGKILL);
    if (plan->caller_ignored_child)
        (void)signal(SIGCHLD, SIG_IGN);
    (void)sigprocmask(SIG_SETMASK, plan->caller_mask, NULL);
    (void)execvp(plan->argv[0], plan->argv);
    plan->shared->exec_error = errno;
    _exit(127);
}

/* Starts the command by vfork(2), which copies no page tables; posix_spawn(3) can't set the death
 * signal. False: the report says why. */
static bool start_command(struct guardian *guardian) {
    const pid_t self = getpid();
    const pid_t child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
    if (child == 0)
        become_command(guardian->plan, self); /* NOLINT(clang-analyzer-unix.Vfork) */
    if (child < 0)
        guardian->report = (struct report){.verb = REPORT_NO_FORK, .status = errno};
    else
        guardian->child = child;
    return child > 0;
}

/* The command is in rlock's session, group and terminal by now; we leave them, so that what stops
 * or ends the whole job does not reach us. The caller's descriptors are the command's alone. */
static bool settle(struct guardian *guardian) {
    const unsigned socket = (unsigned)guardian->plan->socket;
    sigset_t child;
    (void)setsid();
    if (socket > 3)
        (void)close_range(3, socket - 1, 0);
    (void)close_range(socket + 1, ~0U, 0);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    guardian->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    guardian->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (!guardian->plan->warn_only && lease_end_ms(guardian) != INT64_MAX)
        set_timer(guardian, stop_at_ms(guardian));
    return guardian->child_fd >= 0 && guardian->timer_fd >= 0;
}

static void reap(struct guardian *guardian) {
    bool ended = false;
    const bool none_left = tree_reap(guardian->child, &guardian->report.status, &ended);
    if (ended) {
        guardian->report.at_ms = boottime_ms();
        guardian->child = 0; /* its number may be someone else's now */
    }
    /* A stopped tree counts as ended when all of it has; else the command alone decides: what it
     * left in the background is left alone. */
    if (guardian->phase == RUNNING ? ended : none_left)
        guardian->phase = ENDED;
}

static void begin_stopping(struct guardian *guardian) {
    const int64_t now = boottime_ms();
    guardian->phase = STOPPING;
    guardian->report.stopped = true;
    guardian->kill_at_ms = now + guardian->plan->kill_after_ms;
    if (last_kill_ms(guardian) < guardian->kill_at_ms)
        guardian->kill_at_ms = last_kill_ms(guardian);
    (void)tree_signal(SIGTERM);
    (void)tree_signal(SIGCONT); /* a stopped process could not act on it */
    set_timer(guardian, guardian->kill_at_ms);
}

static void kill_all(struct guardian *guardian) {
    bool ended = false;
    const int64_t deadline = boottime_ms() + 1000;
    guardian->report.stopped = true;
    guardian->report.left = !tree_kill(guardian->child, &guardian->report.status, &ended, deadline);
    if (ended)
        guardian->report.at_ms = boottime_ms();
    guardian->phase = ENDED;
}

/* The timer is set to the lease end that was known then; renewals have moved it since. */
static void on_time(struct guardian *guardian) {
    const int64_t now = boottime_ms();
    uint64_t count;
    (void)!read(guardian->timer_fd, &count, sizeof count);
    if (guardian->phase == RUNNING && now < stop_at_ms(guardian))
        set_timer(guardian, stop_at_ms(guardian));
    else if (guardian->phase == RUNNING)
        begin_stopping(guardian);
    if (guardian->phase == STOPPING && boottime_ms() >= guardian->kill_at_ms)
        kill_all(guardian);
}

static void on_order(struct guardian *guardian) {
    struct order order;
    const ssize_t n = recv(guardian->plan->socket, &order, sizeof order, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n != (ssize_t)sizeof order) {
        kill_all(guardian); /* rlock is dead: nobody renews, at once */
        return;
    }
    switch (order.verb) {
    case ORDER_SIGNAL:
        if (guardian->child > 0)
            (void)kill(guardian->child, order.signal);
        break;
    case ORDER_STOP:
        if (guardian->phase == RUNNING)
            begin_stopping(guardian);
        break;
    case ORDER_START:
    case ORDER_READ: break;
    }
}

/* Waits for one order. False: rlock is gone. */
static bool await_order(const struct guardian_plan *plan, enum order_verb verb) {
    struct order order;
    ssize_t n;
    do
        n = recv(plan->socket, &order, sizeof order, 0);
    while ((n < 0 && errno == EINTR) || (n == (ssize_t)sizeof order && order.verb != verb));
    return n == (ssize_t)sizeof order;
}

/* Reports, and waits for the word that it has been read. Without that word rlock has died together
 * with the command (SIGKILL of the whole group): then what the command left is not left alone. */
static void report(struct guardian *guardian) {
    const struct guardian_plan *plan = guardian->plan;
    if (plan->shared->exec_error != 0)
        guardian->report =
            (struct report){.verb = REPORT_NO_EXEC, .status = plan->shared->exec_error};
    (void)send(plan->socket, &guardian->report, sizeof guardian->report, MSG_NOSIGNAL);
    if (!await_order(plan, ORDER_READ))
        kill_all(guardian);
}

/* putenv(3) keeps the texts where they are; one without '=' takes the variable away. */
static void set_environment(char *text) {
    for (; *text != '\0'; text += strlen(text) + 1)
        (void)putenv(text);
}

static void watch(struct guardian *guardian) {
    struct pollfd fds[] = {
        {.fd = guardian->timer_fd, .events = POLLIN},
        {.fd = guardian->child_fd, .events = POLLIN},
        {.fd = guardian->plan->socket, .events = POLLIN},
    };
    while (guardian->phase != ENDED) {
        if (poll(fds, sizeof fds / sizeof fds[0], -1) < 0)
            continue;
        /* The end first: a command that has ended by itself needs no stopping. */
        if (fds[1].revents != 0) {
            struct signalfd_siginfo info;
            while (read(guardian->child_fd, &info, sizeof info) > 0)
                continue;
            reap(guardian);
        }
        if (guardian->phase != ENDED && fds[0].revents != 0)
            on_time(guardian);
        if (guardian->phase != ENDED && fds[2].revents != 0)
            on_order(guardian);
    }
}

_Noreturn void guardian_main(const struct guardian_plan *plan) {
    struct guardian guardian = {.plan = plan, .report = {.verb = REPORT_ENDED}};
    sigset_t all;
    sigfillset(&all);
    (void)prctl(PR_SET_NAME, "rlock-guardian", 0, 0, 0);
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, it would take the exit status away */
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    tree_adopt_orphans();
    if (!await_order(plan, ORDER_START))
        _exit(0);
    set_environment(plan->shared->environment);
    if (!plan->warn_only && boottime_ms() >= stop_at_ms(&guardian)) {
        /* rlock was stopped between the grant and the gate: nothing may start on that lease. */
        guardian.report.stopped = true;
        guardian.report.at_ms = boottime_ms();
    } else if (start_command(&guardian)) {
        if (settle(&guardian))
            watch(&guardian);
        else
            kill_all(&guardian);
    }
    report(&guardian);
    _exit(0);
}
