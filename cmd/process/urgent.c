/* urgent.c: the priority of those who kill in time. */
#include "process/urgent.h"

#include <sched.h>
#include <sys/resource.h>

enum { NICE = -10 };

/* A nice value counts within a session only (sched(7), The autogroup feature). */
void urgent_become(void) {
    if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &(struct sched_param){1}) != 0)
        (void)setpriority(PRIO_PROCESS, 0, NICE);
}
