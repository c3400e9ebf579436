/* rlock_admin.h: the part of librlock that inspects the locks of others, finds them, breaks them,
 * and probes servers: what `rlock status`, `rlock break` and `rlock doctor` are built on.
 *
 * Unstable: these functions and structures may change in any version, without another soname. What
 * rlock.h says about ownership, errors, threads, time and versions applies here, too. */
#ifndef RLOCK_ADMIN_H
#define RLOCK_ADMIN_H

#include "rlock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- inspecting a name, without touching it --------------------------------------------------- */

/* A holder. Unknown texts are NULL, unknown numbers -1. The texts come from other programs, and may
 * contain anything but '\0'. */
struct rlock_view_holder {
    const char *owner; /* of a permit that was not taken by rlock: its id, in hexadecimal */
    const char *host, *user, *command;
    int64_t pid;
    int64_t since_ms; /* since 1970, by the server's clock */
    int64_t ttl_ms;   /* of the longest of its holds; -1: without end, or unknown */
    int64_t holds;    /* how many times it has taken the lock: locks are reentrant */
    int64_t token;
    int64_t permits; /* sem; else -1 */
    bool writes;     /* write: it is the writer */
    bool kept;       /* it was given back, and stays taken until ttl_ms is over: nobody holds it */
    const char *note;
    bool preemptible; /* it ends when a waiter asks it to */
    bool no_command;  /* nothing runs under it: `command` is what took it, as `rlock acquire` */
};

struct rlock_view_waiter {
    const char *owner, *host;
    int64_t pid, position; /* from 1 */
    int64_t since_ms;      /* when it took its place, since 1970, by the server's clock */
    const char *user, *command, *note; /* NULL: unknown, or none */
    const char *any; /* of a pool's waiter: "1 of dev1, dev2"; NULL: it waits for this name alone */
    int64_t priority; /* fair; else 0 */
};

/* The last run with once_per_ms or once_key that has ended. Unknown texts are NULL, unknown numbers
 * -1. */
struct rlock_view_run {
    const char *host, *user, *command;
    int64_t pid;
    int64_t exit_status;
    int64_t took_ms;
    int64_t ended_ms;     /* since 1970, by the server's clock */
    int64_t succeeded_ms; /* the same of the last run that succeeded: this one or one before it */
    const char *key;      /* of the last one that succeeded with a once_key; NULL: none */
};

/* One server's view of one name. Holders with an expired lease are left out. */
typedef struct rlock_view {
    const char *name;
    const char *kind; /* "run", "fair", "read", "write", "sem", "latch", as far as the keys show it:
                         a fair lock without waiters is a "run"; NULL: it is free, and nothing shows
                         what it was */
    const char *server;    /* its URL, without a password */
    bool held;             /* a latch: not open; a semaphore: a permit is taken, or none is left */
    int64_t as_of_ms;      /* when the server said this, since 1970, by its own clock */
    int64_t since_ms;      /* of the newest holder, or else waiter; -1: unknown */
    int64_t token;         /* the last one given out; -1: there has been none */
    int64_t permits_total; /* sem; else -1 */
    int64_t permits_available; /* sem: negative if more are taken than there are; else INT64_MIN */
    int64_t count;             /* latch; else -1 */
    bool may_be_sem; /* a "latch" that may also be a semaphore which only Redisson's clients use */
    const struct rlock_view_holder *holders; /* the newest first */
    size_t holder_count;
    const struct rlock_view_waiter *waiters; /* in the order in which they will get it */
    size_t waiter_count;
    const struct rlock_view_run *last_run; /* NULL: none is known */
    int64_t skips; /* so often in a row rlock_skip() has counted that it was not acquired */
} rlock_view;

struct rlock_inspect_options {
    size_t size;
    const char *name;
    size_t server;       /* which of the client's, from 0 */
    int64_t deadline_ms; /* of the first page; each further one may take as long */
    int cancel_fd;       /* as in rlock_wait */
    bool only_held; /* whether it is held, and one of the holders, is enough: of many holders and
                       waiters not all are asked for */
};
#define RLOCK_INSPECT_OPTIONS_INIT                                                                 \
    { sizeof(struct rlock_inspect_options), NULL, 0, RLOCK_FOREVER, -1, false }

