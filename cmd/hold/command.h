/* command.h: the command that the settings name: started, and what is said of its end. */
#ifndef RLOCK_CMD_HOLD_COMMAND_H
#define RLOCK_CMD_HOLD_COMMAND_H

#include "options/settings.h"
#include "process/spawn.h"

/* Forks the guardian: see spawn_prepare(). It gets ready while a server answers, or while we wait,
 * so that the command starts the sooner. Returns 0, or the exit status after a message. */
int command_prepare(struct spawn *spawn, const struct signals *signals,
                    const struct settings *settings, struct deadline deadline);

/* After SPAWN_ENDED: the command's exit status, EXIT_BY_SIGNAL + the signal that ended it, or after
 * a message why it never ran. server: its lock's, as it may be shown. */
int command_status(const struct spawn *spawn, const struct settings *settings, const char *server);

#endif
