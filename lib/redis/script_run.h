/* script_run.h: one script on one server, in steps that script.c takes. */
#ifndef RLOCK_SCRIPT_RUN_H
#define RLOCK_SCRIPT_RUN_H

#include "redis/script.h"

/* Finds the way, which may ask servers for it: before anything is put into a link's request. The
 * run may be done by then. */
void rlock__run_begin(struct rlock__run *run, const struct rlock__limit *limit);

/* Puts the script into the request of the run's link. Without memory the run is done: RLOCK_SYSTEM.
 */
void rlock__run_ask(struct rlock__run *run, const struct rlock__script *script);

/* Takes the reply, which is the run's from now on. The run is done, or has asked again. */
void rlock__run_hear(struct rlock__run *run, const struct rlock__script *script,
                     rlock__reply *reply);

/* The link has failed so. */
void rlock__run_fail(struct rlock__run *run, enum rlock_status status);

/* The run is over. */
void rlock__run_end(struct rlock__run *run, enum rlock_status status);

#endif
