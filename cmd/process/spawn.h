/* spawn.h: the command, seen from rlock: started behind a guardian, watched, signalled, ended.
 * Knows no lock and no Redis. */
#ifndef RLOCK_CMD_SPAWN_H
#define RLOCK_CMD_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/descendants.h"
#include "process/guardian.h"
#include "process/signals.h"

struct spawn {
    pid_t guardian;
    int socket;
    struct plan plan;           /* its socket is set when the guardian is forked; the keeper stores
                                   each new lease end in plan.shared */
    int64_t started_ms;         /* when it was ordered */
    enum end_cause stop_cause;  /* of spawn_stop(), if it was called */
    struct report report;       /* after SPAWN_ENDED, or a start that failed */
    bool guardian_lost;         /* after SPAWN_ENDED: it was killed, and the tree by us */
    struct stranger *strangers; /* children that this process had before: none of ours */
    int stranger_count;
};

/* What ended a watch. */
enum spawn_event {
    SPAWN_ENDED,  /* the command; report says how */
    SPAWN_LOST,   /* lost_fd can be read */
    SPAWN_REPORT, /* report_fd can be read */
};

/* Allocates and checks everything that the system can refuse, so that it fails before a lock is
 * taken. signals and argv must outlive the spawn. False: *why says why. Call spawn_finish() in any
 * case. */
bool spawn_prepare(struct spawn *spawn, const struct signals *signals, char *const *argv,
                   struct deadline_plan deadline, const char **why);

/* Forks the guardian, if there is none; it waits for spawn_start(). Call before the keeper's thread
 * exists. False: errno says why. */
bool spawn_fork_guardian(struct spawn *spawn);

/* Ends the guardian, if there is one, before it has started anything. */
void spawn_end_guardian(struct spawn *spawn);

/* Until when the command may run (CLOCK_BOOTTIME, ms; INT64_MAX, as at first: no limit). Set it
 * before the start, and before the keeper stores later ends. */
void spawn_set_lease_end(struct spawn *spawn, int64_t lease_end_ms);

/* Starts the command, with plan.shared->environment as it is now. False: the order could not be
 * sent, nothing starts, and the report says so. */
bool spawn_start(struct spawn *spawn);

/* Waits, passes on the signals that come, and stops as the command does. Kills the tree if the
 * guardian misses its deadline. A descriptor of -1: none. */
enum spawn_event spawn_watch(struct spawn *spawn, const struct signals *signals, int lost_fd,
                             int report_fd);

/* Has the guardian end the tree: SIGTERM, then SIGKILL. SPAWN_ENDED follows. cause: END_FOR_LEASE
 * or END_FOR_WAITER; the report has another where the command had ended, or been ended, before. */
void spawn_stop(struct spawn *spawn, enum end_cause cause);

/* After SPAWN_ENDED: how long the command ran, from spawn_start() on; -1: it never did. */
int64_t spawn_ran_ms(const struct spawn *spawn);

/* Reaps the guardian and frees what spawn_prepare() has made: before the start, or after
 * SPAWN_ENDED. */
void spawn_finish(struct spawn *spawn);

#endif
