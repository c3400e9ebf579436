/* counter.c: what is changed without being held: a latch is set, counted down; a semaphore resized.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lock/lock.h"
#include "os/clock.h"
#include "os/options.h"
#include "redis/script_retry.h"
#include "rlock_count.h"

enum { DONE = 1, NOT_DONE = 0, OTHER_KIND = -1 };

/* Which script, on what kind's keys. */
struct verb {
    const char *kind;
    const struct rlock__script *script;
    int64_t least;              /* of the number */
    enum rlock_status not_done; /* what the script's "no" means */
    const char *why;            /* NULL: it never says no */
};

static enum rlock_status check(rlock_client *client, const struct verb *verb,
                               const struct rlock_count *count) {
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
    if (rlock__script_run(&client->routes.at[0], &RLOCK__FORGET, &call, &limit, &answer) ==
        RLOCK_OK)
        rlock__reply_free(answer.reply);
}

static void note_doubt(struct rlock__error *error) {
    const struct rlock__error why = *error;
    rlock__error_set(error, "%s; it may be carried out all the same", why.text);
}

static bool is_its_own(const struct verb *verb, int64_t code) {
    return code == DONE || code == OTHER_KIND || (code == NOT_DONE && verb->why != NULL);
}

static enum rlock_status carry_out(rlock_client *client, const struct verb *verb,
                                   struct rlock__call *call, const struct rlock_count *count,
                                   struct rlock__answer *answer) {
    struct rlock__route *route = &client->routes.at[0];
    struct rlock__run run = {.route = route};
    bool in_doubt;
    rlock__script_retry(client, verb->script, &call, &run, &in_doubt, 1, count->deadline_ms,
                        count->cancel_fd);
    const bool is_odd = run.status == RLOCK_OK && !is_its_own(verb, run.answer.code);
    const enum rlock_status status =
        is_odd ? rlock__odd_answer(&route->error, verb->script, run.answer.code) : run.status;
    rlock__reply_free(run.answer.reply);
    if (status != RLOCK_OK) {
        client->error = route->error;
        if ((in_doubt || is_odd) && count->number > 0)
            note_doubt(&client->error);
        return status;
    }
    *answer = run.answer;
    if (answer->code == OTHER_KIND)
        return rlock__wrong_kind(&client->error, count->name);
    if (!in_doubt && count->number > 0)
        let_forget(client, count, *call);
    if (answer->code == DONE)
        return RLOCK_OK;
    rlock__error_set(&client->error, "%s", verb->why);
    return verb->not_done;
}

/* The request is made as one for a lock of that kind is. */
static enum rlock_status call_for(rlock_client *client, const struct verb *verb,
                                  const struct rlock_count *count, struct rlock__answer *answer) {
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    options.kind = verb->kind;
    options.names = &count->name;
    options.name_count = 1;
    rlock_lock *lock;
    char number[24];
    enum rlock_status status = rlock__lock_make(&lock, client, &options, NULL);
    if (status != RLOCK_OK)
        return status;
    const struct rlock__resource *resource = lock->resources;
    struct rlock__call call = rlock__resource_call(resource, resource->hold_id, RLOCK__AND_RECORD);
    (void)snprintf(number, sizeof number, "%" PRId64, count->number);
    call.args[RLOCK__ARG_LEASE] = "0";
    call.args[RLOCK__ARG_PERMITS] = number;
    call.checks = true;
    call.replicated = count->number > 0;
    status = carry_out(client, verb, &call, count, answer);
    rlock_lock_free(lock);
    return status;
}

/* a, b: the numbers of the answer, NULL: not wanted. */
static enum rlock_status change(rlock_client *client, const struct verb *verb,
                                const struct rlock_count *given, int64_t *a, int64_t *b) {
    struct rlock__answer answer = {.a = 0};
    struct rlock_count count;
    enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_count, cancel_fd, &count, given, &client->error);
    if (verb->script == &RLOCK__SKIP)
        count.number = 1; /* always one more */
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
    const struct verb verb = {"latch", &RLOCK__LATCH_SET, 1, RLOCK_BUSY,
                              "the latch is set already"};
    return change(client, &verb, count, left, NULL);
}

enum rlock_status rlock_latch_down(rlock_client *client, const struct rlock_count *count,
                                   int64_t *left) {
    const struct verb verb = {"latch", &RLOCK__LATCH_DOWN, 0, RLOCK_LOST, "there is no such latch"};
    return change(client, &verb, count, left, NULL);
}

enum rlock_status rlock_sem_resize(rlock_client *client, const struct rlock_count *count,
                                   int64_t *in_use) {
    const struct verb verb = {.kind = "sem", .script = &RLOCK__SEM_RESIZE, .least = 1};
    return change(client, &verb, count, NULL, in_use);
}

enum rlock_status rlock_skip(rlock_client *client, const struct rlock_count *count,
                             int64_t *skips) {
    const struct verb verb = {.kind = "run", .script = &RLOCK__SKIP, .least = 1};
    return change(client, &verb, count, skips, NULL);
}
