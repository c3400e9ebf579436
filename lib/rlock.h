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
 * rlock(3) begins with a whole program. rlock_admin.h is for inspecting and breaking the locks of
 * others.
 *
 * Ownership: an object that a function stores in an out-parameter is yours to free. Returned
 * pointers are borrowed, and valid as long as the object that they came from, unless the function
 * says otherwise. Functions copy what they are given. Every free accepts NULL.
 *
 * Errors: functions that can fail return a status, and rlock_error() has the details until the next
 * call on the client. Nothing is printed. The library never exits, forks, or touches signals.
 *
 * Threads: a client and its locks belong to one thread at a time. Different clients are
 * independent. A keeper is a thread of its own. After fork() the child must not use what it has
 * inherited; all descriptors are close-on-exec.
 *
 * Time: all times are in milliseconds. Those named deadline, until, end, at and as_of are points in
 * time on the clock that rlock_now_ms() reads, CLOCK_BOOTTIME, which goes on while the machine is
 * suspended, as the server's clock does. RLOCK_FOREVER means no limit.
 *
 * Versions: a structure that you fill in begins with its size. Initialise it with its _INIT, which
 * has the defaults, or with {.size = sizeof options, ...}, where fields without a value are zero.
 * Such a structure may grow at its end, and zero in a new field means what was before. So a program
 * works with an older and with a newer library; RLOCK_INVALID if it sets a field that the library
 * does not know. What the library returns may grow at its end, too, but rlock_proof and
 * rlock_handle_hold, which stand in arrays, never do. */
#ifndef RLOCK_H
#define RLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RLOCK_API   __attribute__((visibility("default")))
#define RLOCK_CHECK __attribute__((warn_unused_result))
#else
#define RLOCK_API
#define RLOCK_CHECK
#endif

#define RLOCK_FOREVER INT64_MAX

/* What is beyond these limits is refused with RLOCK_INVALID, and nothing has been sent then. Points
 * in time have none: those before the clock began count as past. */
#define RLOCK_LEASE_MIN_MS       100
#define RLOCK_FSYNC_LEASE_MIN_MS 6000 /* of a client with fsync */
#define RLOCK_LEASE_MAX_MS       (INT64_C(7) * 24 * 60 * 60 * 1000)
#define RLOCK_TIME_MAX_MS        (INT64_C(36525) * 24 * 60 * 60 * 1000) /* 100 years: other durations */
#define RLOCK_NAME_MAX           512                                    /* bytes */
#define RLOCK_NAMES_MAX          10000                                  /* of one lock */
#define RLOCK_TEXT_MAX           1024 /* bytes: what others are shown: user, command, note */
#define RLOCK_PERMITS_MAX        1000000000
#define RLOCK_TAKE_MAX           10000 /* permits at once: each has a lease of its own */
#define RLOCK_SERVERS_MAX        15
#define RLOCK_REPLICAS_MAX       100

#define RLOCK_LEASE_DEFAULT_MS 30000
#define RLOCK_REPLICAS_AUTO    (-1)

/* One row makes the enum's value and its text. */
#define RLOCK_STATUS_MAP(X)                                                                        \
    X(OK, "success")                                                                               \
    X(AGAIN, "still waiting")                                                                      \
    X(BUSY, "held by others")                                                                      \
    X(LOST, "not held any more")                                                                   \
    X(WRONG_KIND, "the name is taken by another kind of lock or by a key that is none")            \
    X(UNAVAILABLE, "no server could be reached or used")                                           \
    X(DENIED, "access denied")                                                                     \
    X(CANCELLED, "cancelled")                                                                      \
    X(INVALID, "invalid argument")                                                                 \
    X(REFUSED, "it could never succeed")                                                           \
    X(OUSTED, "one that came later has taken the place")                                           \
    X(SYSTEM, "the system refused")                                                                \
    X(DONE, "a run has succeeded already")

enum rlock_status {
#define RLOCK_STATUS_ENUM(name, text) RLOCK_##name,
    RLOCK_STATUS_MAP(RLOCK_STATUS_ENUM)
#undef RLOCK_STATUS_ENUM
};

