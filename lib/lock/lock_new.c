/* lock_new.c: makes a lock of one or several names, and frees it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/lock.h"
#include "os/options.h"

enum { HOST_SIZE = 256, ESCAPED_MAX = sizeof "\\u0000" - 1 };

static bool is_within(int64_t number, int64_t least, int64_t most) {
    return number >= least && number <= most;
}

static bool is_too_long(const char *text) {
    return text != NULL && strnlen(text, RLOCK_TEXT_MAX + 1) > RLOCK_TEXT_MAX;
}

/* What does not go with that kind; NULL: all does. */
static const char *misfit(const struct rlock_lock_options *options,
                          const struct rlock__kind *kind) {
    if (!rlock__kind_knows(kind, options->variant))
        return "this kind of lock has no such variant";
    if ((options->once_per_ms != 0 || options->once_key != NULL) && kind->record == NULL)
        return "once_per_ms and once_key are not supported for this kind of lock";
    if ((options->preempt || options->preemptible) && kind->record == NULL)
        return "preemption is not supported for this kind of lock";
    return NULL;
}

/* What is beyond the limits in rlock.h; NULL: nothing is. */
static const char *excess(const struct rlock_lock_options *options) {
    if (!is_within(options->permits, 0, RLOCK_TAKE_MAX))
        return "permits taken at once are 1 to 10000";
    if (!is_within(options->permits_total, 0, RLOCK_PERMITS_MAX))
        return "permits in all are 1 to 1000000000";
    if (!is_within(options->lease_ms, RLOCK_LEASE_MIN_MS, RLOCK_LEASE_MAX_MS))
        return "a lease lasts from 100ms to 7d";
    if (!is_within(options->once_per_ms, 0, RLOCK_TIME_MAX_MS))
        return "once_per_ms is at most 36525 days";
    if (is_too_long(options->user) || is_too_long(options->command) || is_too_long(options->note))
        return "user, command and note have at most 1024 bytes each";
    if (options->name_count < 1 || options->name_count > RLOCK_NAMES_MAX)
        return "a lock has 1 to 10000 names";
    if (options->once_key != NULL && (is_too_long(options->once_key) || *options->once_key == '\0'))
        return "once_key has 1 to 1024 bytes";
    if ((options->once_per_ms > 0 || options->once_key != NULL) && options->name_count > 1)
        return "once_per_ms and once_key need exactly one name";
    return NULL;
}

