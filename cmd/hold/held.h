/* held.h: a lock that is held already, taken up to be renewed, looked for or given back. */
#ifndef RLOCK_CMD_HELD_H
#define RLOCK_CMD_HELD_H

#include "options/settings.h"
#include "output/out.h"
#include "rlock.h"
#include "server/server.h"

struct held {
    const struct settings *settings;
    const struct rlock_handle *handle; /* borrowed */
    struct server server;
    rlock_lock *lock;
    int64_t reached_by_ms; /* how long to try a server that does not answer */
};

/* Opens the server and takes the lock up. Returns 0, or the exit status after a message. Free it in
 * any case. */
int held_open(struct held *out, const struct settings *settings, const struct rlock_handle *handle);
void held_free(struct held *held);

/* Each again and again, until it is answered or it is time to give up. */
enum rlock_status held_renew(const struct held *held);
enum rlock_status held_check(const struct held *held, int64_t *ttl_ms);

/* The name that a message is about. */
const char *held_name(const struct held *held);

/* Says what the library could not do, as server_explain(). Of a lock that is lost: who has it now,
 * or what else the servers know. Returns the exit status. */
int held_explain(const struct held *held, const char *verb, enum rlock_status status);

/* The same as the answer to whether it is held: a warning. */
void held_say_lost(const struct held *held);

/* What programs that read the log are told of each name. ttl_ms: RLOCK_FOREVER: there is no lease
 * to tell. before, behind: the text on both sides of the name. */
void held_tell(const struct held *held, enum out_level level, const char *event, int64_t ttl_ms,
               const char *before, const char *behind);

#endif
