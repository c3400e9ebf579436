/* urgent.h: who must not wait for a processor. */
#ifndef RLOCK_CMD_URGENT_H
#define RLOCK_CMD_URGENT_H

/* From here on nothing ordinary delays the calling thread, where that is allowed (sched(7),
 * CAP_SYS_NICE or RLIMIT_RTPRIO); else little does, or nothing changes. What it forks is ordinary
 * again. Any thread. */
void urgent_become(void);

#endif
