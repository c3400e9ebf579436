/* not_acquired.h: what is said of a lock that was not acquired, and with what status rlock ends. */
#ifndef RLOCK_CMD_NOT_ACQUIRED_H
#define RLOCK_CMD_NOT_ACQUIRED_H

#include "hold/acquire.h"

/* Says why the lock was not taken, if that is worth a message. Returns the exit status. */
int not_acquired(const struct acquired *acquired, const struct settings *settings,
                 enum rlock_status status);

/* The same where a signal has ended the wait. */
int not_acquired_interrupted(const struct acquired *acquired, int signal);

/* While waiting: warns once if the holder is a process around us, for which we wait in vain. */
void not_acquired_warn_of_ancestor(struct acquired *acquired);

#endif
