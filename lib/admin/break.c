/* break.c: takes a lock away from its holders, on all servers. */
#include <stdlib.h>
#include <string.h>

#include "lock/kind.h"
#include "lock/lock.h"
#include "os/clock.h"
#include "os/options.h"
#include "os/random.h"
#include "redis/script_retry.h"
#include "rlock_admin.h"

enum {
    BROKEN = 1,
    BROKEN_IN_PART = 2, /* a semaphore's permits: so many that one script does not take all */
    OTHER_KIND = -1,
};

struct breaking {
    rlock_client *client;
    const struct rlock__kind *kind;
    const struct rlock_break_options *options;
    int64_t deadline_ms; /* of the server that is asked */
    struct rlock__call call;
    char *keys[RLOCK__KEYS_MAX], *lease_key, *publish; /* what the call is made of */
    char id[RLOCK__ID_SIZE];
};

static bool make_call(struct breaking *b) {
    const char *by = b->options->by, *name = b->options->name;
    b->publish = rlock__kind_key(b->kind->publish, name);
    if (!rlock__kind_keys(b->keys, b->kind->keys, name) || b->publish == NULL ||
        !rlock__random_id(b->id))
        return false;
    b->call = (struct rlock__call){
        .arg_count = 8,
        .args = {"", "0", b->id, "0", b->publish, "0", "", by != NULL ? by : ""},
        .checks = true};
    rlock__call_add_keys(&b->call, b->keys);
    b->call.key_count += b->kind->shares; /* the lease key */
    return true;
}

static enum rlock_status out_of_memory(struct breaking *b) {
    rlock__error_set(&b->client->error, "no memory, or no random bytes");
    return RLOCK_SYSTEM;
}

/* The holder that is to lose it. False: no memory. */
static bool name_victim(struct breaking *b, const char *owner) {
    b->call.args[RLOCK__ARG_CHECK + 1] = owner;
    if (!b->kind->shares)
        return true;
    free(b->lease_key);
    b->lease_key = rlock__kind_lease_key(b->options->name, owner, false);
    b->call.keys[b->call.key_count - 1] = b->lease_key;
    return b->lease_key != NULL;
}

/* One owner, on one server. RLOCK_LOST: it was not there any more; but not after an answer that was
 * lost: that request has done it. */
static enum rlock_status break_one(struct breaking *b, size_t server, int64_t *broken) {
    struct rlock__answer answer = {.code = BROKEN_IN_PART};
    bool in_doubt, done = false;
    while (answer.code == BROKEN_IN_PART) {
        const enum rlock_status status = rlock__script_retry(
            b->client, &b->client->routes.at[server], b->kind->take_away, &b->call, b->deadline_ms,
            b->options->cancel_fd, &answer, &in_doubt);
        if (status != RLOCK_OK)
            return status;
        rlock__reply_free(answer.reply);
        if (answer.code == OTHER_KIND)
            return rlock__wrong_kind(&b->client->error, b->options->name);
        done = done || in_doubt || answer.code == BROKEN ||
               (answer.code == BROKEN_IN_PART && answer.b > 0);
    }
    *broken += done;
    return done ? RLOCK_OK : RLOCK_LOST;
}

/* On one server, owner by owner: however many there are, no script runs long. RLOCK_LOST: none of
 * them was there any more. */
static enum rlock_status break_on(struct breaking *b, size_t server, int64_t *broken) {
    enum rlock_status sum = RLOCK_LOST;
    for (size_t i = 0; i < b->options->owner_count; i++) {
        if (!name_victim(b, b->options->owners[i]))
            return out_of_memory(b);
        const enum rlock_status status = break_one(b, server, broken);
        if (status == RLOCK_OK)
            sum = RLOCK_OK;
        else if (status != RLOCK_LOST)
            return status;
    }
    return sum;
}

/* Where a majority has answered, the others are too few to hold it. */
static enum rlock_status break_everywhere(struct breaking *b, int64_t *broken) {
    const int64_t now_ms = rlock_now_ms(), end_ms = b->options->deadline_ms;
    const int64_t patience_ms = end_ms > now_ms ? end_ms - now_ms : 0;
    const size_t servers = b->client->count;
    size_t done = 0, gone = 0;
    enum rlock_status failure = RLOCK_UNAVAILABLE;
    for (size_t i = 0; i < servers; i++) {
        int64_t number = 0;
        b->deadline_ms = rlock__after_ms(rlock_now_ms(), patience_ms); /* others may have hung */
        const enum rlock_status status = break_on(b, i, &number);
        done += status == RLOCK_OK;
        gone += status == RLOCK_LOST;
        if (status == RLOCK_CANCELLED)
            return status;
        if (status == RLOCK_OK)
            *broken = number > *broken ? number : *broken;
        else if (status != RLOCK_LOST)
            failure = status;
    }
    if (done + gone < rlock__majority(servers))
        return failure;
    return done > 0 ? RLOCK_OK : RLOCK_LOST;
}

static bool has_owners(const struct rlock_break_options *options) {
    bool all = options->owners != NULL;
    for (size_t i = 0; i < options->owner_count; i++)
        all = all && options->owners[i] != NULL;
    return all;
}

static enum rlock_status take_away(rlock_client *client, const struct rlock_break_options *options,
                                   int64_t *broken) {
    enum rlock_status status = rlock__check_name(client, options->name);
    struct breaking b = {
        .client = client, .options = options, .kind = rlock__kind_find(options->kind)};
    if (status != RLOCK_OK)
        return status;
    if (b.kind == NULL || b.kind->take_away == NULL)
        return rlock__client_invalid(client, "nobody holds such a lock");
    if (!has_owners(options))
        return rlock__client_invalid(client, "an owner is missing");
    if (options->by != NULL && strnlen(options->by, RLOCK_TEXT_MAX + 1) > RLOCK_TEXT_MAX)
        return rlock__client_invalid(
            client, "the name of the user who breaks a lock has at most 1024 bytes");
    status = make_call(&b) ? break_everywhere(&b, broken) : out_of_memory(&b);
    rlock__kind_keys_free(b.keys);
    free(b.lease_key);
    free(b.publish);
    return status;
}

enum rlock_status rlock_break(rlock_client *client, const struct rlock_break_options *given,
                              int64_t *broken) {
    struct rlock_break_options options;
    *broken = 0;
    const enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_break_options, by, &options, given, &client->error);
    return status == RLOCK_OK ? take_away(client, &options, broken) : status;
}