static enum rlock_status check(rlock_client *client, const struct rlock_lock_options *options) {
    const struct rlock__kind *kind = rlock__kind_find(options->kind);
    if (!kind)
        return rlock__client_invalid(client, "there is no such kind of lock");
    if (client->count > 1 && !kind->shareable)
        return rlock__client_invalid(client, "on several servers a lock is run, read or write");
    const char *fault = misfit(options, kind);
    fault = fault != NULL ? fault : excess(options);
    if (fault == NULL && client->fsync && options->lease_ms < RLOCK_FSYNC_LEASE_MIN_MS)
        fault =
            "with fsync a lease lasts 6s or longer: a renewal, after a third of it, waits up to "
            "2s for the disk";
    if (fault != NULL)
        return rlock__client_invalid(client, fault);
    for (size_t i = 0; i < options->name_count; i++) {
        const enum rlock_status status = rlock__check_name(client, options->names[i]);
        if (status != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in canonical order, doubles left out. The caller frees the array, not the names. */
static const char **canonical(const struct rlock_lock_options *options, size_t *count) {
    const char **names = malloc(options->name_count * sizeof *names);
    if (names == NULL)
        return NULL;
    memcpy(names, options->names, options->name_count * sizeof *names);
    qsort(names, options->name_count, sizeof *names, by_bytes);
    size_t n = 1;
    for (size_t i = 1; i < options->name_count; i++) {
        if (strcmp(names[i], names[n - 1]) != 0)
            names[n++] = names[i];
    }
    *count = n;
    return names;
}

/* As it stands in a JSON string. Bytes that are no UTF-8 go as they are: the program that
 * shows them cares for that. Yours to free; NULL: no memory. */
static char *escape(const char *text) {
    text = text != NULL ? text : "";
    char *out = malloc(ESCAPED_MAX * strlen(text) + 1), *to = out;
    for (; out != NULL && *text != '\0'; text++) {
        if ((unsigned char)*text < ' ') {
            to += sprintf(to, "\\u%04x", (unsigned)*text);
        } else {
            if (*text == '"' || *text == '\\')
                *to++ = '\\';
            *to++ = *text;
        }
    }
    if (out != NULL)
        *to = '\0';
    return out;
}

char *rlock__shown(const char *host, const char *user, const char *command, const char *note,
                   const char *permits) {
    char *texts[] = {escape(host), escape(user), escape(command), escape(note)}, *out = NULL;
    const bool has_note = texts[3] != NULL && *texts[3] != '\0';
    if (texts[0] == NULL || texts[1] == NULL || texts[2] == NULL || texts[3] == NULL ||
        asprintf(&out,
                 "\"host\":\"%s\",\"pid\":%ld,\"user\":\"%s\",\"command\":\"%s\",%s%s%s"
                 "\"permits\":%s",
                 texts[0], (long)getpid(), texts[1], texts[2], has_note ? "\"note\":\"" : "",
                 texts[3], has_note ? "\"," : "", permits) < 0)
        out = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    return out;
}

/* Adds to what others are shown that we may be asked to end, and makes the name by which we ask
 * others. */
static bool introduce_preemption(struct rlock_lock *lock, const struct rlock_lock_options *options,
                                 const char *host) {
    const char *user = options->user != NULL ? options->user : "";
    char *shown = lock->shown;
    lock->preemptible = options->preemptible;
    if (lock->preemptible) {
        if (asprintf(&lock->shown, "%s,\"preemptible\":true", shown) < 0)
            lock->shown = NULL;
        free(shown);
    }
    const char *note = options->note != NULL ? options->note : "";
    const bool noted = *note != '\0';
    if (options->preempt &&
        asprintf(&lock->preempts_as, "%s%s%s pid %ld%s%s%s", user, *user != '\0' ? "@" : "", host,
                 (long)getpid(), noted ? " (" : "", note, noted ? ")" : "") < 0)
        lock->preempts_as = NULL;
    return lock->shown != NULL && (lock->preempts_as != NULL || !options->preempt);
}

/* "UUID:PID@HOST": Redisson's form is UUID:ID, and no client reads the ID. And what others are
 * shown. */
static bool introduce(struct rlock_lock *lock, const struct rlock_lock_options *options) {
    char uuid[RLOCK__UUID_SIZE];
    char host[HOST_SIZE] = "";
    if (!rlock__random_uuid(uuid))
        return false;
    (void)gethostname(host, sizeof host - 1);
    for (char *c = host; *c != '\0'; c++) {
        if (*c == ':' || (unsigned char)*c <= ' ')
            *c = '-';
    }
    lock->shown =
        rlock__shown(host, options->user, options->command, options->note, lock->permits_text);
    return asprintf(&lock->owner, "%s:%ld@%s", uuid, (long)getpid(), host) >= 0 &&
           lock->shown != NULL && introduce_preemption(lock, options, host);
}

static bool take_over_proof(struct rlock__resource *resource, bool reenters,
                            const struct rlock_lock_options *options) {
    for (size_t i = 0; reenters && i < options->proof_count; i++) {
        const struct rlock_proof *proof = &options->proofs[i];
        if (strcmp(proof->name, resource->name) != 0)
            continue;
        free(resource->proof_owner); /* the innermost hold of the name is the last */
        resource->proof_owner = strdup(proof->owner);
        (void)snprintf(resource->proof_token, sizeof resource->proof_token, "%" PRId64,
                       proof->token);
        if (resource->proof_owner == NULL)
            return false;
    }
    return true;
}

static bool make_id(struct rlock__resource *resource) {
    char id[RLOCK__ID_SIZE];
    return rlock__random_id(id) && rlock__resource_identify(resource, id);
}

static bool make_resource(const struct rlock_lock *lock, struct rlock__resource *resource,
                          const char *name, const struct rlock_lock_options *options) {
    resource->lock = lock;
    resource->name = strdup(name);
    resource->instance_count = lock->client->count;
    resource->instances = calloc(resource->instance_count, sizeof *resource->instances);
    resource->channel = rlock__kind_key(lock->kind->channel, name);
    if (resource->name == NULL || resource->instances == NULL || resource->channel == NULL ||
        !make_id(resource) ||
        asprintf(&resource->own_channel, "%s:%s", resource->channel, lock->owner) < 0 ||
        asprintf(&resource->publish, RLOCK__SPUBLISH "%s", resource->channel) < 0)
        return false;
    if (lock->kind->record != NULL)
        resource->record = rlock__kind_key(lock->kind->record, name);
    return (resource->record != NULL || lock->kind->record == NULL) &&
           rlock__kind_keys(resource->keys, lock->kind->keys, name) &&
           take_over_proof(resource, lock->kind->reenters, options) &&
           rlock__resource_name_leases(resource);
}

static bool fill(struct rlock_lock *lock, const struct rlock_lock_options *options) {
    (void)snprintf(lock->lease_text, sizeof lock->lease_text, "%" PRId64, lock->lease_ms);
    (void)snprintf(lock->permits_text, sizeof lock->permits_text, "%" PRId64,
                   options->permits > 0 ? options->permits : 1);
    if (options->permits_total > 0)
        (void)snprintf(lock->total_text, sizeof lock->total_text, "%" PRId64,
                       options->permits_total);
    if (options->once_per_ms > 0)
        (void)snprintf(lock->once.period_text, sizeof lock->once.period_text, "%" PRId64,
                       options->once_per_ms);
    if (options->once_key != NULL && (lock->once.key = strdup(options->once_key)) == NULL)
        return false;
    lock->once.wanted = options->once_per_ms > 0 || options->once_key != NULL;
    lock->variant = options->variant != NULL ? lock->kind->variant : "";
    if (!introduce(lock, options))
        return false;
    size_t count = 0;
    const char **names = canonical(options, &count);
    lock->resources = names != NULL ? calloc(count, sizeof *lock->resources) : NULL;
    bool made = lock->resources != NULL;
    for (; made && lock->resource_count < count; lock->resource_count++)
        made = make_resource(lock, &lock->resources[lock->resource_count],
                             names[lock->resource_count], options);
    free(names);
    return made;
}

enum rlock_status rlock_lock_new(rlock_lock **out, rlock_client *client,
                                 const struct rlock_lock_options *given) {
    struct rlock_lock_options options;
    *out = NULL;
    enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_lock_options, proof_count, &options, given, &client->error);
    if (status == RLOCK_OK)
        status = check(client, &options);
    if (status != RLOCK_OK)
        return status;
    rlock_lock *lock = calloc(1, sizeof *lock);
    if (lock != NULL) {
        lock->client = client;
        lock->listener.error = &client->error;
        lock->kind = rlock__kind_find(options.kind);
        lock->lease_ms = options.lease_ms;
    }
    if (lock == NULL || !fill(lock, &options)) {
        rlock_lock_free(lock);
        rlock__error_set(&client->error, "no memory, or no random bytes");
        return RLOCK_SYSTEM;
    }
    *out = lock;
    return RLOCK_OK;
}

static void free_resource(struct rlock__resource *resource) {
    rlock__kind_keys_free(resource->keys);
    rlock__resource_forget_leases(resource);
    free(resource->name);
    free(resource->channel);
    free(resource->own_channel);
    free(resource->publish);
    free(resource->tombstone);
    free(resource->record);
    free(resource->proof_owner);
    free(resource->instances);
}

void rlock_lock_free(rlock_lock *lock) {
    if (lock == NULL)
        return;
    rlock__listener_free(&lock->listener);
    rlock__reply_free(lock->busy.reply);
    /* A resource that could not be made whole is not counted: calloc left it safe to free. */
    for (size_t i = 0; lock->resources != NULL && i <= lock->resource_count; i++) {
        if (i < lock->resource_count)
            free_resource(&lock->resources[i]);
    }
    free(lock->resources);
    free(lock->owner);
    free(lock->shown);
    free(lock->preempts_as);
    free(lock->once.key);
    free(lock);
}
