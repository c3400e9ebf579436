/* kind.h: what the kinds of locks are, as data. */
#ifndef RLOCK_KIND_H
#define RLOCK_KIND_H

#include "os/random.h"
#include "redis/script.h"

struct rlock__kind {
    const char *name;
    /* release: NULL where nothing is left to give back; renew, check: both where it has no lease */
    const struct rlock__script *acquire, *renew, *release, *check;
    /* On a server that has lost it; NULL: it can't live on several, of which a majority decides. */
    const struct rlock__script *restore;
    const struct rlock__script *take_away; /* from its holders, for `rlock break`; NULL: can't be */
    size_t parts; /* so often at most does take_away leave some of what one holder has */
    /* How the keys are named, and by what scripts tell of it, `*` standing for the lock's name. The
     * braces make one cluster slot of them all; a name that has braces itself is put in without
     * ours. Pointed brackets are braces whatever the name. */
    const char *keys[RLOCK__KEYS_MAX];
    size_t keys_to_take; /* so many of them, from the first, does acquire need; 0: all */
    unsigned
        stand; /* bits: which of the keys stand as long as it is held. A slot that is being moved
                  refuses scripts that name others (TRYAGAIN): a renewal names these alone */
    const char *record;  /* the key that says which runs have ended; NULL: none does */
    const char *publish; /* "SPUBLISH CHANNEL" */
    const char *variant; /* the one that acquire knows; NULL: none */
    bool shares;         /* the lock is for reading and writing: rlock__kind_lease_key() */
    bool reads;          /* it is held for reading */
    bool reenters;       /* a nested one enters by the proof of the hold around it */
    bool queued;         /* one stands in line from the first try on */
    bool pools;          /* any K of several names can be taken */
};

struct rlock_client;

/* RLOCK_OK, or RLOCK_INVALID: what is wrong with a lock's name is the client's error. */
enum rlock_status rlock__check_name(struct rlock_client *client, const char *name);

/* Notes that the name's keys are not this kind's. Returns RLOCK_WRONG_KIND. */
enum rlock_status rlock__wrong_kind(struct rlock__error *error, const char *name);

/* Notes that an answer has a code that the script does not have. Returns RLOCK_UNAVAILABLE. */
enum rlock_status rlock__odd_answer(struct rlock__error *error, const struct rlock__script *script,
                                    int64_t code);

/* NULL: there is no such kind. */
const struct rlock__kind *rlock__kind_find(const char *name);

/* The key, or what else, that a pattern names for a lock. The caller frees it; NULL: no memory. */
char *rlock__kind_key(const char *pattern, const char *lock_name);

/* The key that says which tries of an attempt are over (lua/include/try.lua). The caller frees it;
 * NULL: no memory. */
char *rlock__kind_tombstone(const char *lock_name, const char id[RLOCK__ID_SIZE]);

/* The key that lasts as long as an owner's read holds (lua/include/rw.lua); kept: as long as what
 * --min-hold keeps of them. The caller frees it; NULL: no memory. */
char *rlock__kind_lease_key(const char *lock_name, const char *owner, bool kept);

/* The keys that patterns name for a lock, NULL behind the last. Free them, also those of a false:
 * no memory. */
bool rlock__kind_keys(char *keys[RLOCK__KEYS_MAX], const char *const patterns[RLOCK__KEYS_MAX],
                      const char *lock_name);
void rlock__kind_keys_free(char **keys);

/* The channel on which a holder hears that its lock was taken away, or that a waiter asks for it,
 * and says that its command has stopped (lua/include/broken.lua). The caller frees it; NULL: no
 * memory. */
char *rlock__break_channel(const char *owner);

/* The scripts of no kind: see take.c, probe_rights.c, counter.c, inspect.c. */
extern const struct rlock__script RLOCK__TOKEN_RAISE, RLOCK__ACL_MISSING, RLOCK__LATCH_SET,
    RLOCK__LATCH_DOWN, RLOCK__SEM_RESIZE, RLOCK__SKIP, RLOCK__FORGET, RLOCK__INSPECT;

/* For inspecting a name of whatever kind. */
extern const char *const RLOCK__INSPECT_KEYS[RLOCK__KEYS_MAX];

#endif
