/* local.h: `local:`, a private redis-server for one machine, started on first use. */
#ifndef RLOCK_CMD_LOCAL_H
#define RLOCK_CMD_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

/* Makes sure that the server of DIR runs, and gives its URL, unix://DIR/redis.sock, and DIR as an
 * absolute `local:` URL for child processes; both are the caller's to free. Returns 0, or the exit
 * status after a message. Call while the process has one thread. */
int local_start(const char *server, int64_t timeout_ms, char **url, char **absolute);

/* Starts it again if it has died, and waits for at most that long until it is ready: 0 will do
 * where somebody tries on. Says nothing but to who wants to hear all. May be called beside other
 * threads. absolute: as local_start() gave it. False: it is not there, or not yet. */
bool local_revive(const char *absolute, int64_t timeout_ms);

#endif