typedef struct rlock_client rlock_client;
typedef struct rlock_lock rlock_lock;
typedef struct rlock_keeper rlock_keeper;

/* --- the client: one server, or several ------------------------------------------------------ */

/* For servers whose URL asks for TLS: rediss://, and the others with an s. Files are PEM. */
struct rlock_tls_options {
    size_t size;
    const char *ca;   /* the authorities to trust; NULL: the system's */
    const char *cert; /* the client's certificate and its chain; NULL: none */
    const char *key;  /* the key of that certificate; NULL: none */
    const char *name; /* the name in the server's certificate; NULL: the URL's host */
    bool insecure;    /* do not verify the server's certificate: anyone in between can read along */
};
#define RLOCK_TLS_OPTIONS_INIT                                                                     \
    { sizeof(struct rlock_tls_options), NULL, NULL, NULL, NULL, false }

struct rlock_client_options {
    size_t size;
    /* URLs: redis://[user[:password]@]host[:port][/db], unix:///path[?db=N], and those that
     * rlock(1) has for Sentinels, clusters and TLS. Several, an odd number of at most
     * RLOCK_SERVERS_MAX: a quorum, whose locks are held on a majority. */
    const char *const *servers;
    size_t server_count;
    const char *password;       /* for URLs without one; NULL: none */
    int64_t connect_timeout_ms; /* name look-up, connection, login and first reply together */
    int64_t io_timeout_ms;      /* for each reply */
    int replicas; /* how many must acknowledge a hold and each renewal, up to RLOCK_REPLICAS_MAX.
                     RLOCK_REPLICAS_AUTO: with Sentinels all that could become the master, in a
                     cluster 1 if there is one and the server has WAIT: rlock_warning() */
    int64_t replica_timeout_ms; /* for their acknowledgement. Each of the three times is up to
                                   RLOCK_TIME_MAX_MS, or RLOCK_FOREVER */
    const struct rlock_tls_options *tls; /* NULL: RLOCK_TLS_OPTIONS_INIT */
    bool fsync; /* a hold and each renewal count once the server, and so many of its replicas as
                   must acknowledge it, have them on disk. Takes Redis 7.2, but for 7.4, with
                   appendonly yes, and leases of RLOCK_FSYNC_LEASE_MIN_MS and more */
};
#define RLOCK_CLIENT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(struct rlock_client_options), NULL, 0, NULL, 5000, 5000, RLOCK_REPLICAS_AUTO, 1000, \
            NULL, false                                                                            \
    }

/* Makes a client, which connects when it is first used.
 * out: also set on RLOCK_INVALID, so that rlock_error() can say what is wrong with the options.
 * RLOCK_INVALID. RLOCK_SYSTEM: no memory; *out is NULL. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_client_new(rlock_client **out, const struct rlock_client_options *options);

/* Closes the connections and frees the client. Free its locks first, and stop its keepers. */
RLOCK_API void rlock_client_free(rlock_client *client);

/* The servers as they were given, separated by spaces and without passwords, for messages. */
RLOCK_API const char *rlock_client_server(const rlock_client *client);

/* The i-th of several servers, from 0, in the order of the options; NULL past the last. */
RLOCK_API const char *rlock_client_server_at(const rlock_client *client, size_t i);

/* What went wrong last on this client and its locks: one line without a full stop, and never with a
 * password. Valid until the next call on them.
 * client: NULL if there was no memory for one. */
RLOCK_API const char *rlock_error(const rlock_client *client);

/* What those who use this client should know although all went well, one line as above; it is told
 * once. NULL: nothing, or nothing new. Call it after a lock was taken or renewed, or something was
 * counted.
 * So far: in a cluster replicas of which nobody has said how many must acknowledge a lock do not,
 * for the server has no WAIT. */
RLOCK_API const char *rlock_warning(rlock_client *client);

/* --- the lock: one or several names, taken and given back together --------------------------- */

/* A hold that an enclosing process passed on. A lock on the same name re-enters that hold if the
 * server still knows this owner with this token. */
