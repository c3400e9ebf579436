/* lock.h: the inside of a lock: its resources, one for each name. */
#ifndef RLOCK_LOCK_H
#define RLOCK_LOCK_H

#include <stdatomic.h>

#include "lock/kind.h"
#include "lock/listener.h"
#include "lock/resource.h"
#include "redis/client.h"

struct rlock_lock {
    rlock_client *client;
    const struct rlock__kind *kind;
    int64_t lease_ms;
    char lease_text[24], permits_text[24], total_text[24];
    const char *variant; /* the kind's, or "" */
    char *owner;
    char *shown; /* what others are shown of us: shown.h */
    size_t resource_count;
    struct rlock__resource *resources; /* in canonical order */
    _Atomic int64_t lease_end_ms; /* of the resource whose lease ends first; the keeper moves it */

    /* Waiting: */
    int64_t started_ms; /* of the first try; 0: none yet */
    int64_t next_try_ms;
    int64_t backoff_ms; /* how long the next pause after a try without an answer is; 0: none was */
    unsigned tries;
    int64_t again_ms; /* how long it may sleep at most, as the last try said */
    bool last_was_busy;
    unsigned splits;              /* in a row */
    bool split;                   /* of several servers no majority is anybody's */
    bool stands;                  /* a try may stand in line: we are ready to wait */
    struct rlock__resource *busy; /* the resource that was held by others at the last try */
    size_t stuck_at; /* the resource at which the last try ended; 0 also after a grant */
    struct rlock__listener listener;
    int64_t place; /* in line, from 1, as the last try said; before we stand in it: what ours would
                      be */
    rlock__reply *busy_reply; /* what `blocker` points into */
    struct rlock_holder blocker;
};

/* --- resource.c ----------------------------------------------------------------------------------
 */

/* What every script gets first, the owner being `owner`. It borrows its texts. */
struct rlock__call rlock__resource_call(const struct rlock_lock *lock,
                                        const struct rlock__resource *resource, const char *owner);

/* The same to take it: with the keys alone that this needs. */
struct rlock__call rlock__resource_call_to_acquire(const struct rlock_lock *lock,
                                                   const struct rlock__resource *resource);

/* The same about what is held: with the keys alone that stand then, which may be none but the lock.
 */
struct rlock__call rlock__resource_call_held(const struct rlock_lock *lock,
                                             const struct rlock__resource *resource,
                                             const char *owner);

/* The owner under which an instance has it. */
const char *rlock__resource_owner_on(const struct rlock_lock *lock,
                                     const struct rlock__resource *resource,
                                     const struct rlock__instance *instance);

/* Notes that an answer has a code that the script does not have. Returns RLOCK_UNAVAILABLE. */
enum rlock_status rlock__resource_odd_answer(struct rlock__run *run,
                                             const struct rlock__script *script);

/* One name is asked about on several servers: begun (enough: as a batch's), filled with a call for
 * each instance, run, its answers noted, ended. */
void rlock__inquiry_begin(struct rlock__inquiry *inquiry, size_t enough);
struct rlock__call *rlock__inquiry_add(struct rlock__inquiry *inquiry,
                                       const struct rlock__resource *resource,
                                       struct rlock__route *route, size_t instance,
                                       struct rlock__call call);
void rlock__inquiry_run(struct rlock__inquiry *inquiry, const struct rlock__script *script,
                        const struct rlock__limit *limit);
void rlock__inquiry_end(struct rlock__inquiry *inquiry);

/* Several names in one round trip: resources_VERB_ahead() asks about them, at most so many at once,
 * and each resource's verb then finds its answers there: true. */
size_t rlock__resources_at_once(const struct rlock_lock *lock);
bool rlock__inquiry_was_ahead(struct rlock__inquiry *inquiry, struct rlock__resource *resource);

/* Runs those that are ready in these resources. */
void rlock__resources_run_ahead(struct rlock__resource *resources, size_t count, bool last_first,
                                const struct rlock__script *script,
                                const struct rlock__limit *limit);

/* --- the verbs, on one name: resource_acquire.c, token.c, resource_renew.c... --------------------
 */

/* Takes it. RLOCK_OK: held. RLOCK_BUSY: lock->blocker says by whom, *hint_ms when that hold expires
 * (-1: never). RLOCK_AGAIN: no answer, or one that may pass. Else final; of RLOCK_REFUSED and
 * RLOCK_OUSTED the routes' error says why.
 * in_line: stand in line when it is busy. */
