/* take.c: takes all names of a lock or none, on one server or on a majority of several (Redlock,
 * redis.io "Distributed locks with Redis"). */
#include <inttypes.h>
#include <stdio.h>

#include "lock/ask.h"
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
    return answer->code == GRANTED && !only_reenters(resource);
}

/* Where the hold around it stands by another token it is not over: its next renewal mends that. */
static enum rlock_status vote_apart(struct rlock__run *run) {
    if (run->answer.a == 0)
        return RLOCK_LOST;
    rlock__error_set(&run->route->error, "the enclosing hold has another token there");
    return RLOCK_AGAIN;
}

/* What one server's answer says, as a vote. */
static enum rlock_status vote_of(const struct rlock__ballot *ballot, struct rlock__run *run) {
    if (run->status != RLOCK_OK)
        return run->status;
    if (run->answer.code == NOT_GRANTED)
        return RLOCK_BUSY;
    if (is_grant(ballot, &run->answer))
        return RLOCK_OK;
    if (run->answer.code == APART && only_reenters(ballot->resource))
        return vote_apart(run);
    const char *why = rlock__reply_text(run->answer.reply, 3);
    if (run->answer.code == OTHER_KIND)
        return rlock__wrong_kind(&run->route->error, ballot->resource->name);
    if (run->answer.code == DONE && ballot->resource->lock->once.wanted)
        return RLOCK_DONE;
    if (why != NULL && (run->answer.code == NOT_ALLOWED || run->answer.code == OUT_OF_PLACE)) {
        rlock__error_set(&run->route->error, "%s", why);
        return run->answer.code == NOT_ALLOWED ? RLOCK_REFUSED : RLOCK_OUSTED;
    }
    return rlock__odd_answer(&run->route->error, ballot->ask->script, run->answer.code);
}

bool rlock__resource_may_queue(const struct rlock__resource *resource) {
    const struct rlock_lock *lock = resource->lock;
    return lock->may_queue && !only_reenters(resource) &&
           (lock->kind->queued || resource->heard != RLOCK__NO_CHANNEL);
}

enum rlock_status rlock__take_judge(const struct rlock__ballot *ballot,
                                    struct rlock__instance *instance, struct rlock__run *run) {
    struct rlock__resource *resource = ballot->resource;
    const bool in_line = rlock__resource_may_queue(resource);
    const enum rlock_status vote = vote_of(ballot, run);
    if (vote == RLOCK_BUSY && in_line)
        (void)rlock__reply_integer(run->answer.reply, 12, &instance->ticket);
    rlock__instance_after(instance, RLOCK__TAKE, rlock__outcome_of(run, vote));
    if (in_line && instance->state != RLOCK__HELD) /* a grant took us out of it */
        instance->state = RLOCK__IN_LINE;
    if (vote != RLOCK_OK)
        return vote;
    resource->hold.owner =
        run->answer.code == REENTERED ? resource->proof_owner : resource->lock->owner;
    instance->ticket = 0;
    instance->token = run->answer.a;
    instance->granted_ms = ballot->ask->sent_ms;
    return vote;
}

void rlock__take_note_hold(struct rlock__resource *resource) {
    int64_t token = 0;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        if (instance->state == RLOCK__HELD && instance->token > token)
            token = instance->token;
    }
    resource->hold.name = resource->name;
    resource->hold.token = token;
    resource->held = true;
}

/* Of several that are busy the one of a queue counts where most stand before us: so all who want
 * the same names stand in one. */
static void note_longer_line(struct rlock__ballot *ballot) {
    struct rlock__ask *ask = ballot->ask;
    struct rlock__busy *known = ask->busy;
    if (ask->status != RLOCK_BUSY || !ask->lock->kind->queued ||
        rlock__ballot_count(ballot) != RLOCK_BUSY)
        return;
    struct rlock__busy busy = rlock__busy_by_most(ballot);
    if (busy.resource->place > known->resource->place) {
        rlock__reply_free(known->reply);
        *known = busy;
    } else {
        rlock__reply_free(busy.reply);
    }
}

static enum rlock_status conclude(struct rlock__ballot *ballot) {
    struct rlock__resource *resource = ballot->resource;
    const enum rlock_status status = rlock__ballot_count(ballot);
    if (status == RLOCK_OK)
        rlock__take_note_hold(resource);
    else if (status == RLOCK_BUSY)
        *ballot->ask->busy = rlock__busy_by_most(ballot);
    else if (status == RLOCK_DONE)
        *ballot->ask->busy = rlock__busy_by_done(ballot);
    if (status != RLOCK_LOST || !only_reenters(resource))
        return status;
    resource->apart = true; /* most servers have lost the hold around it: we come as a stranger */
    resource->due = true;
    return RLOCK_OK;
}

