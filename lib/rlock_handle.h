/* rlock_handle.h: a held lock in writing, for another process to renew, check and release. */
#ifndef RLOCK_HANDLE_H
#define RLOCK_HANDLE_H

#include "rlock.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    const char *owner;   /* the owner that took it; a hold that was re-entered has another */
    int64_t lease_ms;    /* of the next renewal */
    int64_t permits;
    const struct rlock_handle_hold *holds;
    size_t hold_count;
};
#define RLOCK_HANDLE_INIT                                                                          \
    { sizeof(struct rlock_handle), NULL, NULL, NULL, RLOCK_LEASE_DEFAULT_MS, 1, NULL, 0 }

/* Writes a lock that is held as one word of letters, digits, '-', '_' and '.'. It contains no
 * password, but anyone who has it can give the lock back.
 * out: yours to free(). servers: one line, separated by spaces; NULL: the client's.
 * RLOCK_INVALID: the lock is not held, has no lease, or was resumed without ids; or servers is
 * empty or has several lines.
 * RLOCK_SYSTEM: out of memory. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_handle_write(char **out, const rlock_lock *lock,
                                                           const char *servers);

/* Reads such a word. RLOCK_INVALID: it is NULL, not a handle, or was changed. RLOCK_SYSTEM: out of
 * memory. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_handle_read(struct rlock_handle **out,
                                                          const char *text);

/* Frees what rlock_handle_read() returned. */
RLOCK_API void rlock_handle_free(struct rlock_handle *handle);

/* Makes a lock that is held as the handle says, without contacting a server: the next renewal,
 * check or release finds out whether that is still true. You may change the handle, such as its
 * lease, or fill it in yourself; without ids the lock can only be checked.
 * RLOCK_INVALID. RLOCK_SYSTEM: out of memory, no random bytes. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_lock_resume(rlock_lock **out, rlock_client *client,
                                                          const struct rlock_handle *handle);

/* Asks the server once whether the lock is still held, and changes nothing.
 * ttl_ms: for how long, by the server's clock; with several names the shortest; RLOCK_FOREVER:
 * permits without a lease.
 * RLOCK_OK: all of its names are held. RLOCK_LOST: rlock_stuck_at() is not. RLOCK_INVALID: locks of
 * this kind are not held. RLOCK_UNAVAILABLE, RLOCK_DENIED, RLOCK_SYSTEM. */
RLOCK_API RLOCK_CHECK enum rlock_status rlock_check(rlock_lock *lock, int64_t *ttl_ms);

#ifdef __cplusplus
}
#endif
#endif
