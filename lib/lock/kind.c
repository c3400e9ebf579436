/* kind.c: the table of kinds, and the keys and names of their locks. A new kind is its scripts in
 * lua/, a row here, and its tests. */
#include "lock/kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/error.h"
#include "redis/client.h"
#include "scripts.h"

/* What every script gets, see lua/include/base.lua; behind these the kind's own. */
#define COMMON_KEYS(fourth)                                                                        \
    "*", "redisson_lock_token:{*}", "rlock_info:{*}", fourth, "rlock_waiters:{*}",                 \
        "rlock_beats:{*}", "rlock_queuers:{*}"
enum {
    HELD = 1 << 0 | 1 << 2 | 1 << 3,
    PERMITS_HELD = HELD | 1 << 7
}; /* lock, info, leases or hold */

/* sem_break.lua takes more than 100 at a time. */
enum { SEM_PARTS = RLOCK_TAKE_MAX / 100 };

#define MUTEX_KEYS                                                                                 \
    COMMON_KEYS("rlock_leases:{*}"), "redisson_lock_queue:{*}", "redisson_lock_timeout:{*}",       \
        "rlock_queue:{*}", "rlock_queue_beats:{*}"
#define RW_KEYS                                                                                    \
    COMMON_KEYS("rlock_leases:{*}"), "{*}:wait_write", "rlock_writers:{*}",                        \
        "rlock_writer_beats:{*}", "rlock_told:{*}"
#define LATCH_KEYS                                                                                 \
    COMMON_KEYS("rlock_hold:{*}"), "{*}:timeout" /* to tell it from a semaphore that is in use */
#define SEM_KEYS LATCH_KEYS, "rlock_wants:{*}"

#define MUTEX_RECORD "rlock_last:{*}"

#define MUTEX_PUBLISH RLOCK__SPUBLISH "redisson_lock__channel:{*}"
#define RW_PUBLISH    RLOCK__SPUBLISH "redisson_rwlock:{*}"
#define SEM_PUBLISH   RLOCK__SPUBLISH "redisson_sc:{*}"
#define LATCH_PUBLISH RLOCK__SPUBLISH "redisson_countdownlatch__channel__<*>"

static const struct rlock__kind kinds[] = {
    {
        .name = "run",
        .acquire = &RLOCK__MUTEX_ACQUIRE,
        .renew = &RLOCK__MUTEX_RENEW,
        .release = &RLOCK__MUTEX_RELEASE,
        .check = &RLOCK__MUTEX_CHECK,
        .restore = &RLOCK__MUTEX_RESTORE,
        .take_away = &RLOCK__MUTEX_BREAK,
        .keys = {MUTEX_KEYS},
        .keys_to_take = 7, /* not the queue */
        .stand = HELD,
        .record = MUTEX_RECORD,
        .publish = MUTEX_PUBLISH,
        .reenters = true,
        .pools = true,
    },
    {
        .name = "fair",
        .acquire = &RLOCK__FAIR_ACQUIRE,
        .renew = &RLOCK__MUTEX_RENEW,
        .release = &RLOCK__MUTEX_RELEASE,
        .check = &RLOCK__MUTEX_CHECK,
        .take_away = &RLOCK__MUTEX_BREAK,
        .keys = {MUTEX_KEYS},
        .stand = HELD,
        .record = MUTEX_RECORD,
        .publish = MUTEX_PUBLISH,
        .reenters = true,
        .variant = "supersede",
        .queued = true,
    },
    {
        .name = "read",
        .shares = true,
        .reads = true,
        .acquire = &RLOCK__READ_ACQUIRE,
        .renew = &RLOCK__RW_RENEW,
        .release = &RLOCK__RW_RELEASE,
        .check = &RLOCK__RW_CHECK,
        .restore = &RLOCK__RW_RESTORE,
        .take_away = &RLOCK__RW_BREAK,
        .keys = {RW_KEYS},
        .stand = HELD,
        .publish = RW_PUBLISH,
        .reenters = true,
    },
    {
        .name = "write",
        .shares = true,
        .acquire = &RLOCK__WRITE_ACQUIRE,
        .renew = &RLOCK__RW_RENEW,
        .release = &RLOCK__RW_RELEASE,
        .check = &RLOCK__RW_CHECK,
        .restore = &RLOCK__RW_RESTORE,
        .take_away = &RLOCK__RW_BREAK,
        .keys = {RW_KEYS},
        .stand = HELD,
        .publish = RW_PUBLISH,
        .reenters = true,
        .pools = true,
    },
    {
        .name = "sem",
        .acquire = &RLOCK__SEM_ACQUIRE,
        .renew = &RLOCK__SEM_RENEW,
        .release = &RLOCK__SEM_RELEASE,
        .check = &RLOCK__SEM_CHECK,
        .take_away = &RLOCK__SEM_BREAK,
        .parts = SEM_PARTS,
        .keys = {SEM_KEYS},
        .stand = PERMITS_HELD,
        .publish = SEM_PUBLISH,
    },
    {
        .name = "plain",
        .acquire = &RLOCK__SEM_ACQUIRE,
        .release = &RLOCK__SEM_RELEASE,
        .take_away = &RLOCK__SEM_BREAK,
        .parts = SEM_PARTS,
        .keys = {SEM_KEYS},
        .publish = SEM_PUBLISH,
    },
    {
        .name = "latch",
        .acquire = &RLOCK__LATCH_ACQUIRE,
        .keys = {LATCH_KEYS},
        .publish = LATCH_PUBLISH,
        .variant = "must-exist",
    },
};

