/* release.c: gives names back, wherever they are or may be, and leaves the lines of their waiters.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lock/ask.h"
#include "os/clock.h"
#include "redis/script_retry.h"

enum { RELEASED = 1, STILL_HELD = 2 };

enum {
    LEAST_MS = 200,     /* whatever the deadline: half of it is the first answer's */
    GIVE_BACK_MS = 250, /* for what a minority gave */
    STRAGGLERS_MS = 100 /* for servers that have not confirmed what a majority has */
};

static enum rlock_status judge(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run) {
    enum rlock_status vote = rlock__ballot_vote(ballot, run, STILL_HELD);
    if (vote == RLOCK_LOST && instance->unanswered == RLOCK__LEAVING)
        vote = RLOCK_OK; /* the request whose answer was lost gave it back */
    rlock__instance_after(instance, RLOCK__RELEASE, rlock__outcome_of(run, vote));
    return vote;
}

/* An attempt without an answer may have re-entered, or not: the script looks for both owners. */
static void ask_for(struct rlock__ballot *ballot, size_t server) {
    const struct rlock__resource *resource = ballot->resource;
    const struct rlock_lock *lock = resource->lock;
    const struct rlock__instance *instance = &resource->instances[server];
    const char *around = resource->proof_owner;
    const bool has_ended = resource->record != NULL && *lock->once.status_text != '\0';
    const bool records = has_ended && lock->once.wanted;
    const char *more[] = {has_ended ? lock->once.status_text : "", ballot->ask->keep_text,
                          around != NULL ? lock->owner : "", instance->may_arrive_late ? "1" : "",
                          records ? lock->once.period_text : "",
                          records ? lock->once.took_text : "", records ? lock->shown : "",
                          records && lock->once.key != NULL ? lock->once.key : "",
                          /* by which it finds its place in line, to leave it */
                          instance->state != RLOCK__HELD ? lock->priority_text : "", NULL};
    const unsigned kept = *ballot->ask->keep_text != '\0' ? RLOCK__AND_KEPT : 0;
    struct rlock__call call = rlock__resource_call(resource, around != NULL ? around : lock->owner,
                                                   kept | RLOCK__AND_RECORD);
    rlock__call_add_args(&call, more);
    call.replicated = resource->held;
    /* The request before may have done it, and some replica not know. */
    call.replicated_no = call.replicated && instance->unanswered == RLOCK__LEAVING;
    (void)rlock__ballot_ask_try(ballot, server, call);
}

static void ask(struct rlock__ballot *ballot, size_t server) {
    const struct rlock__resource *resource = ballot->resource;
    const struct rlock__instance *instance = &resource->instances[server];
    const bool places_too = !ballot->ask->in_passing;
    const bool may_be_held = instance->state == RLOCK__HELD || rlock__instance_in_doubt(instance);
    const bool leaves =
        places_too && (instance->state == RLOCK__IN_LINE || rlock__instance_may_stay(instance));
    /* Of a hold a majority must have lasted until now; of a try that was none all must go. */
    ballot->votes[server] =
        resource->held && instance->state != RLOCK__GIVEN_BACK ? RLOCK_LOST : RLOCK_OK;
    if (may_be_held || leaves)
        ask_for(ballot, server);
    ballot->batch.enough = rlock__majority(ballot->batch.count);
}

static enum rlock_status conclude(struct rlock__ballot *ballot) {
    struct rlock__resource *resource = ballot->resource;
    const enum rlock_status status = rlock__ballot_count(ballot);
    if (status == RLOCK_OK || status == RLOCK_LOST)
        resource->held = false;
    return status;
}

/* Whatever the others have confirmed: a request that was sent and not answered may have been lost,
 * and its connection with it, which is closed by now. */
static enum rlock_status conclude_again(struct rlock__ballot *ballot) {
    bool unanswered = false;
    for (size_t i = 0; i < ballot->batch.count; i++)
        unanswered = unanswered || ballot->batch.runs[i].unanswered;
    return unanswered ? RLOCK_AGAIN : conclude(ballot);
}

/* Release the last name first: a waiter for the first name then finds all of them free. */
static const struct rlock__verb release = {
    .ask = ask, .judge = judge, .conclude = conclude, .last_first = true};
static const struct rlock__verb release_again = {
    .ask = ask, .judge = judge, .conclude = conclude_again, .last_first = true};

static struct rlock__ask asking(struct rlock_lock *lock, int64_t keep_ms) {
    struct rlock__ask ask =
        rlock__asking(lock, &release, lock->kind->release, &(struct rlock__limit){.cancel_fd = -1});
    if (keep_ms > 0)
        (void)snprintf(ask.keep_text, sizeof ask.keep_text, "%" PRId64, keep_ms);
    return ask;
}

