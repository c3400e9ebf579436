/* signals.h: the signals that rlock takes by a descriptor, and what the caller had set. */
#ifndef RLOCK_CMD_SIGNALS_H
#define RLOCK_CMD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signals {
    int fd;               /* a signalfd: readable when one has come */
    sigset_t caller_mask; /* for the command */
    sigset_t ignored;     /* ignored by the caller: nohup, a script's background job */
};

/* Blocks the signals that end a wait and makes them readable. Call before any thread exists.
 * False: the system refused. */
bool signals_begin(struct signals *signals);

/* From here on the job-control signals come by the descriptor too. */
void signals_run(struct signals *signals);

/* Reads one signal. 0: none is there, or it is one to ignore. *from_terminal: the kernel sent it,
 * so every process of the foreground job has it already. */
int signals_read(const struct signals *signals, bool *from_terminal);

#endif