/* Inspects a name, whatever its kind. Writes nothing, and does not block the server: it asks in
 * pages of about a millisecond each. A text is cut to 4,096 bytes; a holder or waiter with more
 * than 256 KiB of texts is shown without them. out: yours to free. RLOCK_WRONG_KIND: the name is
 * taken by a key that is no lock. RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_INVALID,
 * RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_inspect(rlock_client *client, const struct rlock_inspect_options *options, rlock_view **out);

/* Inspects several names, many in one round trip; options->name is ignored.
 * views, statuses: for each name what rlock_inspect() stores and returns; the views are yours to
 * free, whatever this returns. deadline_ms: of the first pages.
 * RLOCK_OK: all have been asked about. RLOCK_INVALID, RLOCK_SYSTEM: not all. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_inspect_all(rlock_client *client, const struct rlock_inspect_options *options,
                  const char *const *names, size_t count, rlock_view **views,
                  enum rlock_status *statuses);

RLOCK_API void rlock_view_free(rlock_view *view);

/* --- hearing of a lock that others hold, without standing in line ----------------------------- */

/* A subscription to what is published about one lock. It uses the client until it is freed. */
typedef struct rlock_subscription rlock_subscription;

/* Subscribes. owner: NULL: to each release of the lock; inspect it afterwards, for it may have been
 * given back before. Else, before the lock is broken, to that holder's word that what ran under it
 * has stopped: rlock_say_stopped(). kind: as in a view.
 * out: yours to free, whatever is returned. RLOCK_OK. RLOCK_UNAVAILABLE, RLOCK_DENIED,
 * RLOCK_CANCELLED, RLOCK_INVALID, RLOCK_SYSTEM: nothing will be heard. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_subscription_new(rlock_subscription **out, rlock_client *client, const char *name,
                       const char *kind, const char *owner, int64_t deadline_ms, int cancel_fd);

/* Waits for the next message. RLOCK_OK: it was received. RLOCK_BUSY: not by until_ms.
 * RLOCK_UNAVAILABLE: the connection is gone: begin anew. RLOCK_CANCELLED. The end of a lease, or of
 * the server's data, is told by nobody. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_subscription_wait(rlock_subscription *subscription,
                                                                int64_t until_ms, int cancel_fd);
RLOCK_API void rlock_subscription_free(rlock_subscription *subscription);

/* --- finding all locks ------------------------------------------------------------------------ */

/* A search for all locks on one of the client's servers: in a cluster on all of its nodes, with
 * Sentinels on the master. It may miss locks that come or go meanwhile. */
typedef struct rlock_scan rlock_scan;

/* Begins a search, without contacting the server. It uses the client until it is freed.
 * server: which of the client's, from 0. RLOCK_INVALID, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_scan_new(rlock_scan **out, rlock_client *client,
                                                       size_t server);
RLOCK_API void rlock_scan_free(rlock_scan *scan);

/* Looks at a thousand keys, with plain commands: none blocks the server for a millisecond.
 * RLOCK_AGAIN: there are more; call it again. RLOCK_OK: the search is complete. Else as
 * rlock_inspect(); RLOCK_UNAVAILABLE in a cluster of which a node does not answer, after all other
 * nodes were searched: what they have is known. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_scan_step(rlock_scan *scan, int64_t deadline_ms,
                                                        int cancel_fd);

/* How many keys it has looked at. */
RLOCK_API int64_t rlock_scan_looked(const rlock_scan *scan);

/* After the last step: the i-th name, from 0, of those that may be locks, sorted by their bytes;
 * NULL past the last. rlock_inspect() tells whether it is one. */
RLOCK_API const char *rlock_scan_name(const rlock_scan *scan, size_t i);

/* --- breaking: taking a lock away from its holders -------------------------------------------- */

struct rlock_break_options {
    size_t size;
    const char *name;
    const char *kind;          /* as in a view */
    const char *const *owners; /* only their holds are broken */
    size_t owner_count;
    int64_t deadline_ms; /* of each server's first answer; each further one may take as long */
    int cancel_fd;       /* as in rlock_wait */
    const char *by;      /* the user that breaks it, for the message that its holders print, up to
                            RLOCK_TEXT_MAX bytes; NULL: none */
    bool *broken;        /* receives for each owner whether it held it and does not any more, also
                            where not all could be broken; NULL: that is not asked */
};
#define RLOCK_BREAK_OPTIONS_INIT                                                                   \
    { sizeof(struct rlock_break_options), NULL, NULL, NULL, 0, RLOCK_FOREVER, -1, NULL, NULL }

