/* rlock_admin.h: the part of librlock that looks at locks, finds, breaks and probes: what `rlock
 * status`, `rlock break` and `rlock doctor` are made of.
 *
 * Unstable: these functions and structures may change in any version, without another soname. What
 * rlock.h says of ownership, threads and time applies. */
#ifndef RLOCK_ADMIN_H
#define RLOCK_ADMIN_H

#include "rlock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- looking, without touching ---------------------------------------------------------------- */

/* One that holds a lock. Unknown text is NULL, unknown numbers -1. Text of strangers: it may be
 * anything but '\0'. */
struct rlock_view_holder {
    const char *owner; /* of a permit that is not rlock's: its id, in hexadecimal */
    const char *host, *user, *command;
    int64_t pid;
    int64_t since_ms; /* since 1970, by the server's clock */
    int64_t ttl_ms;   /* of the longest of its holds; -1: without end, or unknown */
    int64_t holds;    /* how often it has taken it: nested */
    int64_t token;
    int64_t permits; /* sem; else -1 */
    bool writes;     /* write: it is the writer */
    bool kept;       /* it was given back, to be kept a while: nobody's, until ttl_ms is over */
};

struct rlock_view_waiter {
    const char *owner, *host;
    int64_t pid, position;      /* from 1 */
    int64_t since_ms;           /* how long it stands in that line, as since_ms above */
    const char *user, *command; /* known of "fair" */
};

/* What one server says of one name. Those whose lease is over are not among the holders. */
typedef struct rlock_view {
    const char *name;
    const char *kind; /* "run", "fair", "read", "write", "sem", "latch", as far as the keys show it:
                         a "fair" one that nobody waits for is a "run"; NULL: free, and nothing says
                         what it was */
    const char *server;    /* its URL, without a password */
    bool held;             /* a latch: not open; a semaphore: a permit is taken, or none is left */
    int64_t as_of_ms;      /* when the server said so, by its own clock, since 1970 */
    int64_t since_ms;      /* of the newest holder, or else waiter; -1: unknown */
    int64_t token;         /* the last that was given out; -1: none ever was */
    int64_t permits_total; /* sem; else -1 */
    int64_t permits_available; /* sem, less than 0 where more are taken than there are; else
                                  INT64_MIN */
    int64_t count;             /* latch; else -1 */
    bool may_be_sem; /* a "latch" that may as well be a semaphore which only Redisson's clients use
                      */
    const struct rlock_view_holder *holders; /* the newest first */
    size_t holder_count;
    const struct rlock_view_waiter *waiters; /* in the order in which they are let in */
    size_t waiter_count;
} rlock_view;

struct rlock_look_at {
    size_t size;
    const char *name;
    size_t server; /* which of the client's, from 0 */
    int64_t deadline_ms;
    int cancel_fd; /* -1: none */
};
#define RLOCK_LOOK_AT_INIT                                                                         \
    { sizeof(struct rlock_look_at), NULL, 0, RLOCK_FOREVER, -1 }

/* Looks at a name, whatever its kind. Writes nothing on the server.
 * RLOCK_OK: *out is yours to free. RLOCK_WRONG_KIND: a key that is no lock stands there.
 * RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_INVALID, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_look(rlock_client *client, const struct rlock_look_at *look, rlock_view **out);

RLOCK_API void rlock_view_free(rlock_view *view);

/* The search for all locks that stand on one of the client's servers; of a cluster on all its
 * nodes, of Sentinels' on the master. What comes and goes meanwhile may be found, or not. */
typedef struct rlock_scan rlock_scan;

/* No I/O. Keeps the client. RLOCK_INVALID, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_scan_new(rlock_scan **out, rlock_client *client,
                                                       size_t server);
RLOCK_API void rlock_scan_free(rlock_scan *scan);

/* Looks through a few hundred keys; the server is busy with it for about a millisecond.
 * RLOCK_AGAIN: there are more, call again. RLOCK_OK: that was all. Else as rlock_look(). */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_scan_step(rlock_scan *scan, int64_t deadline_ms,
                                                        int cancel_fd);

/* Through how many keys it has looked. */
RLOCK_API int64_t rlock_scan_looked(const rlock_scan *scan);

/* After the last step: the names that may be locks, each once, in byte order; NULL past the last.
 * rlock_look() tells whether they are: a number counts, or somebody holds it, or waits. */
RLOCK_API const char *rlock_scan_name(const rlock_scan *scan, size_t i);

/* --- breaking: taking a lock away from its holders ------------------------------------------- */

struct rlock_break_options {
    size_t size;
    const char *name;
    const char *kind; /* as a view tells it */
    /* Whose holds: those who were seen to hold it. Whoever holds it by now, others are not touched.
     */
    const char *const *owners;
    size_t owner_count;
    int64_t deadline_ms; /* of each server */
    int cancel_fd;       /* -1: none */
    const char *by;      /* who does it: their rlocks say so; NULL: nobody in particular */
};
#define RLOCK_BREAK_OPTIONS_INIT                                                                   \
    { sizeof(struct rlock_break_options), NULL, NULL, NULL, 0, RLOCK_FOREVER, -1, NULL }

/* Takes all holds of these owners away, on all servers, and wakes who waits. They find out at once
 * where they listen, as a keeper does, else at their next renewal.
 * RLOCK_OK: they hold it no more, on no majority; *broken: how many of them did. RLOCK_LOST: none
 * of them did. RLOCK_INVALID: a latch, which nobody holds. RLOCK_WRONG_KIND, RLOCK_UNAVAILABLE,
 * RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_break(rlock_client *client, const struct rlock_break_options *options, int64_t *broken);

/* --- probing: what servers are like ---------------------------------------------------------- */

/* What was found out: of each server, or master of a cluster, texts by their names. */
typedef struct rlock_facts rlock_facts;

struct rlock_probe_options {
    size_t size;
    const char *name; /* with what the names of locks begin: a user may have rights to these only */
    int64_t deadline_ms; /* RLOCK_FOREVER: the client's time-outs are enough */
    int cancel_fd;       /* -1: none */
};
#define RLOCK_PROBE_OPTIONS_INIT                                                                   \
    { sizeof(struct rlock_probe_options), "", RLOCK_FOREVER, -1 }

/* Asks a client's one server for all that makes locks unsafe or slow; takes and gives back a lock
 * of a name of its own, of which nothing stays. What a server does not say, or not to this user, is
 * no fact; nor is it an error. RLOCK_OK: one has answered at least. Else rlock_error() says why.
 * Free *out in any case. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_probe(rlock_client *client, const struct rlock_probe_options *options, rlock_facts **out);

/* How many servers there are facts about. */
RLOCK_API size_t rlock_facts_servers(const rlock_facts *facts);

/* A fact about one of them; NULL: unknown. Borrowed. Its name is a field of INFO or CLUSTER INFO
 * ("redis_version"), "config." and a parameter, "sentinel." and a field of SENTINEL MASTER,
 * "ckquorum"
 * ("OK", or why not), "given", "answered" or "silent"; "slowlog.slowest_us", "slowlog.command";
 * "rights." and a kind: the rules that are missing for it, as ACL SETUSER takes them;
 * "rights.refused": why that can't be told; "probe.server", "probe.error" (it has not answered),
 * "probe.rtt_us", "probe.clock_ms" (how much its clock is ahead), "probe.cycle_us" or
 * "probe.cycle_error". */
RLOCK_API const char *rlock_fact(const rlock_facts *facts, size_t server, const char *name);

RLOCK_API void rlock_facts_free(rlock_facts *facts);

#ifdef __cplusplus
}
#endif
#endif