const char *const RLOCK__INSPECT_KEYS[RLOCK__KEYS_MAX] = {
    COMMON_KEYS("rlock_hold:{*}"),
    "redisson_lock_queue:{*}",
    "redisson_lock_timeout:{*}",
    "rlock_queue:{*}",
    "rlock_queue_beats:{*}",
    "{*}:wait_write",
    "rlock_writers:{*}",
    "rlock_writer_beats:{*}",
    "{*}:timeout",
    "rlock_leases:{*}",
    MUTEX_RECORD,
};

const struct rlock__kind *rlock__kind_find(const char *name) {
    for (size_t i = 0; name != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

char *rlock__kind_key(const char *pattern, const char *lock_name) {
    const bool has_tag = strchr(lock_name, '{') != NULL;
    char *key = malloc(strlen(pattern) + strlen(lock_name) + 1);
    if (key == NULL)
        return NULL;
    char *to = key;
    for (const char *from = pattern; *from != '\0'; from++) {
        if (*from == '*')
            to = stpcpy(to, lock_name);
        else if (*from == '<' || *from == '>')
            *to++ = *from == '<' ? '{' : '}';
        else if (!has_tag || (*from != '{' && *from != '}'))
            *to++ = *from;
    }
    *to = '\0';
    return key;
}

char *rlock__kind_tombstone(const char *lock_name, const char id[RLOCK__ID_SIZE]) {
    char pattern[sizeof "rlock_tombstone::{*}" + RLOCK__ID_SIZE];
    (void)snprintf(pattern, sizeof pattern, "rlock_tombstone:%s:{*}", id);
    return rlock__kind_key(pattern, lock_name);
}

char *rlock__kind_lease_key(const char *lock_name, const char *owner, bool kept) {
    char *tag = rlock__kind_key("{*}", lock_name), *key = NULL;
    if (tag != NULL &&
        asprintf(&key, "%s:%s%s:rwlock_timeout:1", tag, owner, kept ? "#kept" : "") < 0)
        key = NULL;
    free(tag);
    return key;
}

bool rlock__kind_keys(char *keys[RLOCK__KEYS_MAX], const char *const patterns[RLOCK__KEYS_MAX],
                      const char *lock_name) {
    bool made = true;
    for (size_t i = 0; i < RLOCK__KEYS_MAX; i++) {
        keys[i] = made && patterns[i] != NULL ? rlock__kind_key(patterns[i], lock_name) : NULL;
        made = made && (keys[i] != NULL || patterns[i] == NULL);
    }
    return made;
}

void rlock__kind_keys_free(char **keys) {
    for (; *keys != NULL; keys++)
        free(*keys);
}

char *rlock__break_channel(const char *owner) {
    char *channel = NULL;
    return asprintf(&channel, "rlock_break:%s", owner) >= 0 ? channel : NULL;
}

/* --- names ------------------------------------------------------------------------------------ */

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Exactly {...}: its first closing brace is its last character. */
static bool is_in_braces(const char *name) {
    const char *end = strchr(name, '}');
    return *name == '{' && end != NULL && end[1] == '\0';
}

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* One of the keys {NAME}:... of a semaphore or a read/write lock. */
static bool is_key_beside(const char *name) {
    return strchr(name, '{') != NULL &&
           (ends_with(name, ":timeout") || ends_with(name, ":wait_write") ||
            strstr(name, ":rwlock_timeout:") != NULL);
}

const char *rlock_name_fault(const char *name) {
    if (name == NULL || *name == '\0')
        return "it is empty: a name has 1 to 512 bytes";
    if (strlen(name) > RLOCK_NAME_MAX)
        return "it is too long: a name has 1 to 512 bytes";
    if (rlock__has_control(name))
        return "it has a control character: a name has none";
    if (begins_with(name, "rlock_") || begins_with(name, "redisson_"))
        return "names that begin with rlock_ or redisson_ are those of keys beside other locks: "
               "give "
               "another one";
    if (is_in_braces(name))
        return "it is in braces: Redisson keeps it in the same keys as the name inside them: leave "
               "them out";
    if (is_key_beside(name))
        return "names with a brace that end so are those of keys beside other locks: give another "
               "one";
    return NULL;
}

enum rlock_status rlock__check_name(struct rlock_client *client, const char *name) {
    const char *fault = rlock_name_fault(name);
    if (fault == NULL)
        return RLOCK_OK;
    rlock__error_set(&client->error, "cannot use the lock's name: %s", fault);
    return RLOCK_INVALID;
}

enum rlock_status rlock__wrong_kind(struct rlock__error *error, const char *name) {
    rlock__error_set(error, "%s is another kind of lock, or none", name);
    return RLOCK_WRONG_KIND;
}

enum rlock_status rlock__odd_answer(struct rlock__error *error, const struct rlock__script *script,
                                    int64_t code) {
    rlock__error_set(error, "the server's answer to %s can't be understood: code %" PRId64,
                     script->name, code);
    return RLOCK_UNAVAILABLE;
}
