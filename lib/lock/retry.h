/* retry.h: when a waiter tries again: sets next_try_ms of its lock. */
#ifndef RLOCK_RETRY_H
#define RLOCK_RETRY_H

#include "lock/lock.h"

/* So often at least a waiter that must be heard of tries again: lua/include/waiting.lua. */
enum { RLOCK__HEARTBEAT_MS = 2500 };

/* After "busy": when the server wants us again, or when the hold expires; soon, at random, where of
 * several servers nobody has a majority. */
void rlock__retry_after_busy(struct rlock_lock *lock);

/* After no answer: a pause that doubles, of which a random half is taken. */
void rlock__retry_after_failure(struct rlock_lock *lock);

void rlock__retry_now(struct rlock_lock *lock);

/* We stand at the front from now on. */
void rlock__retry_heartbeat(struct rlock_lock *lock);

#endif
