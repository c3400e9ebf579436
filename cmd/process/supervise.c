/* supervise.c: what the guardian does while the command runs: it waits for the command's end, for a
 * deadline on its own timer, and for rlock's orders, of which rlock's death is the last. */
#include "process/supervise.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/boottime.h"
#include "process/orders.h"

enum { PATIENCE_MS = 1000, LEAVE_AFTER_MS = 5 };

static void set_timer(const struct guardian *guardian, int64_t at_ms) {
    if (at_ms < 1)
        at_ms = 1; /* zero would disarm it */
    const struct itimerspec when = {.it_value = {at_ms / 1000, (long)(at_ms % 1000) * 1000000}};
    (void)timerfd_settime(guardian->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static int64_t lease_end_ms(const struct guardian *guardian) {
    return __atomic_load_n(&guardian->plan->shared->lease_end_ms, __ATOMIC_ACQUIRE);
}

struct deadline supervise_deadline(const struct guardian *guardian) {
    return deadline_of(&guardian->plan->deadline, lease_end_ms(guardian), guardian->started_ms);
}

/* The lease's alone. */
static struct deadline lease_deadline(const struct guardian *guardian) {
    return deadline_of(&guardian->plan->deadline, lease_end_ms(guardian), INT64_MAX);
}

/* When we have to look next, while the command runs. */
static void set_timer_running(const struct guardian *guardian) {
    const int64_t stop_ms = supervise_deadline(guardian).stop_ms;
    if (stop_ms != INT64_MAX)
        set_timer(guardian, stop_ms);
}

/* A lost lease is the graver cause. */
static void note_cause(struct guardian *guardian, enum end_cause cause) {
    if (cause > guardian->report.cause)
        guardian->report.cause = cause;
}

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
    if (at_ms >= lease_deadline(guardian).kill_ms)
        note_cause(guardian, END_FOR_LEASE);
    else if (at_ms >= supervise_deadline(guardian).kill_ms)
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
    witness_end(&guardian->witness); /* who is left then is the command's */
    guardian->phase = STOPPING;
    note_cause(guardian, cause);
    guardian->kill_at_ms = deadline_sooner(now + guardian->plan->deadline.kill_after_ms,
                                           lease_deadline(guardian).kill_ms);
    (void)descendants_signal(&guardian->descendants, SIGTERM);
    /* A stopped process could not act on it. */
    (void)descendants_signal(&guardian->descendants, SIGCONT);
    if (cause == END_FOR_TIME && guardian->descendants.stopped_by != 0)
        continue_rlock(guardian->plan); /* or it would hold the lock on */
    set_timer(guardian, guardian->kill_at_ms);
}

void supervise_kill_all(struct guardian *guardian) {
    const bool had_child = guardian->descendants.child > 0;
    witness_end(&guardian->witness);
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
    if (guardian->phase == RUNNING && now >= supervise_deadline(guardian).stop_ms)
        begin_stopping(guardian,
                       now >= lease_deadline(guardian).stop_ms ? END_FOR_LEASE : END_FOR_TIME);
    else if (guardian->phase == RUNNING)
        set_timer_running(guardian);
    if (guardian->phase == STOPPING && boottime_ms() >= guardian->kill_at_ms)
        supervise_kill_all(guardian);
}

static void pass_on(const struct guardian *guardian, int signal) {
    if (guardian->descendants.child > 0)
        (void)kill(guardian->descendants.child, signal);
}

/* Whoever continued rlock may have continued the command as well. */
static void on_awake(struct guardian *guardian, int stop) {
    reap(guardian);
    if (guardian->descendants.stopped_by != 0 && guardian->descendants.stops == stop)
        pass_on(guardian, SIGCONT);
}

static void on_order(struct guardian *guardian) {
    struct order order;
    bool gone;
    if (!order_take(guardian->plan->socket, false, &order, &gone)) {
        if (gone)
            supervise_kill_all(guardian); /* rlock is dead: nobody renews, at once */
        return;
    }
    switch (order.verb) {
    case ORDER_START: break;
    case ORDER_SIGNAL: /* what the whole group has got the command does not get a second time */
        if (!witness_has(&guardian->witness, order.number))
            pass_on(guardian, order.number);
        break;
    case ORDER_KEYS: witness_forget_keys(&guardian->witness); break;
    case ORDER_AWAKE: on_awake(guardian, order.number); break;
    case ORDER_STOP:
    case ORDER_YIELD:
        if (guardian->phase == RUNNING)
            begin_stopping(guardian, order.verb == ORDER_STOP ? END_FOR_LEASE : END_FOR_WAITER);
        break;
    }
}

/* The command is in rlock's session, group and terminal; we leave them, so that what stops or ends
 * the whole job does not reach us. A witness can be put there only by one who is still there, and
 * costs more than the rest, as does memory: a command that is over in a moment pays for neither. Of
 * one that is being stopped it would be among those that are waited for. */
static void leave_job(struct guardian *guardian) {
    guardian->leave_at_ms = INT64_MAX;
    descendants_get_memory();
    if (guardian->phase == RUNNING)
        guardian->witness = witness_start();
    (void)setsid();
}

/* The end first: a command that has ended by itself needs no stopping. */
static void on_events(struct guardian *guardian, const struct pollfd fds[3]) {
    if (fds[0].revents != 0) {
        struct signalfd_siginfo info;
        (void)!read(guardian->child_fd, &info, sizeof info); /* one stands for all */
        reap(guardian);
    }
    if (guardian->phase != ENDED && fds[1].revents != 0)
        on_time(guardian);
    if (guardian->phase != ENDED && fds[2].revents != 0)
        on_order(guardian);
}

void supervise(struct guardian *guardian) {
    struct pollfd fds[] = {
        {.fd = guardian->child_fd, .events = POLLIN},
        {.fd = guardian->timer_fd, .events = POLLIN},
        {.fd = guardian->plan->socket, .events = POLLIN},
    };
    /* From the start: what the command's orphans do all the time must not put it off. */
    guardian->leave_at_ms = boottime_ms() + LEAVE_AFTER_MS;
    set_timer_running(guardian);
    while (guardian->phase != ENDED) {
        if (poll(fds, sizeof fds / sizeof fds[0], boottime_left_ms(guardian->leave_at_ms)) > 0)
            on_events(guardian, fds);
        if (guardian->phase != ENDED && boottime_ms() >= guardian->leave_at_ms)
            leave_job(guardian);
    }
}
