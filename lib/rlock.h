/* rlock.h: the public interface of librlock, distributed locks on Redis: what a program needs to
 * hold locks. rlock_admin.h has what sees and changes locks that one does not hold.
 *
 * The library never prints, exits, forks, or touches signals and their masks.
 *
 * Ownership: out-parameters are yours to free, returned pointers are borrowed and live as long as
 * the object they came from. Every free takes NULL.
 * Threads: a client and its locks belong to one thread at a time; different clients are
 * independent. A keeper is its own thread and uses its own connection.
 * Time: all times are milliseconds. Instants ("_ms" fields named deadline, until, end) are on
 * CLOCK_BOOTTIME, as rlock_now_ms() reads it: that clock goes on while the machine sleeps, as the
 * server's does. RLOCK_FOREVER means no limit.
 * Versions: a structure that a program fills in begins with its size: start from its _INIT, or with
 * {.size = sizeof options, ...}, where what is not named is zero. Such a structure grows at its
 * end, and what is new is zero for what was before: so a program may be older than the library, or
 * newer as long as it uses nothing that the library does not know (RLOCK_INVALID). Structures that
 * the library returns grow at their end, too. The elements of arrays, rlock_proof and
 * rlock_handle_hold, never grow.
 */
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

#define RLOCK_LEASE_MIN_MS     100
#define RLOCK_LEASE_MAX_MS     (INT64_C(7) * 24 * 60 * 60 * 1000)
#define RLOCK_LEASE_DEFAULT_MS 30000
#define RLOCK_NAME_MAX         512
#define RLOCK_PERMITS_MAX      1000000000
#define RLOCK_TAKE_MAX         10000 /* at once: each has a lease of its own */
#define RLOCK_SERVERS_MAX      15    /* of a quorum */
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
    X(SYSTEM, "the system refused")

enum rlock_status {
#define RLOCK_STATUS_ENUM(name, text) RLOCK_##name,
    RLOCK_STATUS_MAP(RLOCK_STATUS_ENUM)
#undef RLOCK_STATUS_ENUM
};

typedef struct rlock_client rlock_client;
typedef struct rlock_lock rlock_lock;
typedef struct rlock_keeper rlock_keeper;

/* --- the client: one server, or several ------------------------------------------------------ */

/* How servers are reached whose URL asks for TLS: rediss:// and the others with an s. Files are
 * PEM. A certificate that does not verify is RLOCK_DENIED. */
struct rlock_tls_options {
    size_t size;
    const char *ca;   /* the authorities that are trusted; NULL: the system's */
    const char *cert; /* ours, for a server that wants one, and its chain; NULL: none */
    const char *key;  /* its key; NULL: none */
    const char *name; /* whose the server's certificate must be; NULL: the URL's host */
    bool insecure;    /* take any certificate: whoever stands in between reads and writes along */
};
#define RLOCK_TLS_OPTIONS_INIT                                                                     \
    { sizeof(struct rlock_tls_options), NULL, NULL, NULL, NULL, false }

struct rlock_client_options {
    size_t size;
    /* URLs: redis://[user[:password]@]host[:port][/db] or unix:///path[?db=N]. Several, at most
     * RLOCK_SERVERS_MAX: one lock on a majority of them. */
    const char *const *servers;
    size_t server_count;
    const char *password;       /* used when the URL has none; NULL: none */
    int64_t connect_timeout_ms; /* for reaching it: look-up, connection, log-in, first answer */
    int64_t io_timeout_ms;      /* for one reply */
    int replicas; /* how many must acknowledge a hold and each renewal; RLOCK_REPLICAS_AUTO: behind
                     Sentinels all that could become the master, in a cluster 1 where one is known
                   */
    int64_t replica_timeout_ms;
    const struct rlock_tls_options *tls; /* NULL: as RLOCK_TLS_OPTIONS_INIT */
};
#define RLOCK_CLIENT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(struct rlock_client_options), NULL, 0, NULL, 5000, 5000, RLOCK_REPLICAS_AUTO, 1000, \
            NULL                                                                                   \
    }

/* Makes a client. Reads the URLs; connects on first use only. Copies all it is given.
 * out: set on RLOCK_OK, and on RLOCK_INVALID too, so that rlock_error() can say what is wrong with
 * the URL; free it in both cases. RLOCK_SYSTEM: no memory (*out is NULL). */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_client_new(rlock_client **out, const struct rlock_client_options *options);

/* Closes the connection and frees the client. Its locks and keepers must be gone. */
RLOCK_API void rlock_client_free(rlock_client *client);

