/* supervise.c: the guardian while the command runs: what it does at which event. */
#include "process/guardian.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/deadline.h"

enum { PATIENCE_MS = 1000 };

static void set_timer(const struct guardian *guardian, int64_t at_ms) {
    if (at_ms == INT64_MAX)
        return;
    if (at_ms < 1)
        at_ms = 1; /* zero would disarm it */
    const struct itimerspec when = {.it_value = {at_ms / 1000, (long)(at_ms % 1000) * 1000000}};
    (void)timerfd_settime(guardian->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static struct deadline deadline_now(const struct guardian *guardian) {
    return plan_deadline(guardian->plan, guardian->started_ms);
}

static struct deadline lease_deadline(const struct guardian *guardian) {
    return plan_deadline(guardian->plan, INT64_MAX);
}

static void note_cause(struct guardian *guardian, enum end_cause cause) {
    if (cause > guardian->report.cause)
        guardian->report.cause = cause;
}

/* --- the command's end ----------------------------------------------------------------------- */

static void continue_rlock(const struct plan *plan) {
    if (getppid() == plan->rlock)
        (void)kill(plan->rlock, SIGCONT);
}

/* To reach a large tree takes its time, which SIGKILL will take as well, and then the processes'
 * end: that much before the lease's end it begins. */
static void begin_stopping(struct guardian *guardian, enum end_cause cause) {
    const int64_t now = boottime_ms();
    guardian->phase = STOPPING;
    note_cause(guardian, cause);
    descendants_stop(&guardian->descendants);
    const int64_t took_ms = boottime_ms() - now;
    guardian->kill_at_ms = deadline_sooner(now + guardian->plan->deadline.kill_after_ms,
                                           lease_deadline(guardian).kill_ms - 2 * took_ms);
    (void)witness_has(&guardian->witness, SIGTERM); /* from us: it is one of the descendants */
    (void)witness_has(&guardian->witness, SIGCONT);
    if (cause == END_FOR_TIME && guardian->descendants.stopped_by != 0)
        continue_rlock(guardian->plan); /* while it is stopped it would keep the lock */
    set_timer(guardian, guardian->kill_at_ms);
}

void supervise_kill_all(struct guardian *guardian) {
    const bool had_child = guardian->descendants.child > 0;
    guardian->report.killed = true;
    guardian->report.left = !descendants_kill(&guardian->descendants, boottime_ms() + PATIENCE_MS);
    witness_end(&guardian->witness);
    if (had_child)
        guardian->report.at_ms = boottime_ms();
    guardian->phase = ENDED;
}

/* A command that was alive when SIGKILL was due has got it, from limit_exec() if not from us. */
static void note_end(struct guardian *guardian) {
    const int64_t at_ms = guardian->report.at_ms = boottime_ms();
    const int status = guardian->descendants.status;
    if (at_ms >= lease_deadline(guardian).kill_ms)
        note_cause(guardian, END_FOR_LEASE);
    else if (at_ms >= deadline_now(guardian).kill_ms)
        note_cause(guardian, END_FOR_TIME);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        guardian->report.killed = true;
}

/* True: no child is left. */
static bool reap(struct guardian *guardian) {
    const bool had_ended = guardian->descendants.child_ended;
    const bool none_left = descendants_reap(&guardian->descendants);
    if (guardian->descendants.child_ended && !had_ended)
        note_end(guardian);
    return none_left;
}

/* --- running --------------------------------------------------------------------------------- */

/* rlock stops and goes on as the command does. It does not matter if the report cannot be sent:
 * then rlock is stopped already. */
static void report_job_control(const struct guardian *guardian, const struct descendants *before) {
    const struct plan *plan = guardian->plan;
    const struct descendants *now = &guardian->descendants;
    const struct report stopped = {
        .verb = REPORT_STOPPED, .status = now->stopped_by, .stop = now->stops};
    if (now->stopped_by != 0 && now->stops != before->stops)
        (void)send(plan->socket, &stopped, sizeof stopped, MSG_NOSIGNAL | MSG_DONTWAIT);
    else if (now->stopped_by == 0 && before->stopped_by != 0)
        continue_rlock(plan);
}

/* The command alone decides: what it has left in the background is left alone. */
static void reap_command(struct guardian *guardian) {
    const struct descendants before = guardian->descendants;
    (void)reap(guardian);
    if (guardian->descendants.child_ended)
        guardian->phase = ENDED;
    else
        report_job_control(guardian, &before);
}

/* Renewals may have moved the deadline since the timer was set. The lease is the graver cause. */
static void check_deadline(struct guardian *guardian) {
    const int64_t now = boottime_ms();
    if (now >= lease_deadline(guardian).stop_ms)
        begin_stopping(guardian, END_FOR_LEASE);
    else if (now >= deadline_now(guardian).stop_ms)
        begin_stopping(guardian, END_FOR_TIME);
    else
        set_timer(guardian, deadline_now(guardian).stop_ms);
}

/* A SIGCONT to the whole group has continued the command as well as rlock. stop: as rlock has been
 * told of it. */
static void continue_command(struct guardian *guardian, int stop) {
    reap_command(guardian);
    if (guardian->descendants.child > 0 && guardian->descendants.stopped_by != 0 &&
        guardian->descendants.stops == stop)
        (void)kill(guardian->descendants.child, SIGCONT);
}

/* --- stopping -------------------------------------------------------------------------------- */

/* A tree that is being stopped has ended when all of it has; the witness is not of it, and has seen
 * enough when the command has ended. */
static void reap_tree(struct guardian *guardian) {
    bool none_left = reap(guardian);
    if (guardian->descendants.child_ended && guardian->witness.pid > 0) {
        witness_end(&guardian->witness);
        none_left = reap(guardian);
    }
    if (none_left)
        guardian->phase = ENDED;
}

static void kill_when_due(struct guardian *guardian) {
    if (boottime_ms() >= guardian->kill_at_ms)
        supervise_kill_all(guardian);
}

/* --- events ---------------------------------------------------------------------------------- */

/* Whether it is in the set, where it is no more then. */
static bool take_from(sigset_t *set, int signal) {
    const bool is_in = sigismember(set, signal) == 1;
    (void)sigdelset(set, signal);
    return is_in;
}

/* The command does not get a second time what its whole group has got, unless it has left that, as
 * timeout(1) does; what the group got before there was a command it gets now. */
static void pass_on(struct guardian *guardian, const struct order *order) {
    const int signal = order->number;
    const bool by_keys = order->verb == ORDER_KEYS;
    const bool heard = take_from(&guardian->heard, signal);
    if (by_keys)
        witness_forget_keys(&guardian->witness);
    const bool group_has_it = witness_has(&guardian->witness, signal) || by_keys || heard;
    const bool has_it = group_has_it && getpgid(guardian->descendants.child) == guardian->group;
    if ((take_from(&guardian->plan->shared->missed, signal) || !has_it) &&
        guardian->descendants.child > 0)
        (void)kill(guardian->descendants.child, signal);
}

/* What is being stopped need not be continued, which it has been, nor be stopped again. */
static void carry_out(struct guardian *guardian, struct order order) {
    const bool running = guardian->phase == RUNNING;
    switch (order.verb) {
    case ORDER_START: break; /* it is started */
    case ORDER_SIGNAL:
    case ORDER_KEYS: pass_on(guardian, &order); break;
    case ORDER_AWAKE:
        if (running)
            continue_command(guardian, order.number);
        break;
    case ORDER_STOP:
        if (running)
            begin_stopping(guardian, (enum end_cause)order.number);
        break;
    }
}

/* If rlock is dead, nothing renews the lease. */
static void on_socket(struct guardian *guardian) {
    struct order order;
    bool gone;
    if (order_take(guardian->plan->socket, false, &order, &gone))
        carry_out(guardian, order);
    else if (gone)
        supervise_kill_all(guardian);
}

static void on_child(struct guardian *guardian) {
    struct signalfd_siginfo info;
    (void)!read(guardian->child_fd, &info, sizeof info); /* one for any number of children */
    (guardian->phase == RUNNING ? reap_command : reap_tree)(guardian);
}

static void on_timer(struct guardian *guardian) {
    uint64_t count;
    (void)!read(guardian->timer_fd, &count, sizeof count);
    (guardian->phase == RUNNING ? check_deadline : kill_when_due)(guardian);
}

/* The end first: a command that has ended by itself needs no stopping. */
static void on_events(struct guardian *guardian, const struct pollfd fds[3]) {
    if (fds[0].revents != 0)
        on_child(guardian);
    if (fds[1].revents != 0 && guardian->phase != ENDED)
        on_timer(guardian);
    if (fds[2].revents != 0 && guardian->phase != ENDED)
        on_socket(guardian);
}

/* We leave the session, group and terminal of rlock and the command, so that what stops or ends the
 * whole job does not reach us: at once, for a SIGKILL of the group would spare what has left it.
 * The witness is forked before, into that group. */
static void leave_job(struct guardian *guardian) {
    guardian->witness = witness_start();
    guardian->group = getpgrp();
    (void)setsid();
    guardian->heard = witness_take_own(); /* and what the command has missed: see pass_on() */
    descendants_get_memory();
}

void supervise(struct guardian *guardian) {
    struct pollfd fds[] = {
        {.fd = guardian->child_fd, .events = POLLIN},
        {.fd = guardian->timer_fd, .events = POLLIN},
        {.fd = guardian->plan->socket, .events = POLLIN},
    };
    leave_job(guardian);
    set_timer(guardian, deadline_now(guardian).stop_ms);
    while (guardian->phase != ENDED) {
        if (poll(fds, sizeof fds / sizeof fds[0], -1) > 0)
            on_events(guardian, fds);
    }
}
