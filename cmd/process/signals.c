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

/* What ends a process: it ends the wait, or is the command's. With all also what does not: the
 * command's, once there is one. Never what is raised by a fault, a write or a child of ours, or
 * cannot be blocked. */
static sigset_t to_take(bool all) {
    static const int left[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGTRAP, SIGSYS,
                               SIGPIPE, SIGXFSZ, SIGCHLD, SIGKILL, SIGSTOP};
    static const int harmless[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH, SIGURG};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        sigdelset(&set, left[i]);
    for (size_t i = 0; !all && i < sizeof harmless / sizeof harmless[0]; i++)
        sigdelset(&set, harmless[i]);
    return set;
}

static void end(int signal) {
    _exit(128 + signal);
}

void signals_as_pid_1(void) {
    static const int endings[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    for (size_t i = 0; getpid() == 1 && i < sizeof endings / sizeof endings[0]; i++) {
        if (!signals_ignored(endings[i]))
            (void)sigaction(endings[i], &(struct sigaction){.sa_handler = end}, NULL);
    }
}

bool signals_begin(struct signals *signals) {
    const sigset_t taken = to_take(false);
    sigset_t blocked = taken;
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGXFSZ);
    if (sigprocmask(SIG_BLOCK, &blocked, &signals->caller_mask) != 0)
        return false;
    signals->fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals->fd >= 0;
}

void signals_run(struct signals *signals) {
    const sigset_t taken = to_take(true);
    sigprocmask(SIG_BLOCK, &taken, NULL);
    (void)signalfd(signals->fd, &taken, 0);
}

/* The kernel sends a terminal's signals to a whole group: the foreground one, or one that has lost
 * the terminal. A hang-up goes to the session's leader alone, a timer's signal to us alone. */
static bool is_by_keys(const struct signalfd_siginfo *info) {
    if (info->ssi_code != SI_KERNEL)
        return false;
    switch ((int)info->ssi_signo) {
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGWINCH: return true;
    case SIGHUP:
    case SIGCONT: return getsid(0) != getpid();
    default: return false;
    }
}

bool signals_ignored(int signal) {
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* A script's background job ignores SIGINT and SIGQUIT only to be safe from the terminal's keys: we
 * act on one that was sent to rlock on purpose. nohup's SIGHUP we ignore in any case. */
static bool to_ignore(const struct signal_taken *taken) {
    return (taken->by_keys || (taken->number != SIGINT && taken->number != SIGQUIT)) &&
           signals_ignored(taken->number);
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
    return !to_ignore(out);
}

int signals_read(const struct signals *signals) {
    struct signal_taken taken;
    return signals_take(signals, &taken) ? taken.number : 0;
}

int signals_take_key(const struct signals *signals) {
    struct signal_taken taken;
    int key = 0;
    do {
        taken = (struct signal_taken){.number = 0};
        if (signals_take(signals, &taken) && taken.by_keys &&
            (taken.number == SIGINT || taken.number == SIGQUIT))
            key = taken.number;
    } while (taken.number != 0);
    return key;
}

void signals_raise_default(int signal) {
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
    if (getpid() != 1) { /* which no signal ends */
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* nor is a program of core(5) started */
        signals_raise_default(signal);
    }
    return 128 + signal;
}
