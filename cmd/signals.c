/* signals.c: the signals that rlock takes by a descriptor.
 *
 * Blocked, never ignored and never handled: an ignored signal survives exec(3), a handler races.
 * SIGPIPE is blocked for rlock's own messages; who reads them may go away while CMD runs. */
#include "signals.h"

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

/* nohup means what it says. A script's background job has SIGINT and SIGQUIT ignored only to shield
 * it from the terminal's keys: one that was sent to rlock on purpose counts. */
static bool to_ignore(const struct signals *signals, int signal, bool from_terminal) {
    return sigismember(&signals->ignored, signal) == 1 &&
           (from_terminal || (signal != SIGINT && signal != SIGQUIT));
}

int signals_read(const struct signals *signals, bool *from_terminal) {
    struct signalfd_siginfo info;
    if (read(signals->fd, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    *from_terminal = info.ssi_code == SI_KERNEL;
    const int signal = (int)info.ssi_signo;
    return to_ignore(signals, signal, *from_terminal) ? 0 : signal;
}
