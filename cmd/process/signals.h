/* signals.h: the signals that rlock takes by a descriptor, what the caller had set, and the ends
 * that signals make. */
#ifndef RLOCK_CMD_SIGNALS_H
#define RLOCK_CMD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct signals {
    int fd;               /* a signalfd: readable when one has come */
    sigset_t caller_mask; /* for the command */
};

struct signal_taken {
    int number;
    bool by_keys; /* the kernel sent it to each process of the job: the terminal's keys, its end */
    pid_t sender; /* 0: the kernel */
};

/* PID 1, of a container, is ended by no signal without a handler. Call first: where it is PID 1, a
 * signal that would end another process makes it exit with 128 + N, unless it is taken below. */
void signals_as_pid_1(void);

/* Blocks the signals that would end this process and makes them readable, all but those that report
 * a fault of its own. Call before any thread exists. False: the system refused. */
bool signals_begin(struct signals *signals);

/* From here on the descriptor also has the signals that by default stop a process, continue it or
 * do nothing. */
void signals_run(struct signals *signals);

/* Whether the caller has set it to be ignored: nohup, a script's background job. */
bool signals_ignored(int signal);

/* Takes one signal. False: none is there, and *out is as it was, or it is one to ignore. */
bool signals_take(const struct signals *signals, struct signal_taken *out);

/* The same, but returns the number only; 0: none. */
int signals_read(const struct signals *signals);

/* Takes all that have come. Returns the last that a key (Ctrl-C, Ctrl-\) sent to end the job; 0:
 * none, or the caller has set it to be ignored. */
int signals_take_key(const struct signals *signals);

/* Sends this process a signal, with the default effect. Returns from a stop when the process is
 * continued, or at once in an orphaned group: the kernel does not stop it. */
void signals_raise_default(int signal);

/* An exit status that main() makes an end by the signal: see signals_end(). */
enum { EXIT_BY_SIGNAL = 1 << 10 };

/* Makes EXIT_BY_SIGNAL + N an end by signal N, without a core, so that the shell knows that a
 * signal it was. Returns any other status; 128 + N where there is no such end, as for PID 1. */
int signals_end(int status);

#endif
