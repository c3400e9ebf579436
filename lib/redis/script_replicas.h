/* script_replicas.h: what a script wrote counts once the replicas have it. For script.c. */
#ifndef RLOCK_SCRIPT_REPLICAS_H
#define RLOCK_SCRIPT_REPLICAS_H

#include "redis/script.h"

#define RLOCK__ASKED RLOCK_BUSY

/* Asks them over the connection that has written. RLOCK__ASKED. RLOCK_OK: none must have it.
 * RLOCK_SYSTEM. */
enum rlock_status rlock__run_ask_replicas(struct rlock__run *run);

/* Takes what was said, which the caller frees. RLOCK_OK: those that must have it have it.
 * RLOCK__ASKED: once more. Else as rlock__run's status, route->error says why. */
enum rlock_status rlock__run_hear_replicas(struct rlock__run *run, const rlock__reply *reply);

#endif
