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
    NOT_HELD = 0,
    BROKEN = 1,
    BROKEN_IN_PART = 2, /* a semaphore's permits: so many that one script does not take all */
    OTHER_KIND = -1,
    AT_ONCE = 50 /* owners, in one round trip */
};

struct breaking {
    rlock_client *client;
    const struct rlock__kind *kind;
    const struct rlock_break_options *options;
    int64_t patience_ms;         /* for each answer */
    struct rlock__call *calls;   /* for so many owners as go at once */
    char *keys[RLOCK__KEYS_MAX]; /* what the calls are made of */
    char *lease_keys[AT_ONCE];
    char *publish;
    char id[RLOCK__ID_SIZE];
    bool failed[RLOCK_SERVERS_MAX]; /* they are asked no more */
    enum rlock_status failure;      /* the last */
    struct victim {
        bool held;      /* on one of the servers that have answered, before */
        size_t answers; /* of the servers: it does not any more */
    } * victims;        /* as many as owners */
};

static bool make_calls(struct breaking *b) {
    const char *by = b->options->by, *name = b->options->name;
    b->publish = rlock__kind_key(b->kind->publish, name);
    b->calls = calloc(AT_ONCE, sizeof *b->calls);
    b->victims = calloc(b->options->owner_count + 1, sizeof *b->victims);
    if (!rlock__kind_keys(b->keys, b->kind->keys, name) || b->publish == NULL || b->calls == NULL ||
        b->victims == NULL || !rlock__random_id(b->id))
        return false;
    for (size_t i = 0; i < AT_ONCE; i++) {
        b->calls[i] = (struct rlock__call){
            .arg_count = 8,
            .args = {"", "0", b->id, "0", b->publish, "0", "", by != NULL ? by : ""},
            .checks = true,
            .replicated = true};
        rlock__call_add_keys(&b->calls[i], b->keys);
        b->calls[i].key_count += b->kind->shares; /* the lease key */
    }
    return true;
}

static void free_calls(struct breaking *b) {
    rlock__kind_keys_free(b->keys);
    for (size_t i = 0; i < AT_ONCE; i++)
        free(b->lease_keys[i]);
    free(b->publish);
    free(b->calls);
    free(b->victims);
}

static enum rlock_status out_of_memory(const struct breaking *b) {
    rlock__error_set(&b->client->error, "no memory, or no random bytes");
    return RLOCK_SYSTEM;
}

/* The holder that is to lose it by the i-th call. False: no memory. */
static bool name_victim(struct breaking *b, size_t i, const char *owner) {
    struct rlock__call *call = &b->calls[i];
    call->args[RLOCK__ARG_CHECK + 1] = owner;
    call->replicated_no = false; /* of the owner before */
    if (!b->kind->shares)
        return true;
    free(b->lease_keys[i]);
    b->lease_keys[i] = rlock__kind_lease_key(b->options->name, owner, false);
    call->keys[call->key_count - 1] = b->lease_keys[i];
    return b->lease_keys[i] != NULL;
}

/* Takes the answer about one owner, after so many parts. RLOCK_AGAIN: it has more. An owner that
 * was not there any more held nothing; but not after an answer that was lost: that request has done
 * it. */
static enum rlock_status hear(const struct breaking *b, struct victim *victim,
                              const struct rlock__run *run, bool in_doubt, size_t parts) {
    if (run->status != RLOCK_OK) {
        b->client->error = run->route->error;
        return run->status;
    }
    const int64_t code = run->answer.code, permits = run->answer.b;
    rlock__reply_free(run->answer.reply);
    if (code == OTHER_KIND)
        return rlock__wrong_kind(&b->client->error, b->options->name);
    if (code < NOT_HELD || code > (parts < b->kind->parts ? BROKEN_IN_PART : BROKEN))
        return rlock__odd_answer(&b->client->error, b->kind->take_away, code);
    victim->held =
        victim->held || in_doubt || code == BROKEN || (code == BROKEN_IN_PART && permits > 0);
    if (code == BROKEN_IN_PART)
        return RLOCK_AGAIN;
    victim->answers++;
    return RLOCK_OK;
}

