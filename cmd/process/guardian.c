/* guardian.c: ends the command's whole tree in time, whatever has happened to rlock.
 *
 * rlock may be stopped (SIGSTOP, a debugger, Ctrl-Z) or killed; a thread of it would be, too. So
 * the command is this process's child: this process adopts the tree's orphans, keeps the deadline
 * on a timer of its own in a session of its own, and learns from the socket's end of file when
 * rlock dies. It asks for no memory once the command runs, and holds none of the caller's
 * descriptors beyond the standard three. */
#include "process/guardian.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/boottime.h"
#include "process/daemon.h"
#include "process/descendants.h"
#include "process/launch.h"
#include "process/title.h"
#include "process/witness.h"

enum { PATIENCE_MS = 1000, URGENT = -10, LEAVE_AFTER_MS = 5 };

enum phase {
    RUNNING,  /* the lease is sure, and time is left */
    STOPPING, /* SIGTERM is out; SIGKILL follows */
    ENDED,
};

struct guardian {
    const struct guardian_plan *plan;
    enum phase phase;
    struct descendants descendants; /* of the command */
    bool has_left;                  /* the job of rlock and the command */
    pid_t witness;                  /* 0: none */
    int child_fd;                   /* signalfd for SIGCHLD */
    int timer_fd;
    int64_t started_ms; /* the command */
    int64_t kill_at_ms; /* STOPPING */
    struct report report;
};

static struct orders orders_of(const struct guardian_plan *plan) {
    return (struct orders){&plan->shared->orders, plan->socket};
}

static void set_timer(const struct guardian *guardian, int64_t at_ms) {
    if (at_ms < 1)
        at_ms = 1; /* zero would disarm it */
    const struct itimerspec when = {.it_value = {at_ms / 1000, (long)(at_ms % 1000) * 1000000}};
    (void)timerfd_settime(guardian->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static int64_t lease_end_ms(const struct guardian *guardian) {
    return __atomic_load_n(&guardian->plan->shared->lease_end_ms, __ATOMIC_ACQUIRE);
}

static int64_t kill_at_ms(const struct guardian *guardian) {
    return deadline_kill_at(&guardian->plan->deadline, lease_end_ms(guardian));
}

static int64_t stop_at_ms(const struct guardian *guardian) {
    return deadline_stop_at(&guardian->plan->deadline, lease_end_ms(guardian));
}

static int64_t time_up_at_ms(const struct guardian *guardian) {
    return deadline_time_up_at(&guardian->plan->deadline, guardian->started_ms);
}

static int64_t time_kill_at_ms(const struct guardian *guardian) {
    return deadline_time_kill_at(&guardian->plan->deadline, guardian->started_ms);
}

static int64_t sooner(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* When we have to look next, while the command runs. */
static void set_timer_running(const struct guardian *guardian) {
    const int64_t at_ms = sooner(stop_at_ms(guardian), time_up_at_ms(guardian));
    if (at_ms != INT64_MAX)
        set_timer(guardian, at_ms);
}

/* A lost lease is the graver cause. */
static void note_cause(struct guardian *guardian, enum end_cause cause) {
    if (cause > guardian->report.cause)
        guardian->report.cause = cause;
}

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
        launch(guardian->plan, sooner(kill_at_ms(guardian), time_kill_at_ms(guardian)));
    return guardian->descendants.child > 0;
}

/* The caller's descriptors are the command's alone, and so is its priority. So are its words:
 * pkill -f "rlock run" is not to hit both rlock and us. */
static void let_go(const struct guardian *guardian) {
    const int kept[] = {guardian->plan->socket, guardian->child_fd, guardian->timer_fd};
    daemon_close_others(kept, sizeof kept / sizeof kept[0]);
    title_set("lock-guardian");
    /* Where we may, nothing ordinary delays the kill; a nice value counts within a session only. */
    if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &(struct sched_param){1}) != 0)
        (void)setpriority(PRIO_PROCESS, 0, URGENT);
    set_timer_running(guardian);
}

/* The command is in rlock's session, group and terminal; we leave them, so that what stops or ends
 * the whole job does not reach us. A witness can be put there only by one who is still there, and
 * costs more than the rest: a command that is over in a moment does not pay for it. Of one that is
 * being stopped it would be among those that are waited for. */