enum rlock_status rlock__resource_acquire(struct rlock_lock *lock, struct rlock__resource *resource,
                                          bool in_line, const struct rlock__limit *limit,
                                          int64_t *hint_ms);

/* Asks for so many names at once, from `first` on. waited_for: the one to stand in line for, NULL:
 * none; a kind that queues stands in all lines.
 * rlock__resource_note(): of one that is not taken after all. */
void rlock__resources_acquire_ahead(struct rlock_lock *lock, size_t first, size_t count,
                                    const struct rlock__resource *waited_for,
                                    const struct rlock__limit *limit);
void rlock__resource_note(struct rlock_lock *lock, struct rlock__resource *resource);

/* Whether a try stands in line for it. */
bool rlock__resource_lines_up(const struct rlock_lock *lock, const struct rlock__resource *resource,
                              const struct rlock__resource *waited_for);

/* A server that has lost the hold, or never gave it, is asked for it again while a majority keeps
 * it: a long command outlives servers that restart one after the other. Nobody else can have had
 * the lock meanwhile. */
void rlock__resource_heal(const struct rlock_lock *lock, struct rlock__resource *resource,
                          struct rlock__routes *routes);

/* Asks those that have given another token to accept this one. Returns how many know it now;
 * *known: the largest that any of them has, where that is larger; *denied: RLOCK_DENIED when one
 * has no right for us, else unchanged. */
size_t rlock__resource_propose_token(const struct rlock_lock *lock,
                                     struct rlock__resource *resource, struct rlock__routes *routes,
                                     int64_t token, const struct rlock__limit *limit,
                                     int64_t *known, enum rlock_status *denied);

/* The hold's token is the largest that was given. Before anybody learns it a majority has accepted
 * it, so that every later holder's is larger, whichever majority gives that; where several readers
 * want the same one, all but one go on to the next. RLOCK_OK, or RLOCK_AGAIN. */
enum rlock_status rlock__resource_agree_on_token(struct rlock_lock *lock,
                                                 struct rlock__resource *resource,
                                                 const struct rlock__limit *limit);

/* Renews it over routes of the caller's. RLOCK_OK, RLOCK_LOST, RLOCK_AGAIN, or final. */
enum rlock_status rlock__resource_renew(const struct rlock_lock *lock,
                                        struct rlock__resource *resource,
                                        struct rlock__routes *routes,
                                        const struct rlock__limit *limit);

void rlock__resources_renew_ahead(const struct rlock_lock *lock, size_t first, size_t count,
                                  struct rlock__routes *routes, const struct rlock__limit *limit);

/* Looks whether it is still held, by its hold's id, or without one by owner and token.
 * *ttl_ms: for how long, by a majority; RLOCK_FOREVER. RLOCK_OK, RLOCK_LOST, RLOCK_AGAIN, or
 * final. */
enum rlock_status rlock__resource_check(const struct rlock_lock *lock,
                                        const struct rlock__resource *resource,
                                        const struct rlock__limit *limit, int64_t *ttl_ms);

/* Gives it back where it is held or may be; and leaves the line, where places_too or it was held.
 * RLOCK_OK, RLOCK_LOST, RLOCK_AGAIN, or final. */
enum rlock_status rlock__resource_release(struct rlock_lock *lock, struct rlock__resource *resource,
                                          int64_t keep_ms, bool places_too,
                                          const struct rlock__limit *limit);
/* but: one to leave out; NULL: none. */
void rlock__resources_release_ahead(struct rlock_lock *lock, size_t first, size_t count,
                                    const struct rlock__resource *but, int64_t keep_ms,
                                    const struct rlock__limit *limit);

/* --- lock.c ---------------------------------------------------------------------------------- */

/* What is wrong with a lock's name; NULL: nothing. */
const char *rlock__name_fault(const char *name);

/* Renews all names over routes of the caller's. RLOCK_OK, RLOCK_LOST, RLOCK_AGAIN, or final;
 * *stuck_at: which one; routes->error says why. */
enum rlock_status rlock__lock_renew(struct rlock_lock *lock, struct rlock__routes *routes,
                                    const struct rlock__limit *limit, size_t *stuck_at);

/* Publishes the earliest lease end of the resources. */
void rlock__lock_update_lease_end(struct rlock_lock *lock);

#endif
