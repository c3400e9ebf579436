/* resource_acquire.c: takes one name, on one server or on a majority of several (Redlock, redis.io
 * "Distributed locks with Redis"). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"
#include "lock/vote.h"
#include "os/clock.h"

/* The scripts' codes; each script says at its top which it uses. */
enum {
    GRANTED = 1,
    REENTERED = 2,
    NOT_GRANTED = 0,
    OTHER_KIND = -1,
    NOT_ALLOWED = -2,
    OUT_OF_PLACE = -3 /* -4, of a try that is over, answers none that is still waited for */
};

enum {
    GIVE_BACK_MS = 250, /* for what a minority gave */
    HEAL_MS = 100       /* for what a server does not hold of what the majority does */
};

static const char *text_or_empty(const rlock__reply *reply, size_t i) {
    const char *text = rlock__reply_text(reply, i);
    return text != NULL ? text : "";
}

/* Keeps the reply, whose text the blocker borrows. */
static void note_blocker(struct rlock_lock *lock, const struct rlock__resource *resource,
                         struct rlock__answer *answer) {
    int64_t kept = 0;
    rlock__reply_free(lock->busy_reply);
    lock->busy_reply = answer->reply;
    lock->place = answer->b;
    lock->blocker = (struct rlock_holder){
        .name = resource->name,
        .owner = text_or_empty(answer->reply, 3),
        .host = text_or_empty(answer->reply, 4),
        .user = text_or_empty(answer->reply, 6),
        .command = text_or_empty(answer->reply, 7),
        .position = rlock__resource_in_line(resource) ? answer->b : 0,
        .as_of_ms = rlock_now_ms(),
    };
    (void)rlock__reply_integer(answer->reply, 5, &lock->blocker.pid);
    (void)rlock__reply_integer(answer->reply, 8, &lock->blocker.held_ms);
    (void)rlock__reply_integer(answer->reply, 9, &lock->blocker.waiting);
    lock->blocker.kept = rlock__reply_integer(answer->reply, 10, &kept) && kept == 1;
    answer->reply = NULL;
}

/* A grant without a token is none, where there is something to hold; nor is a re-entry that was not
 * asked for. */
static bool is_grant(const struct rlock_lock *lock, const struct rlock__resource *resource,
                     const struct rlock__answer *answer) {
    const bool told = answer->a > 0 || lock->kind->release == NULL;
    return told && (answer->code == GRANTED ||
                    (answer->code == REENTERED && resource->proof_owner != NULL));
}

/* What one server's answer says, as a vote. */
static enum rlock_status vote_of(const struct rlock_lock *lock,
                                 const struct rlock__resource *resource, struct rlock__run *run) {
    if (run->status != RLOCK_OK)
        return run->status;
    if (run->answer.code == NOT_GRANTED)
        return RLOCK_BUSY;
    if (is_grant(lock, resource, &run->answer))
        return RLOCK_OK;
    const char *why = rlock__reply_text(run->answer.reply, 3);
    if (run->answer.code == OTHER_KIND)
        return RLOCK_WRONG_KIND;
    if (why != NULL && (run->answer.code == NOT_ALLOWED || run->answer.code == OUT_OF_PLACE)) {
        rlock__error_set(&run->route->error, "%s", why);
        return run->answer.code == NOT_ALLOWED ? RLOCK_REFUSED : RLOCK_OUSTED;
    }
    return rlock__resource_odd_answer(run, lock->kind->acquire);
}

/* Doubt belongs to the try: only an answer of a script about this very try ends it. An error that
 * the server has against all requests just now (LOADING, BUSY, NOREPLICAS) says nothing of one that
 * was sent before. */
static void note_doubt(struct rlock__instance *instance, const struct rlock__run *run,
                       enum rlock_status vote) {
    const bool unanswered = run->route->in_doubt;
    if (run->status == RLOCK_OK && vote != RLOCK_UNAVAILABLE)
        instance->in_doubt = instance->abandoned = false;
    else if (unanswered || run->unconfirmed || (vote == RLOCK_UNAVAILABLE && !run->refused))
        instance->in_doubt = true;
    instance->abandoned = instance->abandoned || run->abandoned;
    instance->astray = instance->astray || (unanswered && !run->abandoned);
}

static void note_instance(const struct rlock_lock *lock, struct rlock__instance *instance,
                          const struct rlock__run *run, enum rlock_status vote, bool in_line,
                          int64_t sent_ms) {
    instance->in_line = instance->in_line || in_line;
    if (vote == RLOCK_BUSY && in_line)
        (void)rlock__reply_integer(run->answer.reply, 12, &instance->ticket);
    note_doubt(instance, run, vote);
    instance->held = vote == RLOCK_OK;
    instance->given_back = false;
    if (!instance->held)
        return;
    instance->in_line = false; /* the grant took us out of it */
    instance->ticket = 0;
    instance->reentered = run->answer.code == REENTERED;
    instance->token = run->answer.a;
    instance->lease_end_ms =
        lock->kind->renew != NULL ? rlock__lease_end_ms(sent_ms, lock->lease_ms) : RLOCK_FOREVER;
}