static void leave_job(struct guardian *guardian) {
    guardian->has_left = true;
    if (guardian->phase == RUNNING)
        guardian->witness = witness_start();
    (void)setsid();
}

static void dismiss_witness(struct guardian *guardian) {
    if (guardian->witness > 0)
        witness_end(guardian->witness);
    guardian->witness = 0;
}

/* --- while it runs --------------------------------------------------------------------------- */

static void continue_rlock(const struct guardian_plan *plan) {
    if (getppid() == plan->rlock)
        (void)kill(plan->rlock, SIGCONT);
}

/* rlock stops and goes on as the command does. It does not matter if it cannot be sent: then it is
 * stopped already. */
static void report_job_control(const struct guardian *guardian, const struct descendants *before) {
    const struct guardian_plan *plan = guardian->plan;
    const struct descendants *now = &guardian->descendants;
    const struct report stopped = {
        .verb = REPORT_STOPPED, .status = now->stopped_by, .stop = now->stops};
    if (now->stopped_by != 0 && now->stops != before->stops)
        (void)send(plan->socket, &stopped, sizeof stopped, MSG_NOSIGNAL | MSG_DONTWAIT);
    else if (now->stopped_by == 0 && before->stopped_by != 0)
        continue_rlock(plan);
}

/* A command that has lived to see its SIGKILL has got it, by limit_exec() if not by us. */
static void note_limit(struct guardian *guardian) {
    const int64_t at_ms = guardian->report.at_ms;
    if (at_ms >= kill_at_ms(guardian))
        note_cause(guardian, END_FOR_LEASE);
    if (at_ms >= time_kill_at_ms(guardian))
        note_cause(guardian, END_FOR_TIME);
    if (WIFSIGNALED(guardian->descendants.status) &&
        WTERMSIG(guardian->descendants.status) == SIGKILL)
        guardian->report.killed = true;
}

static void reap(struct guardian *guardian) {
    const struct descendants before = guardian->descendants;
    const bool none_left = descendants_reap(&guardian->descendants);
    if (before.child > 0 && guardian->descendants.child_ended) {
        guardian->report.at_ms = boottime_ms();
        note_limit(guardian);
    }
    /* A stopped tree counts as ended when all of it has; else the command alone decides: what it
     * left in the background is left alone. */
    if (guardian->phase == RUNNING ? guardian->descendants.child_ended : none_left)
        guardian->phase = ENDED;
    else if (guardian->phase == RUNNING)
        report_job_control(guardian, &before);
}

static void begin_stopping(struct guardian *guardian, enum end_cause cause) {
    const int64_t now = boottime_ms();
    dismiss_witness(guardian); /* who is left then is the command's */
    guardian->phase = STOPPING;
    note_cause(guardian, cause);
    guardian->kill_at_ms =
        sooner(now + guardian->plan->deadline.kill_after_ms, kill_at_ms(guardian));
    (void)descendants_signal(&guardian->descendants, SIGTERM);
    /* A stopped process could not act on it. */
    (void)descendants_signal(&guardian->descendants, SIGCONT);
    if (cause == END_FOR_TIME && guardian->descendants.stopped_by != 0)
        continue_rlock(guardian->plan); /* or it would hold the lock on */
    set_timer(guardian, guardian->kill_at_ms);
}

static void kill_all(struct guardian *guardian) {
    const bool had_child = guardian->descendants.child > 0;
    dismiss_witness(guardian);
    guardian->report.killed = true;
    guardian->report.left = !descendants_kill(&guardian->descendants, boottime_ms() + PATIENCE_MS);
    if (had_child)
        guardian->report.at_ms = boottime_ms();
    guardian->phase = ENDED;
}

/* The timer was set by the lease's end that was known then; renewals have moved it since. */
static void on_time(struct guardian *guardian) {
    const int64_t now = boottime_ms();
    uint64_t count;
    (void)!read(guardian->timer_fd, &count, sizeof count);
    if (guardian->phase == RUNNING && now >= stop_at_ms(guardian))
        begin_stopping(guardian, END_FOR_LEASE);
    else if (guardian->phase == RUNNING && now >= time_up_at_ms(guardian))
        begin_stopping(guardian, END_FOR_TIME);
    else if (guardian->phase == RUNNING)
        set_timer_running(guardian);
    if (guardian->phase == STOPPING && boottime_ms() >= guardian->kill_at_ms)
        kill_all(guardian);
}

