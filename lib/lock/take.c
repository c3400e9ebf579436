/* take.c: takes one name, on one server or on a majority of several (Redlock, redis.io
 * "Distributed locks with Redis"). */
#include <inttypes.h>
#include <stdio.h>

#include "lock/ask.h"
#include "lock/lock.h"
#include "os/clock.h"

/* The scripts' codes; each script says at its top which it uses. */
enum {
    GRANTED = 1,
    REENTERED = 2,
    NOT_GRANTED = 0,
    OTHER_KIND = -1,
    NOT_ALLOWED = -2,
    OUT_OF_PLACE = -3, /* -4, of a try that is over, answers none that is still waited for */
    DONE = -5,
    APART = -6
};

enum { GIVE_BACK_MS = 250 }; /* for what a minority gave */

/* On several servers a hold is that of the owner around it on most of them, or none: what one of
 * them would give anew, for it has lost that hold, is another, with another token. */
static bool only_reenters(const struct rlock__resource *resource) {
    return resource->proof_owner != NULL && resource->instance_count > 1 && !resource->apart;
}

/* A grant without a token is none, where there is something to hold; nor is a re-entry that was not
 * asked for. */
static bool is_grant(const struct rlock__ballot *ballot, const struct rlock__answer *answer) {
    const struct rlock__resource *resource = ballot->resource;
    if (answer->a <= 0 && resource->lock->kind->release != NULL)
        return false;
    if (answer->code == REENTERED)
        return resource->proof_owner != NULL && !resource->apart;
    return answer->code == GRANTED && !ballot->only_reenters;
}

/* What one server's answer says, as a vote. */
static enum rlock_status vote_of(const struct rlock__ballot *ballot, struct rlock__run *run) {
    if (run->status != RLOCK_OK)
        return run->status;
    if (run->answer.code == NOT_GRANTED)
        return RLOCK_BUSY;
    if (is_grant(ballot, &run->answer))
        return RLOCK_OK;
    if (run->answer.code == APART && ballot->only_reenters)
        return RLOCK_LOST;
    const char *why = rlock__reply_text(run->answer.reply, 3);
    if (run->answer.code == OTHER_KIND)
        return RLOCK_WRONG_KIND;
    if (run->answer.code == DONE && ballot->resource->record != NULL)
        return RLOCK_DONE;
    if (why != NULL && (run->answer.code == NOT_ALLOWED || run->answer.code == OUT_OF_PLACE)) {
        rlock__error_set(&run->route->error, "%s", why);
        return run->answer.code == NOT_ALLOWED ? RLOCK_REFUSED : RLOCK_OUSTED;
    }
    return rlock__ballot_odd_answer(ballot, run);
}

static enum rlock_status judge(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run) {
    const struct rlock_lock *lock = ballot->resource->lock;
    const enum rlock_status vote = vote_of(ballot, run);
    instance->in_line = instance->in_line || ballot->in_line;
    if (vote == RLOCK_BUSY && ballot->in_line)
        (void)rlock__reply_integer(run->answer.reply, 12, &instance->ticket);
    rlock__instance_note_doubt(instance, run, vote);
    instance->held = vote == RLOCK_OK;
    instance->given_back = false;
    if (!instance->held)
        return vote;
    instance->in_line = false; /* the grant took us out of it */
    instance->ticket = 0;
    instance->reentered = run->answer.code == REENTERED;
    instance->token = run->answer.a;
    instance->lease_end_ms = lock->kind->renew != NULL
                                 ? rlock__lease_end_ms(ballot->sent_ms, lock->lease_ms)
                                 : RLOCK_FOREVER;
    return vote;
}

static void note_hold(struct rlock__resource *resource) {
    int64_t token = 0;
    bool inner = false;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        if (instance->held && instance->token > token)
            token = instance->token;
        inner = inner || (instance->held && instance->reentered);
    }
    resource->hold = (struct rlock_hold){
        .name = resource->name,
        .owner = inner ? resource->proof_owner : resource->lock->owner,
        .token = token,
    };
    resource->lease_end_ms = rlock__ballot_lease_end(resource);
    resource->held = true;
}

void rlock__resource_give_back(struct rlock__resource *resource) {
    struct rlock_client *client = resource->lock->client;
    const struct rlock__error why = client->error;
    const struct rlock__limit limit =
        rlock__client_limit(client, rlock_now_ms() + GIVE_BACK_MS, -1);
    resource->held = false;
    (void)rlock__resource_release(resource, 0, false, &limit);
    client->error = why;
}

