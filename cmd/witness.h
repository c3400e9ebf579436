/* witness.h: a process in the command's process group that takes every signal and acts on none.
 *
 * A signal that came to rlock may have been sent to rlock alone, or to the whole group (kill -INT
 * -PGID, as those who run CI jobs do), and the kernel does not say which. What the witness has got
 * too, the group has got, and the command with it. */
#ifndef RLOCK_CMD_WITNESS_H
#define RLOCK_CMD_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts one in a group of this process's session, as a child of this process, which must have all
 * signals blocked. 0: there is none. */
pid_t witness_start(pid_t group);

/* Whether it has got this signal since it was last told to forget. */
bool witness_has(pid_t witness, int signal);

void witness_forget(pid_t witness);

/* Ends it and reaps it. */
void witness_end(pid_t witness);

#endif
