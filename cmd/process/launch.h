/* launch.h: a process becomes the command. */
#ifndef RLOCK_CMD_LAUNCH_H
#define RLOCK_CMD_LAUNCH_H

#include <stdint.h>
#include <sys/types.h>

#include "process/orders.h"

/* Starts the command as a child of this process; plan->shared->exec_error says, when it has ended,
 * why it never ran. This process stands still until exec(3) is done: it should be one that goes
 * when its parent does. By kill_at_ms (CLOCK_BOOTTIME; INT64_MAX: no limit) the command runs, or
 * never will. -1: errno says why. */
pid_t launch(const struct plan *plan, int64_t kill_at_ms);

#endif
