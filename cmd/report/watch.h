/* watch.h: rlock status --watch. */
#ifndef RLOCK_CMD_WATCH_H
#define RLOCK_CMD_WATCH_H

#include "options/settings.h"
#include "server/server.h"

/* Shows it again and again, until a signal ends it, as it ends any program. A server that goes away
 * is waited for; one that never was there ends it. Returns the exit status. */
int watch(const struct server *server, const struct settings *settings);

#endif
