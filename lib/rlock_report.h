/* rlock_report.h: why a lock is busy, what became of renewals and runs: for messages and logs. */
#ifndef RLOCK_REPORT_H
#define RLOCK_REPORT_H

#include "rlock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- a lock that could not be taken ---------------------------------------------------------- */

/* What became of the request to the holder to end. */
enum rlock_preemption {
    RLOCK_PREEMPT_NOT_ASKED, /* none was sent */
    RLOCK_PREEMPT_ASKED,     /* sent, and repeated with each attempt */
    RLOCK_PREEMPT_REFUSED,   /* the holder is not preemptible */
    RLOCK_PREEMPT_DENIED     /* we may not publish to the channel of its requests */
};

/* The holder of a lock that is busy. Unknown texts are "", unknown numbers 0. */
struct rlock_holder {
    const char *name; /* the name that is busy */
    const char *owner;
    const char *host;
    const char *user;
    const char *command;
    int64_t pid;
    int64_t held_ms;  /* for how long, by the server's clock */
    int64_t as_of_ms; /* the time of the server's reply, at most about a minute ago */
    int64_t position; /* our place among the waiters, from 1; 0: not waiting yet */
    int64_t waiting;  /* how many wait, as far as is known; for a latch: its count */
    bool kept;        /* nobody holds it, but it stays taken: keep_ms of rlock_release() */
    const char *note;
    enum rlock_preemption preemption;
    bool waits; /* nobody holds it: this waiter is the first in line, and has its turn */
};

/* The holder at the last attempt; NULL: it was free. Valid until the next call on the lock. */
RLOCK_API const struct rlock_holder *rlock_blocker(const rlock_lock *lock);

/* The name at which the last call failed, for messages; the first, if it was none in particular. */
RLOCK_API const char *rlock_stuck_at(const rlock_lock *lock);

/* After a failure: true if an attempt without a reply may have left the lock held until its lease
 * ends. While it is held, it says nothing. */
RLOCK_API bool rlock_in_doubt(const rlock_lock *lock);

/* --- runs ------------------------------------------------------------------------------------ */

/* Says how the run ended that the lock was taken for. rlock_release() records it with once_per_ms
 * or once_key, if the lock was held until then, and ends a row of skips: rlock_skip(). Without this
 * call nothing is recorded, and the run counts as failed.
 * exit_status: 0: it has succeeded. took_ms: how long it took. */
RLOCK_API void rlock_note_run(rlock_lock *lock, int exit_status, int64_t took_ms);

/* A run that has ended. Unknown texts are "", unknown numbers 0. */
struct rlock_run {
    const char *host;
    const char *user;
    const char *command;
    int64_t pid;
    int64_t age_ms;  /* how long ago it ended, by the server's clock */
    int64_t took_ms; /* how long it took */
    bool same_key;   /* it had our once_key */
};

/* After RLOCK_DONE: the last run that has succeeded; else NULL. Valid until the next call on the
 * lock. */
RLOCK_API const struct rlock_run *rlock_last_run(const rlock_lock *lock);

/* --- renewals -------------------------------------------------------------------------------- */

/* What became of a renewal. */
struct rlock_renewal {
    enum rlock_status status; /* anything but RLOCK_OK: it failed, and is tried again */
    int64_t at_ms;
    int64_t lease_end_ms; /* as it was known then */
    char why[256];        /* why it failed, in the words of rlock_error(); "": it did not */
    bool preempted; /* not a renewal: a waiter has asked for the lock (why names it); or, if status
                       is not RLOCK_OK, such requests cannot be received (why has the reason) */
};

/* A descriptor that becomes readable when there is a report; -1: the options ask for none, and the
 * lock is not preemptible. Poll it, but do not read from it or close it. */
RLOCK_API int rlock_keeper_report_fd(const rlock_keeper *keeper);

/* Takes the next report, oldest first; NULL: there is none. A waiter that asks for the lock may be
 * reported several times. Valid until the next call, from any thread, but one at a time. About a
 * hundred reports are kept; later ones are dropped. */
RLOCK_API const struct rlock_renewal *rlock_keeper_report(rlock_keeper *keeper);

/* --- servers --------------------------------------------------------------------------------- */

/* The servers as they were given, separated by spaces, without passwords, for messages. */
RLOCK_API const char *rlock_client_server(const rlock_client *client);

/* The i-th of several servers, from 0, in the order of the options; NULL past the last. */
RLOCK_API const char *rlock_client_server_at(const rlock_client *client, size_t i);

/* What users of this client should know although all went well, one line like rlock_error(); each
 * warning is returned once. NULL: none. Call it after a lock was taken or renewed, or something was
 * counted. There is one so far: in a cluster, with RLOCK_REPLICAS_AUTO, no replica acknowledges
 * locks, because the server has no WAIT. */
RLOCK_API const char *rlock_warning(rlock_client *client);

#ifdef __cplusplus
}
#endif
#endif