struct rlock_proof {
    const char *name;
    const char *owner;
    int64_t token;
};

struct rlock_lock_options {
    size_t size;
    const char *const *names; /* 1 to RLOCK_NAME_MAX bytes each, without control characters */
    size_t name_count;        /* 1 to RLOCK_NAMES_MAX; a name that is given twice counts once */
    const char *kind;         /* "run", "fair", "read", "write", "sem", "plain" (permits without
                                 leases), or "latch" (held when it is open; never given back) */
    const char *variant;      /* "supersede" (fair), "prefer-readers" (write), "must-exist" (latch);
                                 NULL: none */
    int64_t permits;       /* sem, plain: how many to take, up to RLOCK_TAKE_MAX; 0 counts as 1 */
    int64_t permits_total; /* sem, plain: how many there are in all, up to RLOCK_PERMITS_MAX; 0:
                              as it was set before */
    int64_t lease_ms;      /* RLOCK_LEASE_MIN_MS to RLOCK_LEASE_MAX_MS */
    const char *user;      /* shown to waiters, up to RLOCK_TEXT_MAX bytes; NULL: nothing */
    const char *command;   /* the same */
    const struct rlock_proof *proofs;
    size_t proof_count;
    int64_t once_per_ms; /* run, fair, one name: take it only if no run has succeeded within that
                            time, up to RLOCK_TIME_MAX_MS; see rlock_note_run(). 0: however that
                            was */
    const char *note;    /* as user and command */
    bool preemptible;    /* run, fair: the keeper reports who asks us to end */
    bool preempt;        /* run, fair: ask a holder that is preemptible to end, while we wait */
};
#define RLOCK_LOCK_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(struct rlock_lock_options), NULL, 0, "run", NULL, 0, 0, RLOCK_LEASE_DEFAULT_MS,     \
            NULL, NULL, NULL, 0, 0, NULL, false, false                                             \
    }

/* Makes a lock, without contacting a server. It uses the client until it is freed.
 * RLOCK_INVALID. RLOCK_SYSTEM: no memory, no random bytes. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_lock_new(rlock_lock **out, rlock_client *client,
                                                       const struct rlock_lock_options *options);

/* Frees the lock, but does not give it back: call rlock_release() or rlock_withdraw() before. */
RLOCK_API void rlock_lock_free(rlock_lock *lock);

/* --- taking it ------------------------------------------------------------------------------- */

/* Called in the caller's thread before each wait for a server's answer, which may be that the lock
 * is held, and, with for_turn, before each wait until others have given it back: so what the lock
 * is taken for can be got ready at no cost in time, and put away again. It must not use the client
 * or its locks. */
typedef void rlock_on_wait(void *context, bool for_turn);

struct rlock_wait {
    size_t size;
    int64_t deadline_ms;    /* give up then; 0: do not wait; RLOCK_FOREVER */
    int64_t until_ms;       /* return RLOCK_AGAIN then, to be called again; RLOCK_FOREVER */
    int cancel_fd;          /* return RLOCK_CANCELLED when it becomes readable; -1: none */
    rlock_on_wait *on_wait; /* NULL: none */
    void *context;
};
#define RLOCK_WAIT_INIT                                                                            \
    { sizeof(struct rlock_wait), RLOCK_FOREVER, RLOCK_FOREVER, -1, NULL, NULL }

/* Takes the lock, all of its names or none, or waits for it. A lock that was given back can be
 * taken again.
 * RLOCK_OK: it is held, and more than half of its lease is left.
 * RLOCK_AGAIN: it is until_ms, and our place among the waiters is kept. Call it again, or
 * rlock_withdraw().
 * RLOCK_BUSY: others hold it at the deadline; rlock_blocker() says who.
 * RLOCK_UNAVAILABLE: no server could be reached, or none has answered by the deadline.
 * RLOCK_REFUSED: it could never succeed, as taking a lock for writing inside a hold for reading, or
 * permits in all that are not as many as were set.
 * RLOCK_OUSTED: a later waiter with "supersede" took our place.
 * RLOCK_DONE: with once_per_ms, a run has succeeded within that time; rlock_last_run() says which.
 * RLOCK_WRONG_KIND, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_INVALID, RLOCK_SYSTEM.
 * After all but RLOCK_OK and RLOCK_AGAIN nothing is held and no place is kept, as far as the server
 * could be reached to say so within half a second and a millisecond for each name, 800 ms at most.
 */
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
 * from before its request was sent, less rlock_drift_ms(). Any thread. */
