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
    AT_ONCE = 2, /* owners: however many there are, no script runs long */
};

/* What the calls are made of. */
struct texts {
    char *keys[RLOCK__KEYS_MAX];
    char *publish;
    char id[RLOCK__ID_SIZE];
};

/* A line each. An owner with a newline in it is nobody that a script would find. */
static char *join_lines(const char *const *lines, size_t count) {
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(lines[i]) + 1;
    char *text = malloc(size), *to = text;
    if (text == NULL)
        return NULL;
    *to = '\0';
    for (size_t i = 0; i < count; i++)
        to = stpcpy(stpcpy(to, lines[i]), "\n");
    return text;
}

static bool make_call(struct rlock__call *call, struct texts *texts, const struct rlock__kind *kind,
                      const struct rlock_break_options *options) {
    *texts = (struct texts){.publish = rlock__kind_key(kind->publish, options->name)};
    if (!rlock__kind_keys(texts->keys, kind->keys, options->name) || texts->publish == NULL ||
        !rlock__random_id(texts->id))
        return false;
    *call = (struct rlock__call){.arg_count = 8,
                                 .args = {"", "0", texts->id, "0", texts->publish, "0", "",
                                          options->by != NULL ? options->by : ""},
                                 .checks = true};
    rlock__call_add_keys(call, texts->keys);
    return true;
}

static void free_texts(struct texts *texts) {
    rlock__kind_keys_free(texts->keys);
    free(texts->publish);
}

/* Some of the owners, on one server. RLOCK_LOST after an answer that was lost: that request has
 * done it. */
static enum rlock_status break_some(rlock_client *client, size_t server,
                                    const struct rlock__kind *kind, struct rlock__call *call,
                                    size_t count, const struct rlock_break_options *options,
                                    int64_t *broken) {
    struct rlock__answer answer = {.code = BROKEN_IN_PART};
    const int64_t before = *broken;
    bool in_doubt, done = false;
    while (answer.code == BROKEN_IN_PART) {
        const enum rlock_status status =
            rlock__script_retry(client, &client->routes.at[server], kind->take_away, call,
                                options->deadline_ms, options->cancel_fd, &answer, &in_doubt);
        if (status != RLOCK_OK)
            return status;
        rlock__reply_free(answer.reply);
        if (answer.code == OTHER_KIND)
            return RLOCK_WRONG_KIND;
        const bool is_yes = answer.code == BROKEN || answer.code == BROKEN_IN_PART;
        *broken += is_yes ? answer.a : in_doubt ? (int64_t)count : 0;
        done = done || in_doubt || (is_yes && answer.b > 0) || answer.code == BROKEN;
    }
    *broken += done && *broken == before; /* it gave the rest back by itself */
    return done ? RLOCK_OK : RLOCK_LOST;
}

/* On one server. RLOCK_LOST: none of the owners was there any more. */
static enum rlock_status break_on(rlock_client *client, size_t server,
                                  const struct rlock__kind *kind, struct rlock__call *call,
                                  const struct rlock_break_options *options, int64_t *broken) {
    enum rlock_status sum = RLOCK_LOST;
    for (size_t first = 0; first < options->owner_count; first += AT_ONCE) {
        const size_t rest = options->owner_count - first, count = rest < AT_ONCE ? rest : AT_ONCE;
        char *owners = join_lines(options->owners + first, count);
        if (owners == NULL) {
            rlock__error_set(&client->error, "no memory");
            return RLOCK_SYSTEM;
        }
        call->args[RLOCK__ARG_CHECK + 1] = owners;
        const enum rlock_status status =
            break_some(client, server, kind, call, count, options, broken);
        free(owners);
        if (status == RLOCK_OK)
            sum = RLOCK_OK;
        else if (status != RLOCK_LOST)
            return status;
    }
    return sum;
}

/* Where a majority has answered, the others are too few to hold it. */
static enum rlock_status break_everywhere(rlock_client *client, const struct rlock__kind *kind,
                                          struct rlock__call *call,
                                          const struct rlock_break_options *options,
                                          int64_t *broken) {
    struct rlock_break_options each = *options;
    const int64_t now_ms = rlock_now_ms();
    const int64_t patience_ms = options->deadline_ms > now_ms ? options->deadline_ms - now_ms : 0;
    size_t done = 0, gone = 0;
    enum rlock_status failure = RLOCK_UNAVAILABLE;
    for (size_t i = 0; i < client->count; i++) {
        int64_t number = 0;
        each.deadline_ms = rlock__after_ms(rlock_now_ms(), patience_ms); /* others may have hung */
        const enum rlock_status status = break_on(client, i, kind, call, &each, &number);
        done += status == RLOCK_OK;
        gone += status == RLOCK_LOST;
        if (status == RLOCK_CANCELLED)
            return status;
        if (status == RLOCK_OK)
            *broken = number > *broken ? number : *broken;
        else if (status != RLOCK_LOST)
            failure = status;
    }
    if (done + gone < rlock__majority(client->count))
        return failure;
    return done > 0 ? RLOCK_OK : RLOCK_LOST;
}

static enum rlock_status take_away(rlock_client *client, const struct rlock_break_options *options,
                                   int64_t *broken) {
    enum rlock_status status = rlock__check_name(client, options->name);
    const struct rlock__kind *kind = rlock__kind_find(options->kind);
    struct rlock__call call;
    struct texts texts;
    if (status != RLOCK_OK)
        return status;
    if (kind == NULL || kind->take_away == NULL)
        return rlock__client_invalid(client, "nobody holds such a lock");
    if (options->by != NULL && strnlen(options->by, RLOCK_TEXT_MAX + 1) > RLOCK_TEXT_MAX)
        return rlock__client_invalid(
            client, "the name of the user who breaks a lock has at most 1024 bytes");
    status = RLOCK_SYSTEM;
    if (make_call(&call, &texts, kind, options))
        status = break_everywhere(client, kind, &call, options, broken);
    else
        rlock__error_set(&client->error, "no memory, or no random bytes");
    free_texts(&texts);
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
