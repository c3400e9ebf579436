/* rlock.h: the public interface of librlock, distributed locks on Redis. A program that holds a
 * lock needs these functions, in this order, and can ignore the others:
 *
 *     rlock_client_new()     a client of one server, or of several
 *     rlock_lock_new()       a lock: its names, its kind, its lease
 *     rlock_acquire()        take it, or wait for it
 *     rlock_hold_at()        its fencing token
 *     rlock_keeper_start()   start a thread that renews it while the work goes on
 *     rlock_keeper_fd()      a descriptor that becomes readable when the lock is lost
 *     rlock_keeper_stop()    stop the thread, and learn whether the lock was held all along
 *     rlock_release()        give it back
 *     rlock_lock_free(), rlock_client_free()
 *     rlock_error()          what went wrong, in words
 *
 * rlock(3) begins with a whole program. Other headers: rlock_base.h (statuses, limits, TLS),
 * rlock_report.h (why a lock is busy, what became of renewals), rlock_handle.h (a lock passed on to
 * another process), rlock_count.h (latches, semaphores), rlock_admin.h (the locks of others).
 *
 * Ownership: an object that a function stores in an out-parameter is yours to free. Returned
 * pointers are borrowed, and valid as long as the object that they came from, unless the function
 * says otherwise. Functions copy what they are given. Every free accepts NULL.
 *
 * Errors: functions that can fail return a status, and rlock_error() has the details until the next
 * call on the client. Nothing is printed. The library never exits, forks, or touches signals.
 *
 * Threads: a client and its locks belong to one thread at a time; different clients are
 * independent. A keeper is a thread of its own. After fork() the child must not use what it has
 * inherited. All descriptors are close-on-exec.
 *
 * Time: in milliseconds. Those named deadline, until, end, at and as_of are points in time on the
 * clock of rlock_now_ms(). RLOCK_FOREVER means no limit.
 *
 * Versions: a structure that you fill in begins with its size. Initialise it with its _INIT, which
 * has the defaults, or with {.size = sizeof options, ...}, where all other fields are zero. Zero is
 * not always a default: connect_timeout_ms, io_timeout_ms and leases are refused then, replicas
 * are none, a deadline has passed, and cancel_fd is standard input. A structure may grow at its
 * end, and zero in a new field keeps the old behaviour, so a program works with older and newer
 * libraries; RLOCK_INVALID if it sets a field that the library does not know. What the library
 * returns may grow at its end, too, except rlock_proof and rlock_handle_hold. */
#ifndef RLOCK_H
#define RLOCK_H

#include "rlock_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rlock_client rlock_client;
typedef struct rlock_lock rlock_lock;
typedef struct rlock_keeper rlock_keeper;

/* --- the client: one server, or several ------------------------------------------------------ */

struct rlock_client_options {
    size_t size;
    /* URLs: redis://[user[:password]@]host[:port][/db], unix:///path[?db=N], and those that
     * rlock(1) has for Sentinels, clusters and TLS. Several, an odd number of at most
     * RLOCK_SERVERS_MAX: a quorum, which holds locks on a majority. */
    const char *const *servers;
    size_t server_count;
    const char *password;       /* for URLs without one; NULL: none */
    const char *password_file;  /* its first line, when it can be read, takes the password's place
                                   in each new connection; NULL: none */
    int64_t connect_timeout_ms; /* name look-up, connection, login and first reply together */
    int64_t io_timeout_ms;      /* for each reply */
    int replicas; /* how many must acknowledge a hold and each renewal, up to RLOCK_REPLICAS_MAX.
                     RLOCK_REPLICAS_AUTO: with Sentinels all that could become the master, in a
                     cluster 1 if there is one and the server has WAIT: rlock_warning() */
    int64_t replica_timeout_ms;          /* for their acknowledgement */
    const struct rlock_tls_options *tls; /* NULL: RLOCK_TLS_OPTIONS_INIT */
    bool fsync; /* a hold and each renewal count once they are on disk, on the server and on as
                   many replicas as must acknowledge. Needs Redis 7.2 or later but not 7.4,
                   appendonly yes, and leases of at least RLOCK_FSYNC_LEASE_MIN_MS */
};
#define RLOCK_CLIENT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(struct rlock_client_options), NULL, 0, NULL, NULL, 5000, 5000, RLOCK_REPLICAS_AUTO, \
            1000, NULL, false                                                                      \
    }

/* Makes a client, which connects when it is first used.
 * RLOCK_INVALID. RLOCK_SYSTEM: out of memory. *out is then for rlock_error() and
 * rlock_client_free() alone, which both accept NULL, as it is if there was no memory for it. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_client_new(rlock_client **out, const struct rlock_client_options *options);

/* Closes the connections and frees the client. Free its locks first, and stop its keepers. */
RLOCK_API void rlock_client_free(rlock_client *client);

