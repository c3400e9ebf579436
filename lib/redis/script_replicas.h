/* script_replicas.h: what a script wrote counts once the replicas have it, and with fsync
 * once it is on disk. For script.c and script_run.c. */
#ifndef RLOCK_SCRIPT_REPLICAS_H
#define RLOCK_SCRIPT_REPLICAS_H

#include "redis/script.h"

/* Asks them over the connection that has written. True: they have been asked. False: not so;
 * *status: RLOCK_OK, none must have it, or RLOCK_SYSTEM. */
bool rlock__run_ask_replicas(struct rlock__run *run, enum rlock_status *status);

/* Takes what was said, which the caller frees. True: they have been asked once more. False: that
 * was all; *status: RLOCK_OK, those that must have it have it, or as rlock__run's, and route->error
 * says why. */
bool rlock__run_hear_replicas(struct rlock__run *run, const rlock__reply *reply,
                              enum rlock_status *status);

/* Says in route->error that the time was over before. */
void rlock__run_note_unconfirmed(struct rlock__run *run);

#endif
