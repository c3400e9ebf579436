/* rlock_base.h: what the headers of librlock share: statuses, limits, TLS, time, version. */
#ifndef RLOCK_BASE_H
#define RLOCK_BASE_H

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

/* Beyond these limits: RLOCK_INVALID, before anything is sent. Any point in time is valid. */
#define RLOCK_LEASE_MIN_MS       100
#define RLOCK_FSYNC_LEASE_MIN_MS 6000 /* of a client with fsync */
#define RLOCK_LEASE_MAX_MS       (INT64_C(7) * 24 * 60 * 60 * 1000)
#define RLOCK_TIME_MAX_MS        (INT64_C(36525) * 24 * 60 * 60 * 1000) /* 100 years: other durations */
#define RLOCK_NAME_MAX           512                                    /* bytes */
#define RLOCK_NAMES_MAX          10000                                  /* of one lock */
#define RLOCK_TEXT_MAX           1024 /* bytes: user, command, note */
#define RLOCK_PERMITS_MAX        1000000000
#define RLOCK_TAKE_MAX           10000 /* permits at once: each has a lease of its own */
#define RLOCK_PRIORITY_MAX       1000
#define RLOCK_SERVERS_MAX        15
#define RLOCK_CLUSTER_POOL_MAX   64 /* names of which any may be taken in a cluster */
#define RLOCK_REPLICAS_MAX       100
#define RLOCK_LEASE_DEFAULT_MS   30000
#define RLOCK_REPLICAS_AUTO      (-1)

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
    X(REFUSED, "it can never succeed")                                                             \
    X(OUSTED, "superseded by a later waiter")                                                      \
    X(SYSTEM, "the system refused")                                                                \
    X(DONE, "a run has succeeded already")

enum rlock_status {
#define RLOCK_STATUS_ENUM(name, text) RLOCK_##name,
    RLOCK_STATUS_MAP(RLOCK_STATUS_ENUM)
#undef RLOCK_STATUS_ENUM
};

/* For URLs that ask for TLS, such as rediss://. Files are PEM. */
struct rlock_tls_options {
    size_t size;
    const char *ca;   /* the authorities to trust; NULL: the system's */
    const char *cert; /* the client's certificate and its chain; NULL: none */
    const char *key;  /* the key of that certificate; NULL: none */
    const char *name; /* the name in the server's certificate; NULL: the URL's host */
    bool insecure;    /* do not verify the server's certificate */
};
#define RLOCK_TLS_OPTIONS_INIT                                                                     \
    { sizeof(struct rlock_tls_options), NULL, NULL, NULL, NULL, false }

/* All of these: from any thread. */

/* Now, on CLOCK_BOOTTIME, which, like the server's clock, goes on while the machine is suspended.
 */
RLOCK_API int64_t rlock_now_ms(void);

/* The allowance for clocks that run at different speeds: 1 % of the lease + 2 ms. */
RLOCK_API int64_t rlock_drift_ms(int64_t lease_ms);

/* What is wrong with a lock's name, and what would be right; NULL: nothing. Names of rlock's and
 * Redisson's other keys (rlock_..., redisson_...) are refused, and those that are exactly {...}:
 * Redisson keeps {x} in the same keys as x. */
RLOCK_API const char *rlock_name_fault(const char *name);

/* The status in words, without a full stop. */
RLOCK_API const char *rlock_status_text(enum rlock_status status);

/* "MAJOR.MINOR.PATCH" of the library that is loaded. */
RLOCK_API const char *rlock_version(void);

#ifdef __cplusplus
}
#endif
#endif
