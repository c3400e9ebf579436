/* daemon.h: what a process that outlives its starter's attention leaves behind. */
#ifndef RLOCK_CMD_DAEMON_H
#define RLOCK_CMD_DAEMON_H

#include <stddef.h>

/* Closes all descriptors but the standard ones and those in kept, in any order; -1 stands for none.
 * Safe after fork: no memory is allocated. */
void daemon_close_others(const int *kept, size_t count);

/* Standard input, output and error become null, a descriptor of /dev/null, which is closed. */
void daemon_leave_streams(int null);

#endif