/* How long it may sleep, as the server says that wants it soonest. */
static void note_again(struct rlock_lock *lock, const struct rlock__answer *answer) {
    int64_t again_ms = 0;
    if (rlock__reply_integer(answer->reply, 11, &again_ms) && again_ms > 0 &&
        (lock->again_ms == 0 || again_ms < lock->again_ms))
        lock->again_ms = again_ms;
}

/* Every server's place may be another; who stands first somewhere is woken there. */
static void note_busy(struct rlock_lock *lock, const struct rlock__resource *resource,
                      struct rlock__run *runs, const enum rlock_status *votes, int64_t *hint_ms) {
    const char *owners[RLOCK_SERVERS_MAX] = {NULL};
    size_t busy[RLOCK_SERVERS_MAX] = {0}, count = 0;
    lock->again_ms = 0;
    for (size_t i = 0; i < resource->instance_count; i++) {
        if (votes[i] != RLOCK_BUSY)
            continue;
        note_again(lock, &runs[i].answer);
        owners[count] = text_or_empty(runs[i].answer.reply, 3);
        busy[count++] = i;
    }
    size_t supporters;
    const size_t chosen = rlock__vote_most(owners, count, &supporters);
    lock->split =
        resource->instance_count > 1 && supporters < rlock__vote_majority(resource->instance_count);
    *hint_ms = runs[busy[chosen]].answer.a;
    note_blocker(lock, resource, &runs[busy[chosen]].answer);
}

static enum rlock_status note_hold(struct rlock_lock *lock, struct rlock__resource *resource,
                                   const struct rlock__limit *limit) {
    int64_t token = 0;
    size_t reentered = 0;
    for (size_t i = 0; i < resource->instance_count; i++) {
        const struct rlock__instance *instance = &resource->instances[i];
        if (instance->held && instance->token > token)
            token = instance->token;
        reentered += instance->held && instance->reentered;
    }
    const bool inner = reentered >= rlock__vote_majority(resource->instance_count);
    resource->hold = (struct rlock_hold){
        .name = resource->name,
        .owner = inner ? resource->proof_owner : lock->owner,
        .token = token,
    };
    resource->lease_end_ms = rlock__vote_lease_end(resource);
    resource->held = true;
    return resource->instance_count > 1 ? rlock__resource_agree_on_token(lock, resource, limit)
                                        : RLOCK_OK;
}

/* What was given by too few, or may have been. Places in line stay. */
static void give_back_few(struct rlock_lock *lock, struct rlock__resource *resource) {
    const struct rlock__error why = lock->client->routes.error;
    const struct rlock__limit limit =
        rlock__client_limit(lock->client, rlock_now_ms() + GIVE_BACK_MS, -1);
    resource->held = false;
    (void)rlock__resource_release(lock, resource, 0, false, &limit);
    lock->client->routes.error = why;
}

static void add_take_args(const struct rlock_lock *lock, const struct rlock__resource *resource,
                          struct rlock__call *call, bool in_line, const char *place) {
    const char *more[] = {in_line ? "1" : "0",
                          lock->shown,
                          lock->total_text,
                          lock->variant,
                          resource->proof_owner != NULL ? resource->proof_owner : "",
                          resource->proof_token,
                          place};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        call->args[call->arg_count++] = more[i];
    call->replicated = lock->kind->release != NULL;
}

bool rlock__resource_lines_up(const struct rlock_lock *lock, const struct rlock__resource *resource,
                              const struct rlock__resource *waited_for) {
    return lock->stands && (lock->kind->queued || resource == waited_for);
}

static void add_instance(struct rlock__inquiry *inquiry, struct rlock__resource *resource,
                         struct rlock__routes *routes, size_t i, struct rlock__call call) {
    struct rlock__instance *instance = &resource->instances[i];
    instance->tries += instance->given_up;
    instance->given_up = false;
    char *ticket = inquiry->ticket_text[inquiry->batch.count];
    ticket[0] = '\0';
    if (instance->ticket > 0)
        (void)snprintf(ticket, sizeof inquiry->ticket_text[0], "%" PRId64, instance->ticket);
    call.args[call.arg_count++] = ticket;
    rlock__call_cut(&call);
    (void)rlock__inquiry_add(inquiry, resource, &routes->at[i], i, call);
}