RLOCK_API int64_t rlock_lease_end_ms(const rlock_lock *lock);

/* What has become of asking the holder to end. */
enum rlock_preemption {
    RLOCK_PREEMPT_NOT_ASKED, /* nobody has asked */
    RLOCK_PREEMPT_ASKED,     /* it has been asked, and will be with each try */
    RLOCK_PREEMPT_REFUSED,   /* it is not preemptible */
    RLOCK_PREEMPT_DENIED     /* we have no right to publish where it listens */
};

/* Who holds a lock that is busy, as the server said. Unknown texts are "", unknown numbers 0. */
struct rlock_holder {
    const char *name; /* the name that is busy */
    const char *owner;
    const char *host;
    const char *user;
    const char *command;
    int64_t pid;
    int64_t held_ms;  /* for how long, by the server's clock */
    int64_t as_of_ms; /* when the server said this, at most about a minute ago */
    int64_t position; /* our place among the waiters, from 1; 0: not waiting yet */
    int64_t waiting;  /* how many wait, as far as is known; for a latch: its count */
    bool kept;        /* it was given back, to be kept for a while: see rlock_release() */
    const char *note;
    enum rlock_preemption preemption;
};

/* Who held the lock at the last try; NULL: it was not busy. Valid until the next call on it. */
RLOCK_API const struct rlock_holder *rlock_blocker(const rlock_lock *lock);

/* A run that has ended. Unknown texts are "", unknown numbers 0. */
struct rlock_run {
    const char *host;
    const char *user;
    const char *command;
    int64_t pid;
    int64_t age_ms;  /* how long ago it ended, by the server's clock */
    int64_t took_ms; /* how long it took */
};

/* After RLOCK_DONE: the last run that has succeeded; else NULL. Valid until the next call on the
 * lock. */
RLOCK_API const struct rlock_run *rlock_last_run(const rlock_lock *lock);

/* The name at which the last call failed, for messages: the first one, if it was none of them in
 * particular. */
RLOCK_API const char *rlock_stuck_at(const rlock_lock *lock);

/* Leaves the queue after RLOCK_AGAIN, and gives back what an attempt without an answer may have
 * taken. Tries for half a second and a millisecond for each name, 800 ms at most. */
RLOCK_API void rlock_withdraw(rlock_lock *lock);

/* True if an attempt without an answer may have left the lock held until its lease ends. */
RLOCK_API bool rlock_in_doubt(const rlock_lock *lock);

/* --- the keeper: a thread that renews -------------------------------------------------------- */

struct rlock_keeper_options {
    size_t size;
    int64_t grace_ms; /* how long before its end a lease that cannot be renewed counts as lost: the
                         time that your work needs to stop, which is less than the lease */
    int64_t *lease_end_ms; /* each new lease end is stored here, too; NULL: nowhere. It may be in
                              memory that other processes share: read it with an atomic load */
    bool report_renewals;  /* rlock_keeper_report() has each renewal, at the cost of a wake-up */
    bool report_failures;  /* it has those that failed, and the first that succeeds after them */
};
#define RLOCK_KEEPER_OPTIONS_INIT                                                                  \
    { sizeof(struct rlock_keeper_options), 0, NULL, false, false }

/* Starts the thread, with a connection of its own. Until it has been stopped, only the functions of
 * this section, rlock_hold_at() and rlock_lease_end_ms() may be called on the lock.
 * RLOCK_INVALID. RLOCK_SYSTEM: no thread, no descriptors for its connections, no memory. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_keeper_start(rlock_keeper **out, rlock_lock *lock,
                   const struct rlock_keeper_options *options);

/* When the first renewal is due, a third of the lease after it began: start a keeper by then. Work
 * that is done sooner needs none. RLOCK_FOREVER: there is nothing to renew. */
