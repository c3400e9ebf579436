/* witness.c: a process in the command's process group that takes every signal and acts on none.
 *
 * What it gets stays pending, where /proc shows it: nobody has to wait until it has run, nor does
 * it matter whether it is stopped. */
#include "process/witness.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/daemon.h"
#include "process/proc.h"
#include "process/title.h"

enum { STATUS_SIZE = 4096 };

_Noreturn static void bear_witness(pid_t parent) {
    static const struct timespec at_once = {0};
    siginfo_t order;
    sigset_t wake, one;
    sigemptyset(&wake);
    sigaddset(&wake, SIGRTMIN);
    (void)prctl(PR_SET_NAME, "lock-witness", 0, 0, 0);
    title_set("lock-witness");
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    daemon_close_others(NULL, 0);
    while (getppid() == parent) {
        if (sigwaitinfo(&wake, &order) < 0)
            continue;
        sigemptyset(&one);
        sigaddset(&one, order.si_value.sival_int);
        (void)sigtimedwait(&one, NULL, &at_once);
    }
    _exit(0);
}

pid_t witness_start(void) {
    const pid_t parent = getpid(), witness = fork();
    if (witness == 0)
        bear_witness(parent);
    return witness > 0 ? witness : 0;
}

/* A line's value, "" when it is not there. */
static const char *value_of(const char *status, const char *name) {
    const char *line = strstr(status, name);
    return line != NULL ? line + strlen(name) : "";
}

/* Reads what /proc shows of it. False: it is gone, and the number, if in use, is not its own. */
static bool read_status(pid_t witness, char status[STATUS_SIZE]) {
    if (witness <= 0 || !proc_read_about(witness, "status", status, STATUS_SIZE))
        status[0] = '\0';
    return strtol(value_of(status, "\nPPid:"), NULL, 10) == getpid();
}

/* One signal only: it may be a while until the witness runs, and others come meanwhile. */
static void forget(pid_t witness, int signal) {
    (void)sigqueue(witness, SIGRTMIN, (union sigval){.sival_int = signal});
}

bool witness_has(pid_t witness, int signal) {
    char status[STATUS_SIZE];
    if (!read_status(witness, status) ||
        (strtoull(value_of(status, "\nShdPnd:"), NULL, 16) >> (signal - 1) & 1) == 0)
        return false;
    forget(witness, signal);
    if (strncmp(value_of(status, "\nState:\t"), "T", 1) == 0) { /* stopped with the group */
        (void)kill(witness, SIGCONT);
        forget(witness, SIGCONT);
    }
    return true;
}

void witness_forget_keys(pid_t witness) {
    static const int keys[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGHUP, SIGCONT};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        (void)witness_has(witness, keys[i]);
}

void witness_end(pid_t witness) {
    char status[STATUS_SIZE];
    if (!read_status(witness, status))
        return;
    (void)kill(witness, SIGKILL);
    while (waitpid(witness, NULL, 0) < 0 && errno == EINTR)
        continue;
}
