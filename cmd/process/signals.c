/* signals.c: the signals that rlock takes by a descriptor.
 *
 * Blocked, never ignored and never handled: an ignored signal survives exec(3), a handler races.
 * SIGPIPE and SIGXFSZ are blocked as well: where a handle cannot be printed, the write says so, and
 * the lock is given back. */
#include "process/signals.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                             SIGUSR2, SIGALRM, SIGXCPU}; /* the last two: a time that is over */
static const int job_control[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};

enum {
    ENDING = sizeof ending / sizeof ending[0],
    JOB = sizeof job_control / sizeof job_control[0]
};

static bool is_ignored(int signal) {
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

bool signals_begin(struct signals *signals) {
    sigset_t taken, blocked;
    sigemptyset(&taken);
    sigemptyset(&signals->ignored);
    for (int i = 0; i < ENDING; i++) {
        sigaddset(&taken, ending[i]);
        if (is_ignored(ending[i]))
            sigaddset(&signals->ignored, ending[i]);
    }
    blocked = taken;
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGXFSZ);
    if (sigprocmask(SIG_BLOCK, &blocked, &signals->caller_mask) != 0)
        return false;
    signals->fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals->fd >= 0;
}

void signals_run(struct signals *signals) {
    sigset_t taken;
    sigemptyset(&taken);
    for (int i = 0; i < JOB; i++)
        sigaddset(&taken, job_control[i]);
    sigprocmask(SIG_BLOCK, &taken, NULL);
    for (int i = 0; i < ENDING; i++)
        sigaddset(&taken, ending[i]);
    (void)signalfd(signals->fd, &taken, 0);
}

/* What the kernel sends by itself goes to a whole group, to the terminal's foreground or to one
 * that lost it, but for the ends of timers, and for the hang-up of a terminal: that is told to the
 * session's leader alone. */
static bool is_by_keys(const struct signalfd_siginfo *info) {
    if (info->ssi_code != SI_KERNEL)
        return false;
    switch ((int)info->ssi_signo) {
    case SIGALRM:
    case SIGXCPU: return false;
    case SIGHUP:
    case SIGCONT: return getsid(0) != getpid();
    default: return true;
    }
}

/* nohup means what it says. A script's background job has SIGINT and SIGQUIT ignored only to shield
 * it from the terminal's keys: one that was sent to rlock on purpose counts. */
static bool to_ignore(const struct signals *signals, const struct signal_taken *taken) {
    return sigismember(&signals->ignored, taken->number) == 1 &&
           (taken->by_keys || (taken->number != SIGINT && taken->number != SIGQUIT));
}

bool signals_take(const struct signals *signals, struct signal_taken *out) {
    struct signalfd_siginfo info;
    if (read(signals->fd, &info, sizeof info) != (ssize_t)sizeof info)
        return false;
    *out = (struct signal_taken){
        .number = (int)info.ssi_signo,
        .by_keys = is_by_keys(&info),
        .sender = info.ssi_code == SI_KERNEL ? 0 : (pid_t)info.ssi_pid,
    };
    return !to_ignore(signals, out);
}

int signals_read(const struct signals *signals) {
    struct signal_taken taken;
    return signals_take(signals, &taken) ? taken.number : 0;
}

void signals_suffer(int signal) {
    sigset_t only, before;
    struct sigaction old = {.sa_handler = SIG_DFL};
    sigemptyset(&only);
    sigaddset(&only, signal);
    (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, &old);
    (void)kill(getpid(), signal);
    (void)sigprocmask(SIG_UNBLOCK, &only, &before); /* here it comes */
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)sigaction(signal, &old, NULL);
}

int signals_end(int status) {
    if (status <= EXIT_BY_SIGNAL)
        return status;
    const int signal = status - EXIT_BY_SIGNAL;
    if (getpid() != 1) { /* whom no signal ends */
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* nor is a program of core(5) started */
        signals_suffer(signal);
    }
    return 128 + signal;
}