RLOCK_API int64_t rlock_renewal_due_ms(const rlock_lock *lock);

/* A descriptor that becomes readable when the lock is lost, or cannot be renewed in time: stop the
 * work. Poll it, but do not read from it or close it. */
RLOCK_API int rlock_keeper_fd(const rlock_keeper *keeper);

/* Stops the thread and frees the keeper. No renewal is under way when it returns.
 * RLOCK_OK: the lock was held all along; also for NULL. RLOCK_LOST: it was broken, or it expired.
 * RLOCK_UNAVAILABLE, RLOCK_DENIED...: why it could not be renewed in time. */
RLOCK_API enum rlock_status rlock_keeper_stop(rlock_keeper *keeper);

/* What became of a renewal. */
struct rlock_renewal {
    enum rlock_status status; /* anything but RLOCK_OK: it failed, and is tried again */
    int64_t at_ms;
    int64_t lease_end_ms; /* as it was known then */
    char why[256];        /* it failed, in the words of rlock_error(); "": it did not */
    bool preempted; /* it is none: a waiter asks us to end, and why says who that is; or, if the
                       status is not RLOCK_OK, nobody can ask us, and why says why */
};

/* A descriptor that becomes readable when there is a report; -1: the options ask for none, and the
 * lock is not preemptible. Poll it,
 * but do not read from it or close it. */
RLOCK_API int rlock_keeper_report_fd(const rlock_keeper *keeper);

/* Takes the next report, oldest first; a waiter that asks us to end may be reported several times.
 * NULL: there is none. Valid until the next call, which any
 * thread may make, but one at a time. About a hundred reports are kept, later ones dropped. */
RLOCK_API const struct rlock_renewal *rlock_keeper_report(rlock_keeper *keeper);

/* --- without a keeper; and giving it back ---------------------------------------------------- */

/* Renews the lease once. RLOCK_LOST: the lock is not ours any more. RLOCK_WRONG_KIND,
 * RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_renew(rlock_lock *lock);

/* Asks, once, whether the lock is still held, and changes nothing.
 * ttl_ms: for how long, by the server's clock; with several names the shortest; RLOCK_FOREVER:
 * permits without a lease.
 * RLOCK_OK: all of its names are held. RLOCK_LOST: rlock_stuck_at() is not. RLOCK_INVALID: locks of
 * this kind are not held. RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_check(rlock_lock *lock, int64_t *ttl_ms);

/* With once_per_ms: says how the run ended that the lock was taken for, so that rlock_release()
 * writes it down if the lock was held until then. Of a run that nothing is said of nothing is
 * written down, and it counts as failed.
 * exit_status: 0: it has succeeded. took_ms: how long it took, 0 to RLOCK_TIME_MAX_MS; what is
 * beyond counts as the nearer of them. */
RLOCK_API void rlock_note_run(rlock_lock *lock, int exit_status, int64_t took_ms);

/* Gives the lock back; does nothing if it is not held.
 * keep_ms: if positive, nobody holds it afterwards, but it stays taken for that long, up to
 * RLOCK_TIME_MAX_MS.
 * deadline_ms: until when to try if the server does not answer.
 * RLOCK_LOST: it was not ours any more: it was broken, or it expired. RLOCK_UNAVAILABLE: not
 * confirmed; the lock ends with its lease. RLOCK_INVALID: it is held as before. RLOCK_WRONG_KIND,
 * RLOCK_DENIED, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_release(rlock_lock *lock, int64_t keep_ms,
                                                      int64_t deadline_ms);

/* --- handles: a lock that is held, in writing ------------------------------------------------- */

struct rlock_handle_hold {
    const char *name, *owner;
    const char *id; /* of the hold; NULL or "": unknown, the lock can only be checked */
    int64_t token;
};