/* Two that stand first in the lines of different names would keep each other out for ever if each
 * respected the other's line. */
static bool goes_first(const struct rlock__resource *resource) {
    const struct rlock_lock *lock = resource->lock;
    return lock->kind->queued && !resource->waited && lock->resources[lock->stuck_at].waited;
}

void rlock__take_ask(struct rlock__ballot *ballot, size_t server) {
    const struct rlock__resource *resource = ballot->resource;
    struct rlock__instance *instance = &resource->instances[server];
    const struct rlock_lock *lock = resource->lock;
    const bool proves = resource->proof_owner != NULL && !resource->apart;
    const unsigned which = RLOCK__TO_TAKE | (lock->once.wanted ? RLOCK__AND_RECORD : 0);
    struct rlock__call call = rlock__resource_call(resource, lock->owner, which);
    call.checks = true;
    call.replicated = lock->kind->release != NULL;
    if (resource->waited && resource->told_place > 0)
        (void)snprintf(ballot->number, sizeof ballot->number, "%" PRId64, resource->told_place);
    rlock__instance_begin_try(instance);
    struct rlock__question *question = rlock__ballot_ask_try(ballot, server, call);
    if (instance->ticket != 0)
        (void)snprintf(question->number, sizeof question->number, "%" PRId64, instance->ticket);
    const char *more[] = {only_reenters(resource)                ? "2"
                          : !rlock__resource_may_queue(resource) ? "0"
                          : goes_first(resource)                 ? "3"
                                                                 : "1",
                          lock->shown,
                          lock->total_text,
                          lock->variant,
                          proves ? resource->proof_owner : "",
                          proves ? resource->proof_token : "",
                          ballot->number,
                          question->number,
                          lock->once.period_text,
                          lock->preempts_as != NULL ? lock->preempts_as : "",
                          lock->once.key != NULL ? lock->once.key : "",
                          lock->priority_text,
                          lock->waited_text,
                          NULL};
    rlock__call_add_args(&question->call, more);
}

/* --- all names ------------------------------------------------------------------------------- */

/* Which names to ask for first: while one is waited for, that alone, or each try would take the
 * others for a moment and keep all who want them from getting any. Once we are told that it is
 * free, all of them: a server carries that out as one. */
static void choose_first(struct rlock_lock *lock) {
    bool one = false;
    for (size_t i = 0; i < lock->resource_count; i++)
        one = one || (lock->resources[i].waited && !lock->resources[i].told_free);
    for (size_t i = 0; i < lock->resource_count; i++) {
        lock->resources[i].due = !one || lock->resources[i].waited;
        lock->resources[i].told_free = false;
    }
}

/* Which are not held yet; of those that are apart, what some servers gave goes back before. False:
 * all are held. */
static bool choose_missing(struct rlock_lock *lock) {
    if (rlock__count_due(lock) > 0)
        rlock__give_back(lock);
    for (size_t i = 0; i < lock->resource_count; i++)
        lock->resources[i].due = !lock->resources[i].held;
    return rlock__count_due(lock) > 0;
}

enum rlock_status rlock__take(struct rlock_lock *lock, const struct rlock__limit *limit,
                              int64_t until_ms, struct rlock__busy *busy) {
    static const struct rlock__verb take = {.ask = rlock__take_ask,
                                            .judge = rlock__take_judge,
                                            .conclude = conclude,
                                            .in_order = true,
                                            .note_behind = note_longer_line};
    struct rlock__ask ask = rlock__asking(lock, &take, lock->kind->acquire, limit);
    ask.busy = busy;
    ask.until_ms = until_ms;
    choose_first(lock);
    enum rlock_status status = rlock__ask(&ask);
    while (status == RLOCK_OK && choose_missing(lock))
        status = rlock__ask(&ask);
    /* Not held after all: granted by too few, or not confirmed by the replicas. */
    if (status != RLOCK_OK && (ask.unconfirmed || lock->client->count > 1))
        rlock__give_back(lock);
    lock->stuck_at =
        status == RLOCK_BUSY ? (size_t)(busy->resource - lock->resources) : ask.stuck_at;
    return status == RLOCK_OK && lock->client->count > 1 ? rlock__agree_on_tokens(lock, limit, busy)
                                                         : status;
}