/* Nothing is held of what is only waited for. */
static void forget_due(struct rlock_lock *lock) {
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        if (resource->due)
            memset(resource->instances, 0, resource->instance_count * sizeof *resource->instances);
        resource->held = resource->held && !resource->due;
    }
}

/* Gives back all names that are due, again and again until it is answered or the deadline has come.
 */
static enum rlock_status release_until(struct rlock__ask *ask, int64_t deadline_ms, int cancel_fd) {
    struct rlock__tries tries = {.client = ask->lock->client,
                                 .routes = ask->routes,
                                 .began_ms = rlock_now_ms(),
                                 .deadline_ms = deadline_ms,
                                 .cancel_fd = cancel_fd};
    enum rlock_status status = RLOCK_AGAIN;
    if (ask->until_ms < deadline_ms)
        ask->until_ms = deadline_ms;
    if (ask->script == NULL) {
        forget_due(ask->lock);
        return RLOCK_OK;
    }
    while (status == RLOCK_AGAIN) {
        ask->limit = rlock__tries_limit(&tries);
        (void)rlock__ask(ask);
        status = rlock__count_due(ask->lock) > 0 ? rlock__tries_pause(&tries) : RLOCK_OK;
    }
    return ask->status;
}

/* Majorities have confirmed all that could be. A server that has not may have lost the request: it
 * is told again, of all names at once, but one that hangs is not waited for. */
static void tell_again(struct rlock_lock *lock, int64_t keep_ms, int cancel_fd) {
    struct rlock__ask ask = asking(lock, keep_ms);
    ask.verb = &release_again;
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        resource->due = !resource->due && !resource->held && !rlock__resource_is_clear(resource);
    }
    (void)release_until(&ask, rlock_now_ms() + STRAGGLERS_MS, cancel_fd);
}

void rlock__give_back(struct rlock_lock *lock) {
    struct rlock_client *client = lock->client;
    const struct rlock__error why = client->error;
    struct rlock__ask ask = asking(lock, 0);
    ask.in_passing = true; /* a try follows, which says that the last is over */
    ask.limit = rlock__client_limit(client, rlock_now_ms() + GIVE_BACK_MS, -1);
    for (size_t i = 0; i < lock->resource_count; i++)
        lock->resources[i].due = !lock->resources[i].held;
    (void)rlock__ask(&ask);
    client->error = why;
}

/* Of names that are taken all together those that are not waited for are no hold yet. */
static bool stays(const struct rlock__resource *resource) {
    return resource->waited || (resource->lock->any > 0 && resource->held);
}

void rlock__leave(struct rlock_lock *lock, bool all, int64_t end_ms, int cancel_fd) {
    const struct rlock__error why = lock->client->error;
    struct rlock__ask ask = asking(lock, 0);
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        resource->due = (all || !stays(resource)) && !rlock__resource_is_clear(resource);
    }
    (void)release_until(&ask, end_ms, cancel_fd);
    if (all)
        tell_again(lock, 0, cancel_fd);
    for (size_t i = 0; i < lock->resource_count; i++)
        lock->resources[i].held = lock->resources[i].held && !all && stays(&lock->resources[i]);
    lock->client->error = why;
}

enum rlock_status rlock_release(rlock_lock *lock, int64_t keep_ms, int64_t deadline_ms) {
    if (keep_ms > RLOCK_TIME_MAX_MS)
        return rlock__client_invalid(lock->client, "a lock stays taken for at most 36525 days");
    if (keep_ms > 0 && lock->kind->renew == NULL)
        return rlock__client_invalid(lock->client, "only a lock with a lease stays taken");
    const int64_t least_ms = rlock_now_ms() + LEAST_MS;
    struct rlock__ask ask = asking(lock, keep_ms);
    if (lock->client->count == 1) /* while it answers, as long as it may be held there */
        ask.until_ms = rlock_now_ms() + lock->lease_ms;
    for (size_t i = 0; i < lock->resource_count; i++) {
        struct rlock__resource *resource = &lock->resources[i];
        resource->due = resource->held || (lock->any == 0 && rlock__resource_may_be_held(resource));
    }
    const enum rlock_status status =
        release_until(&ask, deadline_ms > least_ms ? deadline_ms : least_ms, -1);
    lock->stuck_at = ask.stuck_at;
    tell_again(lock, keep_ms, -1);
    if (status != RLOCK_OK)
        lock->client->error = ask.why;
    return rlock__final(status);
}

void rlock_note_run(rlock_lock *lock, int exit_status, int64_t took_ms) {
    (void)snprintf(lock->once.status_text, sizeof lock->once.status_text, "%d", exit_status);
    took_ms = took_ms < 0 ? 0 : rlock__sooner_ms(took_ms, RLOCK_TIME_MAX_MS);
    (void)snprintf(lock->once.took_text, sizeof lock->once.took_text, "%" PRId64, took_ms);
}
