/* events.h: what is logged of a lock, for programs and for -v: the events of rlock(7). */
#ifndef RLOCK_CMD_EVENTS_H
#define RLOCK_CMD_EVENTS_H

#include "hold/acquire.h"
#include "rlock_report.h"

/* "acquired", or "latch_open": of each name. */
void event_acquired(const struct acquired *acquired);

/* What has been logged of renewals so far; zeroed at first. */
struct renewals {
    int64_t failing_ms; /* since when all have failed; 0: the last has not */
    int64_t logged_ms;  /* when a failure was logged last */
    int64_t warned_ms;  /* when people were warned last */
    bool warned;        /* of those that fail just now */
};

/* "renewed" of each name, or "retrying": the first that fails is a warning, and so is its end news;
 * not each of those that follow. */
void event_renewal(struct renewals *so_far, const struct acquired *acquired,
                   const struct rlock_renewal *renewal);

/* "lost": an error. then: what follows from it, NULL: nothing. */
void event_lost(const struct acquired *acquired, const char *why, const char *then);

/* "preempting": whether the holder was asked to end. "preempted": a waiter has asked us to; by: the
 * waiter. */
void event_preempting(const struct acquired *acquired, const struct rlock_holder *holder);
void event_preempted(const struct acquired *acquired, const char *by);

/* "released", of each name. keep_ms > 0: others get it after that time. */
void event_released(const struct acquired *acquired, int64_t keep_ms);

/* "release_unconfirmed": a warning that it may not have been given back. */
void event_unconfirmed(const struct acquired *acquired, const char *why, const char *then);

#endif
