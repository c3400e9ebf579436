/* tree.h: all descendants of this process, wherever setsid and double forks have taken them. */
#ifndef RLOCK_CMD_TREE_H
#define RLOCK_CMD_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes this process the one that orphans among its descendants fall to (prctl(2),
 * PR_SET_CHILD_SUBREAPER): none escapes by losing its parent. */
void tree_adopt_orphans(void);

/* Sends a signal to every descendant once. Returns how many may not be signalled by us. Safe after
 * fork: no memory is allocated. */
int tree_signal(int signal);

/* Reaps what has ended. Returns true when no child is left; *status is set if `watched` was among
 * them, and *ended too. */
bool tree_reap(pid_t watched, int *status, bool *ended);

/* SIGKILL to every descendant, again until none is left: what was forked meanwhile has fallen to
 * us. Gives up at deadline_ms (CLOCK_BOOTTIME) on what the system does not let us kill. Returns
 * true when none is left. */
bool tree_kill(pid_t watched, int *status, bool *ended, int64_t deadline_ms);

#endif
