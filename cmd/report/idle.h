/* idle.h: rlock wait: until nobody holds any of some locks. */
#ifndef RLOCK_CMD_IDLE_H
#define RLOCK_CMD_IDLE_H

#include "options/settings.h"
#include "server/server.h"

/* Returns 0 then, or the exit status after a message. */
int idle_wait(const struct server *server, const struct settings *settings);

#endif
