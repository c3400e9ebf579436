/* proc.h: whether /proc shows our processes. Safe after fork: no memory is allocated. */
#ifndef RLOCK_CMD_PROC_H
#define RLOCK_CMD_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether the descendants of this process, and of its children, can be found here. False: *why says
 * why not. */
bool proc_is_ours(const char **why);

enum { PROC_STATUS_SIZE = 4096 }; /* twice what there is of it */

/* What proc_pid_status(5) says of a process, but for its groups, which may fill pages. False: it
 * can't be read. */
bool proc_read_status(pid_t pid, char status[PROC_STATUS_SIZE]);

/* The parent of a process; 0: unknown, the process being gone, another user's, or not to be seen.
 */
pid_t proc_parent(pid_t pid);

/* When it was started, in clock ticks since the machine was: with its number this tells it from all
 * others, before and after it. 0: unknown, as above. */
int64_t proc_started(pid_t pid);

#endif