static bool goes_on(const struct breaking *b) {
    return b->failure != RLOCK_CANCELLED && b->failure != RLOCK_SYSTEM;
}

/* Some owners, on all servers that have answered so far, those that have more than one script takes
 * until they have not. On all at once: a holder that hears of it renews, and finds it gone. */
static void break_some(struct breaking *b, size_t first, size_t count) {
    struct rlock__call *calls[RLOCK__CALLS_MAX];
    struct rlock__run runs[RLOCK__CALLS_MAX];
    bool in_doubt[RLOCK__CALLS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!name_victim(b, i, b->options->owners[first + i]))
            b->failure = out_of_memory(b);
        for (size_t server = 0; server < b->client->count; server++) {
            calls[n] = &b->calls[i];
            runs[n].route = &b->client->routes.at[server];
            n += !b->failed[server];
        }
    }
    for (size_t parts = 0; n > 0 && goes_on(b); parts++) {
        const size_t asked = n;
        rlock__script_retry(b->client, b->kind->take_away, calls, runs, in_doubt, asked,
                            rlock__after_ms(rlock_now_ms(), b->patience_ms), b->options->cancel_fd);
        n = 0;
        for (size_t i = 0; i < asked; i++) {
            struct victim *victim = &b->victims[first + (size_t)(calls[i] - b->calls)];
            const enum rlock_status status = hear(b, victim, &runs[i], in_doubt[i], parts);
            if (status == RLOCK_AGAIN) {
                calls[n] = calls[i];
                runs[n++].route = runs[i].route;
            } else if (status != RLOCK_OK) {
                b->failed[runs[i].route - b->client->routes.at] = true;
                b->failure = goes_on(b) ? status : b->failure;
            }
        }
    }
}

/* The owners that held it, and do not any more: where a majority has answered, the other servers
 * are too few for a hold. RLOCK_LOST: nobody. */
static enum rlock_status sum_up(const struct breaking *b, int64_t *broken) {
    const size_t majority = rlock__majority(b->client->count);
    for (size_t i = 0; i < b->options->owner_count; i++) {
        const bool is_broken = b->victims[i].held && b->victims[i].answers >= majority;
        *broken += is_broken;
        if (b->options->broken != NULL)
            b->options->broken[i] = is_broken;
    }
    return *broken > 0 ? RLOCK_OK : RLOCK_LOST;
}

/* Owner by owner: however many there are, no script runs long. */
static enum rlock_status break_all(struct breaking *b, int64_t *broken) {
    const size_t owners = b->options->owner_count, servers = b->client->count;
    const size_t most = RLOCK__CALLS_MAX / servers < AT_ONCE ? RLOCK__CALLS_MAX / servers : AT_ONCE;
    size_t answered = servers;
    for (size_t i = 0; i < owners && goes_on(b); i += most)
        break_some(b, i, owners - i < most ? owners - i : most);
    for (size_t i = 0; i < servers; i++)
        answered -= b->failed[i];
    const enum rlock_status status = sum_up(b, broken);
    return goes_on(b) && answered >= rlock__majority(servers) ? status : b->failure;
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
    struct breaking b = {.client = client,
                         .options = options,
                         .kind = rlock__kind_find(options->kind),
                         .patience_ms = rlock__left_ms(options->deadline_ms)};
    if (status != RLOCK_OK)
        return status;
    if (b.kind == NULL || b.kind->take_away == NULL)
        return rlock__client_invalid(client, "nobody holds such a lock");
    if (!has_owners(options))
        return rlock__client_invalid(client, "an owner is missing");
    if (options->by != NULL && strnlen(options->by, RLOCK_TEXT_MAX + 1) > RLOCK_TEXT_MAX)
        return rlock__client_invalid(
            client, "the name of the user who breaks a lock has at most 1024 bytes");
    status = make_calls(&b) ? break_all(&b, broken) : out_of_memory(&b);
    free_calls(&b);
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