/* What went wrong last on this client and its locks: one line without a full stop, never with a
 * password. Valid until the next call on them. client: NULL if there was no memory for one. */
RLOCK_API const char *rlock_error(const rlock_client *client);

/* --- the lock: one or several names, taken and given back together --------------------------- */

/* A hold that an enclosing process passed on. A lock on the same name re-enters that hold if the
 * server still knows this owner with this token. */
struct rlock_proof {
    const char *name, *owner;
    int64_t token;
};

struct rlock_lock_options {
    size_t size;
    const char *const *names; /* 1 to RLOCK_NAME_MAX bytes each, without control characters */
    size_t name_count;        /* 1 to RLOCK_NAMES_MAX; a name that is given twice counts once; sem,
                                 plain, latch: 1 */
    const char *kind;         /* "run", "fair", "read", "write", "sem", "plain" (permits without
                                 leases), or "latch" (held when it is open; never given back) */
    const char *variant;      /* "supersede" (fair), "must-exist" (latch) */
    int64_t permits;       /* sem, plain: how many to take, up to RLOCK_TAKE_MAX; 0 counts as 1 */
    int64_t permits_total; /* sem, plain: how many there are in all; 0: as it was set before */
    int64_t lease_ms;      /* RLOCK_LEASE_MIN_MS to RLOCK_LEASE_MAX_MS */
    const char *user, *command; /* shown to waiters; NULL: nothing */
    const struct rlock_proof *proofs;
    size_t proof_count;
    int64_t once_per_ms;  /* run, fair, one name: take it only if no run has succeeded within this
                             time: see rlock_note_run(). 0: always */
    const char *note;     /* like user and command */
    bool preemptible;     /* run, fair: the keeper reports requests to end */
    bool preempt;         /* run, fair: while waiting, ask a preemptible holder to end */
    const char *once_key; /* run, fair, one name: take it only if the last successful run with a key
                             had another; with once_per_ms, if both allow it. NULL: always */
    int64_t any; /* run, write, one server: take so many of the names, those that are free, in the
                    order of preference in which they are given; rlock_hold_at() tells which. In a
                    cluster of at most RLOCK_CLUSTER_POOL_MAX names. 0: all */
    int64_t priority; /* fair: its waiter stands before all with a lower one, and behind those with
                         the same; Redisson's have 0. -RLOCK_PRIORITY_MAX to RLOCK_PRIORITY_MAX */
    bool no_command;  /* nothing runs under it: `command` is what took it */
};
#define RLOCK_LOCK_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(struct rlock_lock_options), NULL, 0, "run", NULL, 0, 0, RLOCK_LEASE_DEFAULT_MS,     \
            NULL, NULL, NULL, 0, 0, NULL, false, false, NULL, 0, 0, false                          \
    }

/* Makes a lock, without contacting a server. It uses the client until it is freed.
 * RLOCK_INVALID. RLOCK_SYSTEM: out of memory, no random bytes. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_lock_new(rlock_lock **out, rlock_client *client,
                                                       const struct rlock_lock_options *options);

/* Frees the lock, but does not give it back: call rlock_release() or rlock_withdraw() before. */
RLOCK_API void rlock_lock_free(rlock_lock *lock);

/* --- taking it ------------------------------------------------------------------------------- */

struct rlock_wait {
    size_t size;
    int64_t deadline_ms; /* give up then; 0: do not wait; RLOCK_FOREVER */
    int64_t until_ms; /* return RLOCK_AGAIN then, to be called again; 0: after one try, if that is
                         not the last; RLOCK_FOREVER */
    int cancel_fd;    /* return RLOCK_CANCELLED when it becomes readable; -1: none */
};
#define RLOCK_WAIT_INIT                                                                            \
    { sizeof(struct rlock_wait), RLOCK_FOREVER, RLOCK_FOREVER, -1 }

