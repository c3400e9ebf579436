/* witness.h: a process in the command's process group that takes every signal and acts on none.
 *
 * A signal that came to rlock may have been sent to rlock alone, or to the whole group (kill -INT
 * -PGID, as those who run CI jobs do), and the kernel does not say which. What the witness has got
 * too, the group has got, and the command with it. */
#ifndef RLOCK_CMD_WITNESS_H
#define RLOCK_CMD_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct witness {
    pid_t pid;  /* 0: there is none */
    int orders; /* the end of a pipe that it reads: which signal to forget */
};

/* Starts one in this process's group, as its child; call with all signals blocked. There is none
 * where the system refused. */
struct witness witness_start(void);

/* Whether it has got this signal; then it forgets it. */
bool witness_has(const struct witness *witness, int signal);

/* It forgets what terminals send: the command is known to have that. */
void witness_forget_keys(const struct witness *witness);

/* Ends it, if there is one, and reaps it. */
void witness_end(struct witness *witness);

#endif