/* The server as a URL without its password: for messages and for child processes. Borrowed. */
RLOCK_API const char *rlock_client_server(const rlock_client *client);

/* The i-th of several servers, in the order of the options; NULL past the last. Borrowed. */
RLOCK_API const char *rlock_client_server_at(const rlock_client *client, size_t i);

/* What went wrong last on this client, one line without a full stop, never with a password.
 * Borrowed until the next call on the client. */
RLOCK_API const char *rlock_error(const rlock_client *client);

/* --- the lock: one or several names, taken and given back together --------------------------- */

/* Proof that an enclosing process holds a lock: what it handed down. A lock on the same name
 * re-enters that hold if the server still knows owner and token together. */
struct rlock_proof {
    const char *name;
    const char *owner;
    int64_t token;
};

struct rlock_lock_options {
    size_t size;
    const char *kind;         /* "run", "fair", "read", "write", "sem", "plain" (a semaphore without
                                 leases) or "latch" (held when it is open; nothing is given back) */
    const char *variant;      /* "supersede" (fair), "prefer-readers" (write), "must-exist" (latch);
                                 NULL: none */
    int64_t permits;          /* sem, plain: how many to take, 1 to RLOCK_TAKE_MAX; 0 counts as 1 */
    int64_t permits_total;    /* sem, plain: how many there are; 0: as it was set up */
    const char *const *names; /* 1 to 512 bytes each, without control characters */
    size_t name_count;        /* at least 1; doubles count once */
    int64_t lease_ms;         /* RLOCK_LEASE_MIN_MS to RLOCK_LEASE_MAX_MS */
    const char *user;         /* shown to those who wait; may be NULL */
    const char *command;      /* shown to those who wait; may be NULL */
    const struct rlock_proof *proofs;
    size_t proof_count;
};
#define RLOCK_LOCK_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(struct rlock_lock_options), "run", NULL, 0, 0, NULL, 0, RLOCK_LEASE_DEFAULT_MS,     \
            NULL, NULL, NULL, 0                                                                    \
    }

/* What is held: borrowed text, valid until the lock is freed. */
struct rlock_hold {
    const char *name;
    const char *owner; /* "UUID:PID@HOST" */
    int64_t token; /* the fencing token: grows with each new holder (Kleppmann 2016); 0: a latch */
};

/* Who stands in the way: what the server said at the last try. Unknown text is "", unknown numbers
 * 0. */
struct rlock_holder {
    const char *name; /* the lock that is busy */
    const char *owner;
    const char *host;
    const char *user;
    const char *command;
    int64_t pid;
    int64_t held_ms;  /* for how long, by the server's clock */
    int64_t as_of_ms; /* when the server said all this, about a minute ago at most */
    int64_t position; /* our place among those who wait, from 1; 0: not waiting yet */
    int64_t waiting;  /* how many wait, as far as is known; of a latch: the count */
    bool kept;        /* it was given back, to be kept a while: see rlock_release() */
};

/* Makes a lock. No I/O. Copies all it is given; keeps the client.
 * RLOCK_INVALID: rlock_error(client) says what. RLOCK_SYSTEM: no memory, no random bytes. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_lock_new(rlock_lock **out, rlock_client *client,
                                                       const struct rlock_lock_options *options);

/* Frees the memory. Does not give the lock back: rlock_release() or rlock_withdraw() does. */
RLOCK_API void rlock_lock_free(rlock_lock *lock);

struct rlock_wait {
    size_t size;
    int64_t deadline_ms; /* give up then; 0: do not wait; RLOCK_FOREVER */
    int64_t until_ms;    /* return RLOCK_AGAIN then, to be called again */
    int cancel_fd;       /* return RLOCK_CANCELLED when this can be read; -1: none */
};
#define RLOCK_WAIT_INIT                                                                            \
    { sizeof(struct rlock_wait), RLOCK_FOREVER, RLOCK_FOREVER, -1 }

/* Takes the lock, or waits for it.
 * RLOCK_OK: held, and its lease not yet over. RLOCK_AGAIN: until_ms has come; the place among the
 * waiters is kept; call again or withdraw. RLOCK_BUSY: the deadline has come and the last answer
 * was "held by others". RLOCK_UNAVAILABLE: the server could not be reached, or the deadline came
 * without such an answer. RLOCK_REFUSED: it could never succeed, as reading that would become
 * writing, or another number of permits; rlock_error() says why. RLOCK_OUSTED: a later waiter with
 * "supersede". RLOCK_WRONG_KIND, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_SYSTEM.
 * After all but RLOCK_OK and RLOCK_AGAIN nothing is held and no place is kept, as far as the
 * server can be told so within half a second. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_acquire(rlock_lock *lock,
                                                      const struct rlock_wait *wait);

/* Which of the names the last rlock_acquire(), or what failed of a renewal, a check or a release,
 * got stuck at: what a message is about. The first, when it was none of them in particular.
 * Borrowed from the lock. */
