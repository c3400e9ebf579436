/* descendants.h: all descendants of this process, wherever setsid and double forks have taken them.
 */
#ifndef RLOCK_CMD_DESCENDANTS_H
#define RLOCK_CMD_DESCENDANTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A child that this process had before, known also when its number is another's. */
struct stranger {
    pid_t pid;
    int64_t started; /* as of proc_started() */
};

/* The descendants of this process, except for strangers: children that it had before, and their
 * descendants. */
struct descendants {
    pid_t child;    /* the one that counts; 0: none, or it has been reaped */
    int status;     /* after child_ended: its, as waitpid(2) returns it */
    int stopped_by; /* while it is stopped: the signal that has stopped it */
    int stops;      /* how often it has been stopped */
    bool child_ended;
    const struct stranger *strangers;
    int stranger_count;
};

/* From here on this process adopts the orphans among its descendants (prctl(2),
 * PR_SET_CHILD_SUBREAPER): none escapes by losing its parent. */
void descendants_adopt_orphans(void);

/* Takes the memory for a walk of a thousand processes now, while the system has some. */
void descendants_get_memory(void);

/* Whether this process has any child now. Costs nothing. */
bool descendants_has_children(void);

/* Writes down the children that this process has now, the first `size` of them. Returns how many
 * there are. */
int descendants_note_strangers(struct stranger *strangers, int size);

/* Sends SIGTERM to each of them once that we may signal, to descendants->child in any case; and
 * SIGCONT, without which a stopped process could not act on it. Safe after fork: no memory is
 * allocated. */
void descendants_stop(struct descendants *descendants);

/* Reaps the children that have ended, and notes the state of descendants->child. Returns true when
 * no child is left, strangers included. */
bool descendants_reap(struct descendants *descendants);

/* Sends SIGKILL to all of them until none is left: we adopt what they fork meanwhile. From
 * deadline_ms on (CLOCK_BOOTTIME) it gives up on processes that the system does not let us kill, or
 * find. Returns true when none is left. */
bool descendants_kill(struct descendants *descendants, int64_t deadline_ms);

#endif
