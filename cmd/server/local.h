/* local.h: `local:`, a private redis-server for one machine, started on first use. */
#ifndef RLOCK_CMD_LOCAL_H
#define RLOCK_CMD_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

/* Gives the URL of DIR's server, unix://DIR/redis.sock, and DIR as an absolute `local:` URL; both
 * are the caller's to free. Returns 0, or the exit status after a message. */
int local_name(const char *server, char **url, char **absolute);

/* Makes sure that it runs. Returns 0, or the exit status after a message. Call while the process
 * has one thread. absolute: as local_name() gave it. */
int local_start(const char *absolute, int64_t timeout_ms);

/* Starts it again if it has died, and waits for at most that long until it is ready: 0 will do
 * where somebody tries on. Prints nothing but with -v. May be called beside other
 * threads. False: it is not there, or not yet. */
bool local_revive(const char *absolute, int64_t timeout_ms);

#endif