RLOCK_API const char *rlock_stuck_at(const rlock_lock *lock);

/* Leaves the queue after RLOCK_AGAIN, and gives back what an attempt without an answer may have
 * taken. Tries for half a second at most. */
RLOCK_API void rlock_withdraw(rlock_lock *lock);

/* True when an attempt that had no answer may have left the lock held until its lease ends. */
RLOCK_API bool rlock_in_doubt(const rlock_lock *lock);

/* Renews the lease once, on the client's own connection. RLOCK_LOST: not ours any more. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_renew(rlock_lock *lock);

/* Gives the lock back. keep_ms > 0: instead leave it held for that long, without an owner.
 * deadline_ms: how long to try when the server does not answer.
 * RLOCK_LOST: it was not ours any more (someone broke it, or it expired). RLOCK_UNAVAILABLE: not
 * confirmed; the lock ends with its lease. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_release(rlock_lock *lock, int64_t keep_ms,
                                                      int64_t deadline_ms);

/* Until when the lock is surely held: the last confirmed lease, counted from before its request was
 * sent, less the drift allowance. Any thread. */
RLOCK_API int64_t rlock_lease_end_ms(const rlock_lock *lock);

/* The i-th hold in canonical (byte) order; NULL past the last. Valid while held. */
RLOCK_API const struct rlock_hold *rlock_hold_at(const rlock_lock *lock, size_t i);

/* Who held the lock at the last try that found it busy; NULL: unknown. Until the next call. */
RLOCK_API const struct rlock_holder *rlock_blocker(const rlock_lock *lock);

/* --- handles: a lock that is held, written down ----------------------------------------------- */

struct rlock_handle_hold {
    const char *name, *owner;
    const char *id; /* of the hold; NULL or "": unknown, the lock can only be checked */
    int64_t token;
};

/* All that it takes to renew, check and give back a lock, from any process on any machine. */
struct rlock_handle {
    size_t size;
    const char *kind;    /* as in rlock_lock_options */
    const char *servers; /* without passwords, parted by spaces; NULL: whatever the client's are */
    const char *owner;   /* as whom it was taken; a hold that was re-entered has another */
    int64_t lease_ms;
    int64_t permits;
    const struct rlock_handle_hold *holds;
    size_t hold_count;
};
#define RLOCK_HANDLE_INIT                                                                          \
    { sizeof(struct rlock_handle), NULL, NULL, NULL, RLOCK_LEASE_DEFAULT_MS, 1, NULL, 0 }

/* Writes a lock that is held as one word of letters, digits, '-', '_' and '.', with no password in
 * it. Whoever has the word can give the lock back.
 * out: yours to free(). servers: NULL: as the client tells them.
 * RLOCK_INVALID: it is not held, or its kind has no lease. RLOCK_SYSTEM: no memory. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_handle_write(char **out, const rlock_lock *lock,
                                                           const char *servers);

/* Reads it. RLOCK_INVALID: it is none, or was cut off or changed. RLOCK_SYSTEM: no memory. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_handle_read(struct rlock_handle **out,
                                                          const char *text);

/* Only what rlock_handle_read() has made. */
RLOCK_API void rlock_handle_free(struct rlock_handle *handle);

/* Makes a lock that is held, as the handle tells. No I/O: whether that is still so the next
 * renewal, check or release finds. Copies all it is given; keeps the client. The handle may be
 * changed before, as to its lease. One that the caller fills in with what a command was handed
 * down, without ids, makes a lock for rlock_check() only. RLOCK_INVALID: rlock_error(client) says
 * what. RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_lock_resume(rlock_lock **out, rlock_client *client,
                                                          const struct rlock_handle *handle);

/* Asks whether it is still held, once, and changes nothing. RLOCK_OK: all of its names are.
 * ttl_ms: for how long still, by the server's clock; of several names the shortest; RLOCK_FOREVER:
 * permits without a lease. RLOCK_LOST: rlock_stuck_at() is not. RLOCK_UNAVAILABLE, RLOCK_DENIED,
 * RLOCK_SYSTEM; RLOCK_INVALID: its kind is not held. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_check(rlock_lock *lock, int64_t *ttl_ms);

/* --- the keeper: a thread that renews -------------------------------------------------------- */

