/* resumed.h: a lock that is held already, resumed to be renewed, checked or released. */
#ifndef RLOCK_CMD_RESUMED_H
#define RLOCK_CMD_RESUMED_H

#include "options/settings.h"
#include "output/out.h"
#include "rlock_handle.h"
#include "server/server.h"

struct resumed {
    const struct settings *settings;
    const struct rlock_handle *handle; /* borrowed */
    struct server server;
    rlock_lock *lock;
    int64_t reached_by_ms; /* until when to try a server that does not answer */
};

/* Opens the server and resumes the lock. Returns 0, or the exit status after a message. Free it in
 * any case. */
int resumed_open(struct resumed *out, const struct settings *settings,
                 const struct rlock_handle *handle);
void resumed_free(struct resumed *resumed);

/* Each tries again until a server replies or it is time to give up. */
enum rlock_status resumed_renew(const struct resumed *resumed);
enum rlock_status resumed_check(const struct resumed *resumed, int64_t *ttl_ms);

/* Says what the library could not do, as server_explain(). If the lock is lost, names its present
 * holder, or what else the servers know. Returns the exit status. */
int resumed_explain(const struct resumed *resumed, const char *verb, enum rlock_status status);

/* The same as the answer to whether it is held: a warning. */
void resumed_log_lost(const struct resumed *resumed);

/* Logs an event for each name. ttl_ms: of the lease; RLOCK_FOREVER: none to show. before, behind:
 * the text on both sides of the name. */
void resumed_log(const struct resumed *resumed, enum out_level level, const char *event,
                 int64_t ttl_ms, const char *before, const char *behind);

#endif
