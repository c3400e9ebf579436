/* guardian.c: ends the command's whole tree in time, whatever has happened to rlock.
 *
 * rlock may be stopped (SIGSTOP, a debugger, Ctrl-Z) or killed; a thread of it would be, too. So
 * the command is this process's child: this process adopts the tree's orphans, keeps the deadline
 * on a timer of its own in a session of its own, and learns from the socket's end of file when
 * rlock dies. It asks for no memory once the command runs, and holds none of the caller's
 * descriptors beyond the standard three. */
#include "process/guardian.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "process/deadline.h"
#include "process/self.h"

/* --- the command is started ------------------------------------------------------------------ */

/* Refused where no signal may be queued (RLIMIT_SIGPENDING). */
static bool make_timer(timer_t *timer) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    return timer_create(CLOCK_BOOTTIME, &event, timer) == 0;
}

static bool can_make_timer(void) {
    timer_t timer;
    return make_timer(&timer) && timer_delete(timer) == 0;
}

/* exec(3) from a slow disk takes time, in which the guardian, after vfork(2), sees no deadline. The
 * timer is gone after exec(3). */
static void limit_exec(int64_t kill_at_ms) {
    const struct itimerspec when = {
        .it_value = {kill_at_ms / 1000, (long)(kill_at_ms % 1000) * 1000000}};
    timer_t timer;
    if (kill_at_ms != INT64_MAX && make_timer(&timer))
        (void)timer_settime(timer, TIMER_ABSTIME, &when, NULL);
}

/* Whether one of the texts, "NAME=value" or "NAME", is about this variable. */
static bool is_replaced(const char *texts, const char *variable) {
    const size_t length = (size_t)(strchrnul(variable, '=') - variable);
    for (; *texts != '\0'; texts += strlen(texts) + 1) {
        if (strncmp(texts, variable, length) == 0 &&
            (texts[length] == '=' || texts[length] == '\0'))
            return true;
    }
    return false;
}

/* The variables stay where they are. Not by putenv(3): that asks for memory. */
static void fill_environment(char **to, char *texts) {
    for (char **variable = environ; *variable != NULL; variable++) {
        if (!is_replaced(texts, *variable))
            *to++ = *variable;
    }
    for (size_t i = 0; i < TEXTS_MAX && *texts != '\0'; i++, texts += strlen(texts) + 1) {
        if (strchr(texts, '=') != NULL)
            *to++ = texts;
    }
    *to = NULL;
}

/* In the child, which may share our memory until exec: touch nothing but what is for it. */
_Noreturn static void become_command(const struct plan *plan, pid_t parent, int64_t kill_at_ms) {
    /* If the guardian is killed, the command dies with it. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(128 + SIGKILL);
    plan->shared->missed = witness_missed(parent);
    limit_exec(kill_at_ms);
    if (plan->caller_ignored_child)
        (void)signal(SIGCHLD, SIG_IGN);
    (void)sigprocmask(SIG_SETMASK, plan->caller_mask, NULL);
    (void)execvpe(plan->argv[0], plan->argv, plan->environment);
    plan->shared->exec_error = errno;
    _exit(127);
}

/* vfork(2) copies no page tables, but returns only when the child has become the command, which
 * takes as long as exec(3) does. Meanwhile we see neither a deadline, for which the child has a
 * timer, nor rlock's death; we must not die with rlock then, for the command may have children by
 * now. posix_spawn(3) can't set the death signal. False: errno says why. */
static bool start_command(struct guardian *guardian) {
    const struct plan *plan = guardian->plan;
    const pid_t self = getpid();
    guardian->started_ms = boottime_ms();
    const int64_t kill_at_ms = plan_deadline(plan, guardian->started_ms).kill_ms;
    fill_environment(plan->environment, plan->shared->environment);
    pid_t child;
    if (can_make_timer())
        child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
    else
        child = fork();
    if (child == 0)
        become_command(plan, self, kill_at_ms); /* NOLINT(clang-analyzer-unix.Vfork) */
    guardian->descendants.child = child;
    return child > 0;
}

/* --- the guardian's life --------------------------------------------------------------------- */

/* All that takes time, or that the system may refuse, before the start. Returns 0, or an errno. */
static int prepare(struct guardian *guardian) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    guardian->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    guardian->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (guardian->child_fd < 0 || guardian->timer_fd < 0)
        return errno;
    return 0;
}

/* Only the command has the caller's descriptors and priority. Nor do we keep rlock's title:
 * pkill -f "rlock run" must not hit both rlock and us. */
static void detach(const struct guardian *guardian) {
    const int kept[] = {guardian->plan->socket, guardian->child_fd, guardian->timer_fd};
    self_close_others(kept, sizeof kept / sizeof kept[0]);
    self_set_title("lock-guardian");
    self_raise_priority();
}

/* False: rlock is gone, and nothing is to be started. */
static bool await_start(const struct plan *plan) {
    struct order order = {.verb = ORDER_KEYS};
    bool gone = false;
    while (!gone && (!order_take(plan->socket, true, &order, &gone) || order.verb != ORDER_START))
        continue;
    return !gone;
}

/* Reports, and waits for rlock to read that and to kill us. If rlock dies first, the command was
 * killed together with it (SIGKILL of the whole group), and what it has left in the background goes
 * as well. */
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
    guardian->report.witness = guardian->witness.pid;
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
    sigemptyset(&guardian.heard);
    sigfillset(&all);
    /* pkill rlock must not hit both of us. */
    (void)prctl(PR_SET_NAME, "lock-guardian", 0, 0, 0);
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, it would take the exit status away */
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    descendants_adopt_orphans();
    const int why_not = prepare(&guardian);
    if (!await_start(plan))
        _exit(0);
    if (boottime_ms() >= plan_deadline(plan, INT64_MAX).stop_ms) {
        /* rlock was stopped between the grant and the start: too late for that lease. */
        guardian.report.cause = END_FOR_LEASE;
        guardian.report.at_ms = boottime_ms();
    } else if (why_not != 0) {
        guardian.report = (struct report){.verb = REPORT_NO_START, .status = why_not};
    } else if (!start_command(&guardian)) {
        guardian.report = (struct report){.verb = REPORT_NO_START, .status = errno};
    } else {
        detach(&guardian);
        supervise(&guardian);
    }
    report(&guardian);
    _exit(0);
}