static void pass_on(const struct guardian *guardian, int signal) {
    if (guardian->descendants.child > 0)
        (void)kill(guardian->descendants.child, signal);
}

/* What the whole group has got the command does not get a second time. */
static void pass_on_what_it_lacks(const struct guardian *guardian, uint64_t orders) {
    for (int signal = 1; signal < 32; signal++) {
        if ((orders & ORDER_SIGNAL(signal)) != 0 && !witness_has(guardian->witness, signal))
            pass_on(guardian, signal);
    }
    if ((orders & ORDER_KEYS) != 0)
        witness_forget_keys(guardian->witness);
}

static void on_order(struct guardian *guardian) {
    uint64_t orders;
    if (!orders_take(orders_of(guardian->plan), false, &orders)) {
        kill_all(guardian); /* rlock is dead: nobody renews, at once */
        return;
    }
    pass_on_what_it_lacks(guardian, orders);
    if ((orders & ORDER_AWAKE) != 0) {
        reap(guardian); /* who continued rlock may have continued the command as well */
        if (guardian->descendants.stopped_by != 0 &&
            guardian->descendants.stops == guardian->plan->shared->awake_from)
            pass_on(guardian, SIGCONT);
    }
    if ((orders & ORDER_STOP) != 0 && guardian->phase == RUNNING)
        begin_stopping(guardian, END_FOR_LEASE);
    if ((orders & ORDER_YIELD) != 0 && guardian->phase == RUNNING)
        begin_stopping(guardian, END_FOR_WAITER);
}

/* Reports, and waits for the word that it has been read. Without that word rlock has died together
 * with the command (SIGKILL of the whole group): then what the command left is not left alone. */
static void report(struct guardian *guardian) {
    const struct guardian_plan *plan = guardian->plan;
    guardian->report.status = guardian->report.verb == REPORT_ENDED ? guardian->descendants.status
                                                                    : guardian->report.status;
    if (plan->shared->exec_error != 0)
        guardian->report =
            (struct report){.verb = REPORT_NO_EXEC, .status = plan->shared->exec_error};
    (void)send(plan->socket, &guardian->report, sizeof guardian->report, MSG_NOSIGNAL);
    dismiss_witness(guardian);
    if (!orders_await(orders_of(plan), ORDER_READ))
        kill_all(guardian);
}

static void watch(struct guardian *guardian) {
    struct pollfd fds[] = {
        {.fd = guardian->timer_fd, .events = POLLIN},
        {.fd = guardian->child_fd, .events = POLLIN},
        {.fd = guardian->plan->socket, .events = POLLIN},
    };
    while (guardian->phase != ENDED) {
        const int n =
            poll(fds, sizeof fds / sizeof fds[0], guardian->has_left ? -1 : (int)LEAVE_AFTER_MS);
        if (n == 0)
            leave_job(guardian);
        if (n <= 0)
            continue;
        /* The end first: a command that has ended by itself needs no stopping. */
        if (fds[1].revents != 0) {
            struct signalfd_siginfo info;
            (void)!read(guardian->child_fd, &info, sizeof info); /* one stands for all */
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
    /* A kill by name (pkill rlock) is not to hit both of us. */
    (void)prctl(PR_SET_NAME, "lock-guardian", 0, 0, 0);
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, it would take the exit status away */
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    descendants_adopt_orphans();
    const int why_not = get_ready(&guardian);
    if (!orders_await(orders_of(plan), ORDER_START))
        _exit(0);
    if (boottime_ms() >= stop_at_ms(&guardian)) {
        /* rlock was stopped between the grant and the gate: nothing may start on that lease. */
        guardian.report.cause = END_FOR_LEASE;
        guardian.report.at_ms = boottime_ms();
    } else if (why_not != 0) {
        guardian.report = (struct report){.verb = REPORT_NO_START, .status = why_not};
    } else if (!start_command(&guardian)) {
        guardian.report = (struct report){.verb = REPORT_NO_START, .status = errno};
    } else {
        let_go(&guardian);
        watch(&guardian);
    }
    report(&guardian);
    _exit(0);
}
