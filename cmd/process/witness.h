/* witness.h: a process in the command's process group that blocks every signal and acts on none.
 *
 * A signal to rlock may have been sent to rlock alone, or to the whole group (kill -INT -PGID, as
 * CI runners do), and the kernel does not say which. If the witness has got it, so has the group,
 * and the command with it: rlock must not pass it on then. Once is worth a process: terraform,
 * ansible and many CI runners end in an orderly way at the first SIGINT, and take the second one
 * for "stop now, whatever breaks". */
#ifndef RLOCK_CMD_WITNESS_H
#define RLOCK_CMD_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct witness {
    pid_t pid;  /* 0: there is none */
    int orders; /* the end of a pipe that it reads: which signal to forget */
};

/* Forks one into this process's group; call with all signals blocked. If the system refuses, pid is
 * 0, and each signal counts as sent to rlock alone. */
struct witness witness_start(void);

/* Whether it has got this signal, and makes it forget it. */
bool witness_has(const struct witness *witness, int signal);

/* Makes it forget the signals that terminals send: the command has got them. */
void witness_forget_keys(const struct witness *witness);

/* Ends it, if there is one, and reaps it. */
void witness_end(struct witness *witness);

#endif