/* Takes the lock, all of its names or none, or waits for it. A lock that was given back can be
 * taken again.
 * RLOCK_OK: it is held, and more than half of its lease is left.
 * RLOCK_AGAIN: it is until_ms, and our place among the waiters is kept as long as the next call
 * comes within four seconds. Call it again, or rlock_withdraw().
 * RLOCK_BUSY: others hold it at the deadline; see rlock_blocker().
 * RLOCK_UNAVAILABLE: no server could be reached, or none has answered by the deadline.
 * RLOCK_REFUSED: it could never succeed, as taking a lock for writing inside a hold for reading, or
 * permits in all that are not as many as were set.
 * RLOCK_OUSTED: a later waiter with "supersede" took our place.
 * RLOCK_DONE: with once_per_ms, a run has succeeded within that time, or with once_key, with that
 * key; rlock_last_run() says which.
 * RLOCK_WRONG_KIND, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_INVALID, RLOCK_SYSTEM.
 * After all but RLOCK_OK and RLOCK_AGAIN nothing is held and no place is kept, if the server could
 * be told so within half a second and a millisecond for each name, 800 ms at most. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_acquire(rlock_lock *lock,
                                                      const struct rlock_wait *wait);

/* What is held. The texts are valid until the lock is freed. */
struct rlock_hold {
    const char *name;
    const char *owner; /* "UUID:PID@HOST" */
    int64_t token;     /* the fencing token, which grows with each new holder; 0: a latch */
};

/* The i-th hold, from 0, the names being sorted by their bytes; NULL past the last. Valid while the
 * lock is held, also in other threads. */
RLOCK_API const struct rlock_hold *rlock_hold_at(const rlock_lock *lock, size_t i);

/* The time until which the lock is certain to be held: the lease that was confirmed last, counted
 * from before its request was sent, less rlock_drift_ms(). Of a lock that was given back or lost it
 * says what it was. Any thread. */
RLOCK_API int64_t rlock_lease_end_ms(const rlock_lock *lock);

/* Leaves the queue after RLOCK_AGAIN, and gives back what an attempt without a reply may have
 * taken. Tries for as long as rlock_acquire() at its end. */
RLOCK_API void rlock_withdraw(rlock_lock *lock);

/* --- the keeper: a thread that renews -------------------------------------------------------- */

struct rlock_keeper_options {
    size_t size;
    int64_t grace_ms; /* how long before its end a lease that cannot be renewed counts as lost; at
                         most half of the lease */
    int64_t *lease_end_ms; /* each new lease end is stored here, too; NULL: nowhere. Other processes
                              may share the memory: read it with an atomic load */
    bool report_renewals;  /* rlock_keeper_report() returns each renewal, which wakes the reader */
    bool report_failures;  /* it returns those that fail, and the first that succeeds after them */
};
#define RLOCK_KEEPER_OPTIONS_INIT                                                                  \
    { sizeof(struct rlock_keeper_options), 0, NULL, false, false }

/* Starts the thread, with a connection of its own. Until it is stopped, only rlock_hold_at(),
 * rlock_lease_end_ms() and the functions of the keeper may be called on the lock.
 * RLOCK_INVALID. RLOCK_SYSTEM: no thread, no descriptors for its connections, out of memory. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_keeper_start(rlock_keeper **out, rlock_lock *lock,
                   const struct rlock_keeper_options *options);

/* When the first renewal is due, after a third of the lease: start a keeper by then; work that is
 * done sooner needs none. RLOCK_FOREVER: there is nothing to renew. */
RLOCK_API int64_t rlock_renewal_due_ms(const rlock_lock *lock);

/* A descriptor that becomes readable when the lock is lost, or cannot be renewed in time: then stop
 * the work. Poll it, but do not read from it or close it. */
RLOCK_API int rlock_keeper_fd(const rlock_keeper *keeper);

/* Stops the thread and frees the keeper. No renewal is under way when it returns.
 * RLOCK_OK: the lock was held all along; also for NULL. RLOCK_LOST: it was broken, or it expired.
 * RLOCK_UNAVAILABLE, RLOCK_DENIED...: why it could not be renewed in time. */
RLOCK_API enum rlock_status rlock_keeper_stop(rlock_keeper *keeper);

/* --- without a keeper; and giving it back ---------------------------------------------------- */

/* Renews the lease once.
 * RLOCK_LOST: it is not ours any more. RLOCK_WRONG_KIND, _UNAVAILABLE, _DENIED, _SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_renew(rlock_lock *lock);

/* Gives the lock back; does nothing if it is not held.
 * keep_ms: if positive, nobody holds it afterwards, but it stays taken for that long. RLOCK_INVALID
 * for plain permits and a latch, which have no lease.
 * deadline_ms: until when to try if the server, or a replica that must acknowledge it, does not
 * answer; at least 200 ms.
 * RLOCK_LOST: it was not ours any more: it was broken, or it expired. RLOCK_UNAVAILABLE: not
 * confirmed; the lock ends with its lease. RLOCK_INVALID: it is held as before. RLOCK_WRONG_KIND,
 * RLOCK_DENIED, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_release(rlock_lock *lock, int64_t keep_ms,
                                                      int64_t deadline_ms);

#ifdef __cplusplus
}
#endif
#endif