/* All that another process needs, on any machine, to renew, check and give back a lock. */
struct rlock_handle {
    size_t size;
    const char *kind;    /* as in rlock_lock_options */
    const char *servers; /* separated by spaces, without passwords; NULL: the client's */
    const char *owner;   /* who took it; a hold that was re-entered has another */
    int64_t lease_ms;    /* of the next renewal */
    int64_t permits;
    const struct rlock_handle_hold *holds;
    size_t hold_count;
};
#define RLOCK_HANDLE_INIT                                                                          \
    { sizeof(struct rlock_handle), NULL, NULL, NULL, RLOCK_LEASE_DEFAULT_MS, 1, NULL, 0 }

/* Writes a lock that is held as one word of letters, digits, '-', '_' and '.'. It contains no
 * password, but anyone who has it can give the lock back.
 * out: yours to free(). servers: separated by spaces; NULL: the client's.
 * RLOCK_INVALID: the lock is not held, or has no lease. RLOCK_SYSTEM: no memory. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_handle_write(char **out, const rlock_lock *lock,
                                                           const char *servers);

/* Reads such a word. RLOCK_INVALID: it is none, or was changed. RLOCK_SYSTEM: no memory. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_handle_read(struct rlock_handle **out,
                                                          const char *text);

/* Frees what rlock_handle_read() returned. */
RLOCK_API void rlock_handle_free(struct rlock_handle *handle);

/* Makes a lock that is held as the handle says, without contacting a server: the next renewal,
 * check or release finds out whether that is still true. The handle may have been changed, such as
 * its lease, or filled in by you; without ids the lock can only be checked.
 * RLOCK_INVALID. RLOCK_SYSTEM: no memory, no random bytes. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_lock_resume(rlock_lock **out, rlock_client *client,
                                                          const struct rlock_handle *handle);

/* --- counts: latches and semaphores, changed without being held ------------------------------- */

struct rlock_count {
    size_t size;
    const char *name;
    int64_t number; /* 1 to RLOCK_PERMITS_MAX */
    int64_t deadline_ms;
    int cancel_fd; /* as in rlock_wait */
};
#define RLOCK_COUNT_INIT                                                                           \
    { sizeof(struct rlock_count), NULL, 1, RLOCK_FOREVER, -1 }

/* Each of these is sent until it is answered or the deadline has come, and carried out only once.
 * RLOCK_WRONG_KIND, RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_INVALID, RLOCK_SYSTEM.
 */

/* Sets a latch that does not exist. RLOCK_BUSY: it exists, and stays as it is.
 * left: its count now. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_latch_set(rlock_client *client, const struct rlock_count *count, int64_t *left);

/* Counts a latch down by number; at zero it is open and gone. 0: only looks at it.
 * left: its count now. RLOCK_LOST: it does not exist, which counts as open. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_latch_down(rlock_client *client, const struct rlock_count *count, int64_t *left);

/* Sets how many permits a semaphore has in all, whether it exists or not.
 * in_use: how many are taken, which may be more than there are now. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_sem_resize(rlock_client *client, const struct rlock_count *count, int64_t *in_use);

/* --- time, texts, version: any thread --------------------------------------------------------- */

/* Now, on CLOCK_BOOTTIME. */
RLOCK_API int64_t rlock_now_ms(void);

/* The allowance for clocks that run at different speeds: 1 % of the lease + 2 ms. */
RLOCK_API int64_t rlock_drift_ms(int64_t lease_ms);

/* What is wrong with a lock's name, and what would be right; NULL: nothing. A name has 1 to
 * RLOCK_NAME_MAX bytes and no control characters. Refused are also the names of other keys, which
 * begin with rlock_ or redisson_, and those that are exactly {...}: Redisson keeps {x} in the same
 * keys as x. */
RLOCK_API const char *rlock_name_fault(const char *name);

/* The status in words, without a full stop. */
RLOCK_API const char *rlock_status_text(enum rlock_status status);

/* "MAJOR.MINOR.PATCH" of the library that is loaded. */
RLOCK_API const char *rlock_version(void);

#ifdef __cplusplus
}
#endif
#endif
