/* tell.h: what programs that read the log are told of a lock, and people who say -v: the events of
 * rlock(7). */
#ifndef RLOCK_CMD_TELL_H
#define RLOCK_CMD_TELL_H

#include "rlock.h"
#include "take.h"

/* "acquired", or "passed": of each name. */
void tell_acquired(const struct taken *taken);

/* "renewed" of each name, or "retrying". */
void tell_renewal(const struct taken *taken, const struct rlock_renewal *renewal);

/* "lost": an error. then: what follows from it, NULL: nothing. */
void tell_lost(const struct taken *taken, const char *why, const char *then);

/* "released", of each name. keep_ms > 0: for so long others do not get it yet. */
void tell_released(const struct taken *taken, int64_t keep_ms);

/* "unconfirmed": a warning that it may not have been given back. */
void tell_unconfirmed(const struct taken *taken, const char *why, const char *then);

#endif
