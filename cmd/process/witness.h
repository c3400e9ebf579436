/* witness.h: a process in the command's process group that takes every signal and acts on none.
 *
 * A signal that came to rlock may have been sent to rlock alone, or to the whole group (kill -INT
 * -PGID, as those who run CI jobs do), and the kernel does not say which. What the witness has got
 * too, the group has got, and the command with it. */
#ifndef RLOCK_CMD_WITNESS_H
#define RLOCK_CMD_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts one in this process's group, as its child; call with all signals blocked. 0: the system
 * refused. */
pid_t witness_start(void);

/* Whether it has got this signal; then it forgets it. */
bool witness_has(pid_t witness, int signal);

/* It forgets what terminals send: the command is known to have that. */
void witness_forget_keys(pid_t witness);

/* Ends it and reaps it. */
void witness_end(pid_t witness);

#endif