/* Takes all holds of these owners away, on all servers, and wakes the waiters. The owners find out
 * at once if they listen, as a keeper does, or at their next renewal.
 * broken: how many of the owners held it, and do not any more: on no majority. RLOCK_OK: all that
 * held it. RLOCK_LOST: none of them did. RLOCK_INVALID: a latch, which nobody holds.
 * RLOCK_WRONG_KIND, RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_break(rlock_client *client, const struct rlock_break_options *options, int64_t *broken);

/* When a lock is broken, its holder stops what runs under it. This publishes, for the holder, that
 * it has stopped, to rlock_break:*, if it has the right to; rlock_subscription_new() subscribes to
 * that. deadline_ms: until when to try. */
RLOCK_API void rlock_say_stopped(rlock_lock *lock, int64_t deadline_ms);

/* --- probing: what servers are like ----------------------------------------------------------- */

/* The results: for each server, or master of a cluster, texts by name. */
typedef struct rlock_facts rlock_facts;

struct rlock_probe_options {
    size_t size;
    const char *name;    /* what the lock's name begins with: a user may have no rights to others */
    int64_t deadline_ms; /* RLOCK_FOREVER: the client's timeouts are enough */
    int cancel_fd;       /* as in rlock_wait */
};
#define RLOCK_PROBE_OPTIONS_INIT                                                                   \
    { sizeof(struct rlock_probe_options), "", RLOCK_FOREVER, -1 }

/* Asks a client's only server about everything that makes locks unsafe or slow, and takes and gives
 * back a lock under a name of its own, which leaves nothing behind. What the server does not
 * reveal, or not to this user, is neither a fact nor an error.
 * out: yours to free, whatever is returned. RLOCK_OK: at least one server has answered.
 * RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_INVALID, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status
rlock_probe(rlock_client *client, const struct rlock_probe_options *options, rlock_facts **out);

/* How many servers, or masters of a cluster, there are facts about. */
RLOCK_API size_t rlock_facts_servers(const rlock_facts *facts);

/* A fact about one of them; NULL: unknown. Its name is one of these:
 *     a field of INFO or CLUSTER INFO, such as "redis_version"
 *     "config." and a parameter of the configuration; "refused." and a command: why what it says is
 *         unknown, in words
 *     "sentinel.known", "sentinel.down_after_ms", as SENTINEL MASTER has them; "sentinel.ckquorum"
 *         ("OK", or why not); "sentinel.given", "answered", "missing" or "silent": those in the URL
 *     "slowlog.slowest_ms", "slowlog.command"
 *     "rights." and a kind: the rules that the user lacks, as ACL SETUSER takes them;
 *         "rights.refused": why they are unknown; "rights.names": "limited", if a lock of any name
 *         is out of the user's reach; "scripts.error": why no script runs
 *     "probe.server"; "probe.error": why it has not answered; "probe.rtt_us"; "probe.clock_off_ms"
 *         and "probe.clock_side"; "probe.version": 60016 for 6.0.16; "probe.memory_percent",
 *         "probe.clients_percent", "probe.slots_missing"; "probe.open": "yes", if it serves clients
 *         without a password, at "probe.host"; "probe.wait": "yes" or "no", whether it has WAIT;
 *         "probe.wait_denied": why this user may not use it; "probe.cycle_us",
 *         "probe.cycle_error", or "probe.cycle_denied": what this user may not do */
RLOCK_API const char *rlock_fact(const rlock_facts *facts, size_t server, const char *name);

/* A fact that is a whole number. False: it is none, or unknown, and *out stays as it is. */
RLOCK_API bool rlock_fact_number(const rlock_facts *facts, size_t server, const char *name,
                                 int64_t *out);

RLOCK_API void rlock_facts_free(rlock_facts *facts);

#ifdef __cplusplus
}
#endif
#endif
