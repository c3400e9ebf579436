/* command.h: the command that the settings name: started, and what is said of its end. */
#ifndef RLOCK_CMD_HOLD_COMMAND_H
#define RLOCK_CMD_HOLD_COMMAND_H

#include "options/settings.h"
#include "process/spawn.h"

/* See spawn_prepare(). Returns 0, or the exit status after a message. */
int command_prepare(struct spawn *spawn, const struct signals *signals,
                    const struct settings *settings);

/* Before spawn_start(): there is a guardian; else false, after a message. */
bool command_fork_guardian(struct spawn *spawn, const struct settings *settings);

/* After SPAWN_ENDED: the command's exit status, EXIT_BY_SIGNAL + the signal that ended it, or after
 * a message EXIT_TIMEOUT, or why it never ran. server: its lock's, as it may be shown. */
int command_status(const struct spawn *spawn, const struct settings *settings, const char *server);

#endif