static void prepare(struct rlock_lock *lock, struct rlock__resource *resource, bool in_line,
                    struct rlock__inquiry *inquiry) {
    struct rlock__routes *routes = &lock->client->routes;
    inquiry->place_text[0] = '\0';
    if (lock->busy == resource)
        (void)snprintf(inquiry->place_text, sizeof inquiry->place_text, "%" PRId64, lock->place);
    rlock__inquiry_begin(inquiry, rlock__vote_majority(routes->count));
    struct rlock__call call = rlock__resource_call_to_acquire(lock, resource);
    add_take_args(lock, resource, &call, in_line, inquiry->place_text);
    for (size_t i = 0; i < routes->count; i++)
        add_instance(inquiry, resource, routes, i, call);
}

/* What each server's answer means there. Returns whether one said yes, but not its replicas. */
static bool note_all(struct rlock_lock *lock, struct rlock__resource *resource, bool in_line,
                     struct rlock__inquiry *inquiry, enum rlock_status *votes) {
    bool unconfirmed = false;
    for (size_t i = 0; i < inquiry->batch.count; i++) {
        struct rlock__run *run = &inquiry->runs[i];
        votes[i] = vote_of(lock, resource, run);
        note_instance(lock, &resource->instances[i], run, votes[i], in_line, inquiry->sent_ms);
        unconfirmed = unconfirmed || run->unconfirmed;
    }
    return unconfirmed;
}

enum rlock_status rlock__resource_acquire(struct rlock_lock *lock, struct rlock__resource *resource,
                                          bool in_line, const struct rlock__limit *limit,
                                          int64_t *hint_ms) {
    struct rlock__routes *routes = &lock->client->routes;
    struct rlock__inquiry inquiry;
    enum rlock_status votes[RLOCK_SERVERS_MAX] = {RLOCK_OK};
    if (!rlock__inquiry_was_ahead(&inquiry, resource)) {
        prepare(lock, resource, in_line, &inquiry);
        rlock__inquiry_run(&inquiry, lock->kind->acquire, limit);
    }
    const bool unconfirmed = note_all(lock, resource, in_line, &inquiry, votes);
    enum rlock_status status = rlock__vote_count(routes, votes);
    if (status == RLOCK_BUSY)
        note_busy(lock, resource, inquiry.runs, votes, hint_ms);
    rlock__inquiry_end(&inquiry);
    if (status == RLOCK_OK)
        status = note_hold(lock, resource, limit);
    if (status != RLOCK_OK && (unconfirmed || routes->count > 1))
        give_back_few(lock, resource);
    return status;
}

void rlock__resources_acquire_ahead(struct rlock_lock *lock, size_t first, size_t count,
                                    const struct rlock__resource *waited_for,
                                    const struct rlock__limit *limit) {
    for (size_t i = 0; i < count; i++) {
        struct rlock__resource *resource = &lock->resources[first + i];
        resource->ahead = malloc(sizeof *resource->ahead); /* without memory: one after the other */
        if (resource->ahead != NULL)
            prepare(lock, resource, rlock__resource_lines_up(lock, resource, waited_for),
                    resource->ahead);
    }
    rlock__resources_run_ahead(lock->resources + first, count, false, lock->kind->acquire, limit);
}

void rlock__resource_note(struct rlock_lock *lock, struct rlock__resource *resource) {
    struct rlock__inquiry inquiry;
    enum rlock_status votes[RLOCK_SERVERS_MAX];
    if (!rlock__inquiry_was_ahead(&inquiry, resource))
        return;
    (void)note_all(lock, resource,
                   rlock__resource_lines_up(lock, resource, lock->listener.resource), &inquiry,
                   votes);
    rlock__inquiry_end(&inquiry);
}

void rlock__resource_heal(const struct rlock_lock *lock, struct rlock__resource *resource,
                          struct rlock__routes *routes) {
    struct rlock__inquiry inquiry;
    struct rlock__call call = rlock__resource_call_to_acquire(lock, resource);
    add_take_args(lock, resource, &call, false, "");
    rlock__inquiry_begin(&inquiry, 0);
    for (size_t i = 0; i < routes->count; i++) {
        if (!resource->instances[i].held && !resource->instances[i].in_doubt)
            add_instance(&inquiry, resource, routes, i, call);
    }
    inquiry.batch.enough = inquiry.batch.count;
    if (inquiry.batch.count == 0)
        return;
    const struct rlock__limit limit = {rlock_now_ms() + HEAL_MS, -1};
    rlock__inquiry_run(&inquiry, lock->kind->acquire, &limit);
    for (size_t i = 0; i < inquiry.batch.count; i++) {
        struct rlock__instance *instance = &resource->instances[inquiry.instances[i]];
        const enum rlock_status vote = vote_of(lock, resource, &inquiry.runs[i]);
        note_instance(lock, instance, &inquiry.runs[i], vote, false, inquiry.sent_ms);
        instance->astray =
            instance->astray || instance->abandoned; /* it is given back over another connection */
    }
    rlock__inquiry_end(&inquiry);
    int64_t known = resource->hold.token;
    enum rlock_status denied = RLOCK_OK;
    (void)rlock__resource_propose_token(lock, resource, routes, known, &limit, &known, &denied);
}
