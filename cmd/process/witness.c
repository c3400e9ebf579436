/* witness.c: a process in the command's process group that blocks every signal and acts on none.
 *
 * A signal to rlock may have been sent to rlock alone, or to the whole group (kill -INT -PGID, as
 * CI runners do), and the kernel does not say which. If the witness has got it, so has the group,
 * and the command with it: rlock must not pass it on then. Once is worth a process: terraform,
 * ansible and many CI runners end in an orderly way at the first SIGINT, and take the second one
 * for "stop now, whatever breaks".
 *
 * Its signals stay pending, where /proc shows them: we need not wait until it has run, and it may
 * be stopped. */
#include "process/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/proc.h"
#include "process/self.h"

_Noreturn static void bear_witness(int orders) {
    static const struct timespec at_once = {0};
    sigset_t one;
    int signal;
    (void)prctl(PR_SET_NAME, "lock-witness", 0, 0, 0);
    self_set_title("lock-witness");
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    self_close_others(&orders, 1);
    while (read(orders, &signal, sizeof signal) == sizeof signal) {
        sigemptyset(&one);
        sigaddset(&one, signal);
        (void)sigtimedwait(&one, NULL, &at_once);
    }
    _exit(0);
}

struct witness witness_start(void) {
    static const struct witness none = {.orders = -1};
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC) != 0)
        return none;
    const struct witness witness = {.pid = fork(), .orders = pipe[1]};
    if (witness.pid == 0)
        bear_witness(pipe[0]);
    close(pipe[0]);
    (void)fcntl(witness.orders, F_SETFL, O_NONBLOCK); /* it may be stopped with the group */
    if (witness.pid > 0)
        return witness;
    close(witness.orders);
    return none;
}

/* A line's value, "" when it is not there. */
static const char *value_of(const char *status, const char *name) {
    const char *line = strstr(status, name);
    return line != NULL ? line + strlen(name) : "";
}

/* A signal's bit is by one less than its number. */
static unsigned long long pending_in(const char *status) {
    return strtoull(value_of(status, "\nShdPnd:"), NULL, 16);
}

/* Reads what /proc shows of it. False: it is gone, and the number, if in use, is not its own. */
static bool read_status(pid_t witness, char status[PROC_STATUS_SIZE]) {
    if (witness <= 0 || !proc_read_status(witness, status))
        status[0] = '\0';
    return strtol(value_of(status, "\nPPid:"), NULL, 10) == getpid();
}

sigset_t witness_missed(pid_t parent) {
    char status[PROC_STATUS_SIZE] = "";
    sigset_t own, missed;
    sigemptyset(&missed);
    sigemptyset(&own);
    (void)proc_read_status(parent, status);
    (void)sigpending(&own); /* after the parent's: what comes meanwhile is not missed */
    const unsigned long long pending = pending_in(status);
    for (int signal = 1; signal < SIGRTMIN; signal++) {
        if ((pending >> (signal - 1) & 1) != 0 && sigismember(&own, signal) == 0)
            sigaddset(&missed, signal);
    }
    return missed;
}

/* One signal only: others may come before the witness runs. By a pipe, not by a signal:
 * RLIMIT_SIGPENDING may allow none. */
static void forget(const struct witness *witness, int signal) {
    (void)!write(witness->orders, &signal, sizeof signal);
}

bool witness_has(const struct witness *witness, int signal) {
    char status[PROC_STATUS_SIZE];
    if (!read_status(witness->pid, status) || (pending_in(status) >> (signal - 1) & 1) == 0)
        return false;
    forget(witness, signal);
    if (strncmp(value_of(status, "\nState:\t"), "T", 1) == 0) { /* stopped with the group */
        (void)kill(witness->pid, SIGCONT);
        forget(witness, SIGCONT);
    }
    return true;
}

void witness_forget_keys(const struct witness *witness) {
    static const int keys[] = {SIGINT,  SIGQUIT, SIGTSTP, SIGTTIN,
                               SIGTTOU, SIGHUP,  SIGCONT, SIGWINCH};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        (void)witness_has(witness, keys[i]);
}

sigset_t witness_take_own(void) {
    static const struct timespec at_once = {0};
    sigset_t pending, taken;
    int signal;
    sigemptyset(&taken);
    sigemptyset(&pending);
    (void)sigpending(&pending);
    sigdelset(&pending, SIGCHLD);
    while ((signal = sigtimedwait(&pending, NULL, &at_once)) > 0)
        sigaddset(&taken, signal);
    return taken;
}

void witness_end(struct witness *witness) {
    char status[PROC_STATUS_SIZE];
    if (read_status(witness->pid, status)) {
        (void)kill(witness->pid, SIGKILL);
        while (self_reap(witness->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (witness->orders >= 0)
        close(witness->orders);
    *witness = (struct witness){.orders = -1};
}