static void add_take_args(const struct rlock__ballot *ballot, struct rlock__call *call) {
    const struct rlock__resource *resource = ballot->resource;
    const struct rlock_lock *lock = resource->lock;
    const bool proves = resource->proof_owner != NULL && !resource->apart;
    const char *more[] = {ballot->only_reenters ? "2"
                          : ballot->in_line     ? "1"
                                                : "0",
                          lock->shown,
                          lock->total_text,
                          lock->variant,
                          proves ? resource->proof_owner : "",
                          proves ? resource->proof_token : "",
                          ballot->place_text};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        call->args[call->arg_count++] = more[i];
    call->replicated = lock->kind->release != NULL;
}

bool rlock__resource_lines_up(const struct rlock__resource *resource) {
    const struct rlock_lock *lock = resource->lock;
    return lock->stands && (lock->kind->queued || resource == lock->listener.resource);
}

static void ask(struct rlock__ballot *ballot, size_t server, struct rlock__call call) {
    struct rlock__instance *instance = &ballot->resource->instances[server];
    const char *preempts_as = ballot->resource->lock->preempts_as;
    instance->tries += instance->given_up;
    instance->given_up = false;
    char *ticket = ballot->ticket_text[ballot->batch.count];
    if (instance->ticket > 0)
        (void)snprintf(ticket, sizeof ballot->ticket_text[0], "%" PRId64, instance->ticket);
    call.args[call.arg_count++] = ticket;
    call.args[call.arg_count++] = ballot->resource->lock->once.period_text;
    call.args[call.arg_count++] = preempts_as != NULL ? preempts_as : "";
    rlock__call_cut(&call);
    (void)rlock__ballot_ask_try(ballot, server, call);
}

static void prepare(struct rlock__ballot *ballot, struct rlock__resource *resource) {
    const struct rlock_lock *lock = resource->lock;
    rlock__ballot_begin(ballot, resource, &lock->client->routes, lock->kind->acquire, judge);
    ballot->only_reenters = only_reenters(resource);
    ballot->in_line = !ballot->only_reenters && rlock__resource_lines_up(resource);
    if (lock->busy.resource == resource)
        (void)snprintf(ballot->place_text, sizeof ballot->place_text, "%" PRId64, lock->busy.place);
    struct rlock__call call = rlock__resource_call_to_acquire(resource);
    add_take_args(ballot, &call);
    for (size_t i = 0; i < lock->client->count; i++)
        ask(ballot, i, call);
}

static enum rlock_status take(struct rlock__resource *resource, const struct rlock__limit *limit,
                              struct rlock__busy *busy) {
    struct rlock__ballot ballot;
    if (!rlock__ballot_was_ahead(&ballot, resource))
        prepare(&ballot, resource);
    rlock__ballot_run(&ballot, limit);
    const enum rlock_status status = rlock__ballot_count(ballot.routes, ballot.votes);
    if (status == RLOCK_BUSY)
        *busy = rlock__busy_by_most(&ballot);
    else if (status == RLOCK_DONE)
        *busy = rlock__busy_by_done(&ballot);
    rlock__ballot_end(&ballot);
    if (status == RLOCK_OK)
        note_hold(resource);
    else if (ballot.unconfirmed || resource->instance_count > 1)
        rlock__resource_give_back(resource);
    return status;
}

enum rlock_status rlock__resource_acquire(struct rlock__resource *resource,
                                          const struct rlock__limit *limit,
                                          struct rlock__busy *busy) {
    const bool reenters = only_reenters(resource);
    const enum rlock_status status = take(resource, limit, busy);
    if (!reenters || status != RLOCK_LOST)
        return status;
    resource->apart = true; /* who has outlived it is a stranger */
    return take(resource, limit, busy);
}

void rlock__resources_acquire_ahead(const struct rlock_lock *lock, size_t first, size_t count,
                                    const struct rlock__limit *limit) {
    for (size_t i = first; i < first + count; i++) {
        struct rlock__ballot *ballot = rlock__ballot_ahead(&lock->resources[i]);
        if (ballot != NULL)
            prepare(ballot, &lock->resources[i]);
    }
    rlock__ballots_send_ahead(lock->resources + first, count, false, limit);
}

void rlock__resource_note(struct rlock__resource *resource) {
    struct rlock__ballot ballot;
    if (!rlock__ballot_was_ahead(&ballot, resource))
        return;
    rlock__ballot_run(&ballot, NULL);
    rlock__ballot_end(&ballot);
}
