/* counter.c: what is changed without being held: a latch is set, counted down; a semaphore resized.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lock/lock.h"
#include "os/clock.h"
#include "os/options.h"
#include "os/random.h"
#include "redis/script_retry.h"
#include "rlock_count.h"

enum { DONE = 1, OTHER_KIND = -1 };

/* Which script, on what kind's keys. */
struct verb {
    const char *kind;
    const struct rlock__script *const *script;
    int64_t least;              /* of the number */
    enum rlock_status not_done; /* what the script's "no" means */
    bool records;               /* it is about what is noted of runs */
};

static enum rlock_status check(rlock_client *client, const struct verb *verb,
                               const struct rlock_count *count) {
    const enum rlock_status status = rlock__check_name(client, count->name);
    if (status != RLOCK_OK)
        return status;
    if (client->count > 1)
        return rlock__client_invalid(client, "a count lives on one server");
    if (count->number < verb->least || count->number > RLOCK_PERMITS_MAX)
        return rlock__client_invalid(client, "a count is 1 to 1000000000");
    return RLOCK_OK;
}

/* Nothing of the request is on its way any more, so the server need not remember it. Where this
 * does not arrive, the memory expires by itself. */
static void let_forget(rlock_client *client, const struct rlock_count *count,
                       struct rlock__call call) {
    struct rlock__answer answer;
    const struct rlock__limit limit = rlock__client_call_limit(
        client, rlock_now_ms(), false, count->deadline_ms, count->cancel_fd);
    call.replicated = call.checks = false;
    if (rlock__script_run(&client->routes.at[0], RLOCK__FORGET, &call, &limit, &answer) == RLOCK_OK)
        rlock__reply_free(answer.reply);
}

static enum rlock_status carry_out(rlock_client *client, const struct verb *verb,
                                   const struct rlock__call *call, const struct rlock_count *count,
                                   struct rlock__answer *answer) {
    bool in_doubt;
    enum rlock_status status =
        rlock__script_retry(client, &client->routes.at[0], *verb->script, call, count->deadline_ms,
                            count->cancel_fd, answer, &in_doubt);
    if (status != RLOCK_OK)
        return status;
    rlock__reply_free(answer->reply);
    if (answer->code == OTHER_KIND)
        return RLOCK_WRONG_KIND;
    if (!in_doubt && count->number > 0)
        let_forget(client, count, *call);
    return answer->code == DONE ? RLOCK_OK : verb->not_done;
}

/* Makes the call of the common keys and arguments (lua/include/base.lua), and carries it out. */
static enum rlock_status call_for(rlock_client *client, const struct verb *verb,
                                  const struct rlock_count *count, struct rlock__answer *answer) {
    const struct rlock__kind *kind = rlock__kind_find(verb->kind);
    char id[RLOCK__ID_SIZE] = "", number[24], *keys[RLOCK__KEYS_MAX], *record = NULL;
    const bool drawn = rlock__random_id(id);
    char *publish = rlock__kind_publish(kind, count->name);
    char *tombstone = rlock__kind_tombstone(count->name, id);
    bool made = rlock__kind_keys(keys, kind->keys, count->name) && drawn && publish != NULL &&
                tombstone != NULL;
    if (verb->records)
        made = (record = rlock__kind_key(kind->record, count->name)) != NULL && made;
    (void)snprintf(number, sizeof number, "%" PRId64, count->number);
    struct rlock__call call = {.arg_count = 6,
                               .args = {id, "0", id, number, publish, "0"},
                               .checks = true,
                               .replicated = count->number > 0};
    rlock__call_add_keys(&call, keys);
    if (record != NULL)
        call.keys[call.key_count++] = record;
    call.keys[call.key_count++] = tombstone;
    enum rlock_status status = RLOCK_SYSTEM;
    if (made)
        status = carry_out(client, verb, &call, count, answer);
    else
        rlock__error_set(&client->error, "no memory, or no random bytes");
    rlock__kind_keys_free(keys);
    free(publish);
    free(tombstone);
    free(record);
    return status;
}

/* a, b: the numbers of the answer, NULL: not wanted. */
static enum rlock_status change(rlock_client *client, const struct verb *verb,
                                const struct rlock_count *given, int64_t *a, int64_t *b) {
    struct rlock__answer answer = {.a = 0};
    struct rlock_count count;
    enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_count, cancel_fd, &count, given, &client->error);
    if (status == RLOCK_OK)
        status = check(client, verb, &count);
    if (status == RLOCK_OK)
        status = call_for(client, verb, &count, &answer);
    if (a != NULL)
        *a = answer.a;
    if (b != NULL)
        *b = answer.b;
    return status;
}

enum rlock_status rlock_latch_set(rlock_client *client, const struct rlock_count *count,
                                  int64_t *left) {
    static const struct verb verb = {"latch", &RLOCK__LATCH_SET, 1, RLOCK_BUSY, false};
    return change(client, &verb, count, left, NULL);
}

enum rlock_status rlock_latch_down(rlock_client *client, const struct rlock_count *count,
                                   int64_t *left) {
    static const struct verb verb = {"latch", &RLOCK__LATCH_DOWN, 0, RLOCK_LOST, false};
    return change(client, &verb, count, left, NULL);
}

enum rlock_status rlock_sem_resize(rlock_client *client, const struct rlock_count *count,
                                   int64_t *in_use) {
    static const struct verb verb = {"sem", &RLOCK__SEM_RESIZE, 1, RLOCK_UNAVAILABLE, false};
    return change(client, &verb, count, NULL, in_use);
}

enum rlock_status rlock_skip(rlock_client *client, const struct rlock_count *count,
                             int64_t *skips) {
    static const struct verb verb = {"run", &RLOCK__SKIP, 1, RLOCK_UNAVAILABLE, true};
    return change(client, &verb, count, skips, NULL);
}