struct rlock_keeper_options {
    size_t size;
    int64_t
        grace_ms; /* how long before the lease end a lease that can't be renewed counts as lost */
    int64_t *lease_end_ms; /* where each new lease end is published besides, NULL: nowhere. May lie
                              in memory shared with other processes: read it with an atomic load */
    bool reports;  /* each renewal is wanted by rlock_keeper_report(): costs a wake-up each time */
    bool troubles; /* those that fail are, and the first that succeeds after them */
};
#define RLOCK_KEEPER_OPTIONS_INIT                                                                  \
    { sizeof(struct rlock_keeper_options), 0, NULL, false, false }

/* What a renewal came to. */
struct rlock_renewal {
    enum rlock_status status; /* RLOCK_OK, or what it failed with: it is tried again */
    int64_t at_ms;
    int64_t lease_end_ms; /* as it was known then */
    char why[256];        /* it failed; as rlock_error() would say it */
};

/* When the first renewal is due: a third of the lease after it began. A keeper started by then is
 * early enough; one that is never started costs nothing. */
RLOCK_API int64_t rlock_renewal_due_ms(const rlock_lock *lock);

/* Starts the thread. It borrows the lock; do not acquire, renew, release or free it until the
 * keeper has stopped. RLOCK_SYSTEM: no thread, no memory. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_keeper_start(rlock_keeper **out, rlock_lock *lock,
                   const struct rlock_keeper_options *options);

/* Becomes readable when the lock is lost or can't be renewed in time. Borrowed: poll, do not read.
 */
RLOCK_API int rlock_keeper_fd(const rlock_keeper *keeper);

/* Becomes readable when there is a report to take; -1: none were asked for. Borrowed: poll only. */
RLOCK_API int rlock_keeper_report_fd(const rlock_keeper *keeper);

/* Takes the next report, oldest first. NULL: there is none. While nobody takes them some hundred
 * are kept. Borrowed until the next call. Any thread, one at a time. */
RLOCK_API const struct rlock_renewal *rlock_keeper_report(rlock_keeper *keeper);

/* Stops and joins the thread: no renewal is under way when this returns.
 * Frees the keeper. RLOCK_OK: the lease was sure all along; else RLOCK_LOST (the server said "not
 * yours"), RLOCK_UNAVAILABLE, RLOCK_DENIED…: why it could not be kept, told by rlock_error(client).
 * NULL: RLOCK_OK. */
RLOCK_API enum rlock_status rlock_keeper_stop(rlock_keeper *keeper);

/* --- counts: what is changed without being held ---------------------------------------------- */

/* Each is sent until it is answered, and carried out once, however often it was sent.
 * deadline_ms: when to stop trying; cancel_fd as in rlock_wait.
 * RLOCK_OK, RLOCK_WRONG_KIND, RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_INVALID (a
 * name or number out of its bounds), RLOCK_SYSTEM. */
struct rlock_count {
    size_t size;
    const char *name;
    int64_t number; /* 1 to RLOCK_PERMITS_MAX */
    int64_t deadline_ms;
    int cancel_fd; /* -1: none */
};
#define RLOCK_COUNT_INIT                                                                           \
    { sizeof(struct rlock_count), NULL, 1, RLOCK_FOREVER, -1 }

/* Sets a latch that is not there yet. RLOCK_BUSY: there is one, and stays as it is.
 * left: what it counts now. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_latch_set(rlock_client *client, const struct rlock_count *count, int64_t *left);

/* Counts a latch down by number, 0 only to look; at zero it is open and gone.
 * left: what it counts now. RLOCK_LOST: there is none, which counts as open. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_latch_down(rlock_client *client, const struct rlock_count *count, int64_t *left);

/* Changes how many permits a semaphore has in all; sets up one that is not there.
 * in_use: how many are taken, maybe more than there are now. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_sem_resize(rlock_client *client, const struct rlock_count *count, int64_t *in_use);

/* --- the rest -------------------------------------------------------------------------------- */

/* Now, on the clock that all instants here are told on (CLOCK_BOOTTIME), in milliseconds. */
RLOCK_API int64_t rlock_now_ms(void);

/* The allowance for clocks that run at different speeds: 1 % of the lease + 2 ms. */
RLOCK_API int64_t rlock_drift_ms(int64_t lease_ms);

RLOCK_API const char *rlock_status_text(enum rlock_status status);

/* "MAJOR.MINOR.PATCH" of the library that is loaded. */
RLOCK_API const char *rlock_version(void);

#ifdef __cplusplus
}
#endif
#endif
