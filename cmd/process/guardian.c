/* guardian.c: ends the command's whole tree in time, whatever has happened to rlock.
 *
 * rlock may be stopped (SIGSTOP, a debugger, Ctrl-Z) or killed; a thread of it would be, too. So
 * the command is this process's child: this process adopts the tree's orphans, keeps the deadline
 * on a timer of its own in a session of its own, and learns from the socket's end of file when
 * rlock dies. It asks for no memory once the command runs, and holds none of the caller's
 * descriptors beyond the standard three. */
#include "process/guardian.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "process/deadline.h"
#include "process/launch.h"
#include "process/self.h"
#include "process/supervise.h"

/* What takes time, or may be refused, before the gate. Returns 0, or an errno. */
static int get_ready(struct guardian *guardian) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    guardian->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    guardian->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (guardian->child_fd < 0 || guardian->timer_fd < 0)
        return errno;
    return 0;
}

/* It takes as long as exec(3) does, and so does our noticing that rlock is dead. We must not die
 * with it meanwhile: the command may have children by then. False: errno says why. */
static bool start_command(struct guardian *guardian) {
    guardian->started_ms = boottime_ms();
    guardian->descendants.child =
        launch(guardian->plan, plan_deadline(guardian->plan, guardian->started_ms).kill_ms);
    return guardian->descendants.child > 0;
}

/* The caller's descriptors are the command's alone, and so is its priority. So are its words:
 * pkill -f "rlock run" is not to hit both rlock and us. */
static void let_go(const struct guardian *guardian) {
    const int kept[] = {guardian->plan->socket, guardian->child_fd, guardian->timer_fd};
    self_close_others(kept, sizeof kept / sizeof kept[0]);
    self_set_title("lock-guardian");
    self_raise_priority();
}

/* Waits until rlock has opened the gate. False: it never will. */
static bool await_start(const struct plan *plan) {
    struct order order = {.verb = ORDER_KEYS};
    bool gone = false;
    while (!gone && (!order_take(plan->socket, true, &order, &gone) || order.verb != ORDER_START))
        continue;
    return !gone;
}

/* Reports, and waits for SIGKILL, by which rlock says that it has read the report. If rlock dies
 * instead, together with the command (SIGKILL of the whole group), what the command left is not
 * left alone. */
static void report(struct guardian *guardian) {
    static const struct timespec moment = {0, 10000000};
    const struct plan *plan = guardian->plan;
    struct order order;
    bool gone = false;
    guardian->report.status = guardian->report.verb == REPORT_ENDED ? guardian->descendants.status
                                                                    : guardian->report.status;
    if (plan->shared->exec_error != 0)
        guardian->report =
            (struct report){.verb = REPORT_NO_EXEC, .status = plan->shared->exec_error};
    while (send(plan->socket, &guardian->report, sizeof guardian->report, MSG_NOSIGNAL) < 0 &&
           (errno == ENOBUFS || errno == ENOMEM))
        (void)nanosleep(&moment, NULL);
    witness_end(&guardian->witness);
    while (!gone)
        (void)order_take(plan->socket, true, &order, &gone);
    supervise_kill_all(guardian);
}

_Noreturn void guardian_main(const struct plan *plan) {
    struct guardian guardian = {
        .plan = plan,
        .started_ms = INT64_MAX,
        .report = {.verb = REPORT_ENDED},
        .witness = {.orders = -1},
    };
    sigset_t all;
    sigfillset(&all);
    /* A kill by name (pkill rlock) is not to hit both of us. */
    (void)prctl(PR_SET_NAME, "lock-guardian", 0, 0, 0);
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, it would take the exit status away */
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    descendants_adopt_orphans();
    const int why_not = get_ready(&guardian);
    if (!await_start(plan))
        _exit(0);
    if (boottime_ms() >= plan_deadline(plan, INT64_MAX).stop_ms) {
        /* rlock was stopped between the grant and the gate: nothing may start on that lease. */
        guardian.report.cause = END_FOR_LEASE;
        guardian.report.at_ms = boottime_ms();
    } else if (why_not != 0) {
        guardian.report = (struct report){.verb = REPORT_NO_START, .status = why_not};
    } else if (!start_command(&guardian)) {
        guardian.report = (struct report){.verb = REPORT_NO_START, .status = errno};
    } else {
        let_go(&guardian);
        supervise(&guardian);
    }
    report(&guardian);
    _exit(0);
}
