/* run.h: the one way through of every command that runs another while it holds a lock. */
#ifndef RLOCK_CMD_RUN_H
#define RLOCK_CMD_RUN_H

#include "options/settings.h"

/* Acquires a lock of the kind of settings->cmd, runs the command while it is held, releases it;
 * without a command it only acquires it. A latch that is counted down is counted after the command
 * instead. Returns the exit status: rlock(1). A struct cmd's exec. */
int run_exec(struct settings *settings);

#endif
