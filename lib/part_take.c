/* part_take.c: takes one name, on one server or on a majority of several (Redlock, redis.io
 * "Distributed locks with Redis"). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "lock.h"
#include "vote.h"

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
static void note_blocker(struct rlock_lock *lock, const struct rlock__part *part,
                         struct rlock__answer *answer) {
    int64_t kept = 0;
    rlock__reply_free(lock->busy_reply);
    lock->busy_reply = answer->reply;
    lock->place = answer->b;
    lock->blocker = (struct rlock_holder){
        .name = part->name,
        .owner = text_or_empty(answer->reply, 3),
        .host = text_or_empty(answer->reply, 4),
        .user = text_or_empty(answer->reply, 6),
        .command = text_or_empty(answer->reply, 7),
        .position = rlock__part_in_line(part) ? answer->b : 0,
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
static bool is_grant(const struct rlock_lock *lock, const struct rlock__part *part,
                     const struct rlock__answer *answer) {
    const bool told = answer->a > 0 || lock->kind->release == NULL;
    return told &&
           (answer->code == GRANTED || (answer->code == REENTERED && part->proof_owner != NULL));
}

/* What one server's answer says, as a vote. */
static enum rlock_status vote_of(const struct rlock_lock *lock, const struct rlock__part *part,
                                 struct rlock__run *run) {
    if (run->status != RLOCK_OK)
        return run->status;
    if (run->answer.code == NOT_GRANTED)
        return RLOCK_BUSY;
    if (is_grant(lock, part, &run->answer))
        return RLOCK_OK;
    const char *why = rlock__reply_text(run->answer.reply, 3);
    if (run->answer.code == OTHER_KIND)
        return RLOCK_WRONG_KIND;
    if (why != NULL && (run->answer.code == NOT_ALLOWED || run->answer.code == OUT_OF_PLACE)) {
        rlock__error_set(&run->route->error, "%s", why);
        return run->answer.code == NOT_ALLOWED ? RLOCK_REFUSED : RLOCK_OUSTED;
    }
    return rlock__part_odd_answer(run, lock->kind->acquire);
}

/* Doubt belongs to the try: only an answer of a script about this very try ends it. An error that
 * the server has against all requests just now (LOADING, BUSY, NOREPLICAS) says nothing of one that
 * was sent before. */
static void note_doubt(struct rlock__seat *seat, const struct rlock__run *run,
                       enum rlock_status vote) {
    const bool unanswered = run->route->in_doubt;
    if (run->status == RLOCK_OK && vote != RLOCK_UNAVAILABLE)
        seat->in_doubt = seat->abandoned = false;
    else if (unanswered || run->unconfirmed || (vote == RLOCK_UNAVAILABLE && !run->refused))
        seat->in_doubt = true;
    seat->abandoned = seat->abandoned || run->abandoned;
    seat->astray = seat->astray || (unanswered && !run->abandoned);
}

static void note_seat(const struct rlock_lock *lock, struct rlock__seat *seat,
                      const struct rlock__run *run, enum rlock_status vote, bool in_line,
                      int64_t sent_ms) {
    seat->in_line = seat->in_line || in_line;
    note_doubt(seat, run, vote);
    seat->held = vote == RLOCK_OK;
    seat->given_back = false;
    if (!seat->held)
        return;
    seat->in_line = false; /* the grant took us out of it */
    seat->reentered = run->answer.code == REENTERED;
    seat->token = run->answer.a;
    seat->lease_end_ms =
        lock->kind->renew != NULL ? rlock__lease_end_ms(sent_ms, lock->lease_ms) : RLOCK_FOREVER;
}

/* Every server's place may be another; who stands first somewhere is woken there. */
static void note_busy(struct rlock_lock *lock, const struct rlock__part *part,
                      struct rlock__run *runs, const enum rlock_status *votes, int64_t *hint_ms) {
    const char *owners[RLOCK_SERVERS_MAX] = {NULL};
    size_t busy[RLOCK_SERVERS_MAX] = {0}, count = 0;
    for (size_t i = 0; i < part->seat_count; i++) {
        if (votes[i] != RLOCK_BUSY)
            continue;
        owners[count] = text_or_empty(runs[i].answer.reply, 3);
        busy[count++] = i;
    }
    size_t supporters;
    const size_t chosen = rlock__vote_most(owners, count, &supporters);
    lock->split = part->seat_count > 1 && supporters < rlock__vote_majority(part->seat_count);
    *hint_ms = runs[busy[chosen]].answer.a;
    note_blocker(lock, part, &runs[busy[chosen]].answer);
}

static enum rlock_status note_hold(struct rlock_lock *lock, struct rlock__part *part,
                                   const struct rlock__limit *limit) {
    int64_t token = 0;
    size_t reentered = 0;
    for (size_t i = 0; i < part->seat_count; i++) {
        const struct rlock__seat *seat = &part->seats[i];
        if (seat->held && seat->token > token)
            token = seat->token;
        reentered += seat->held && seat->reentered;
    }
    const bool inner = reentered >= rlock__vote_majority(part->seat_count);
    part->hold = (struct rlock_hold){
        .name = part->name,
        .owner = inner ? part->proof_owner : lock->owner,
        .token = token,
    };
    part->lease_end_ms = rlock__vote_lease_end(part);
    part->held = true;
    return part->seat_count > 1 ? rlock__part_agree_on_token(lock, part, limit) : RLOCK_OK;
}

/* What was given by too few, or may have been. Places in line stay. */
static void give_back_few(struct rlock_lock *lock, struct rlock__part *part) {
    const struct rlock__error why = lock->client->routes.error;
    const struct rlock__limit limit =
        rlock__client_limit(lock->client, rlock_now_ms() + GIVE_BACK_MS, -1);
    part->held = false;
    (void)rlock__part_give_back(lock, part, 0, false, &limit);
    lock->client->routes.error = why;
}

static void add_take_args(const struct rlock_lock *lock, const struct rlock__part *part,
                          struct rlock__call *call, bool in_line, const char *place) {
    const char *more[] = {part->proof_owner != NULL ? part->proof_owner : "",
                          part->proof_token,
                          in_line ? "1" : "0",
                          lock->host,
                          lock->pid_text,
                          lock->user,
                          lock->command,
                          lock->total_text,
                          lock->variant,
                          place};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        call->args[call->arg_count++] = more[i];
    call->replicated = lock->kind->release != NULL;
}

enum rlock_status rlock__part_take(struct rlock_lock *lock, struct rlock__part *part, bool in_line,
                                   const struct rlock__limit *limit, int64_t *hint_ms) {
    struct rlock__routes *routes = &lock->client->routes;
    struct rlock__run runs[RLOCK_SERVERS_MAX];
    enum rlock_status votes[RLOCK_SERVERS_MAX] = {RLOCK_OK};
    char place[24] = "";
    bool unconfirmed = false;
    if (part->given_up)
        rlock__part_name_try(part, part->tries + 1);
    part->given_up = false;
    struct rlock__call call = rlock__part_call(lock, part, lock->owner);
    if (lock->busy == part)
        (void)snprintf(place, sizeof place, "%" PRId64, lock->place);
    add_take_args(lock, part, &call, in_line, place);
    for (size_t i = 0; i < routes->count; i++)
        runs[i] = (struct rlock__run){.route = &routes->at[i], .call = &call};
    const int64_t sent_ms = rlock_now_ms();
    rlock__script_run_all(runs, routes->count, rlock__vote_majority(routes->count),
                          lock->kind->acquire, limit);
    for (size_t i = 0; i < routes->count; i++) {
        votes[i] = vote_of(lock, part, &runs[i]);
        note_seat(lock, &part->seats[i], &runs[i], votes[i], in_line, sent_ms);
        unconfirmed = unconfirmed || runs[i].unconfirmed;
    }
    enum rlock_status status = rlock__vote_count(routes, votes);
    if (status == RLOCK_BUSY)
        note_busy(lock, part, runs, votes, hint_ms);
    rlock__part_free_answers(runs, routes->count);
    if (status == RLOCK_OK)
        status = note_hold(lock, part, limit);
    if (status != RLOCK_OK && (unconfirmed || routes->count > 1))
        give_back_few(lock, part);
    return status;
}

void rlock__part_heal(const struct rlock_lock *lock, struct rlock__part *part,
                      struct rlock__routes *routes) {
    struct rlock__call call = rlock__part_call(lock, part, lock->owner);
    struct rlock__run runs[RLOCK_SERVERS_MAX];
    size_t seats[RLOCK_SERVERS_MAX], count = 0;
    add_take_args(lock, part, &call, false, "");
    for (size_t i = 0; i < routes->count; i++) {
        if (part->seats[i].held || part->seats[i].in_doubt)
            continue;
        runs[count] = (struct rlock__run){.route = &routes->at[i], .call = &call};
        seats[count++] = i;
    }
    if (count == 0)
        return;
    const int64_t sent_ms = rlock_now_ms();
    const struct rlock__limit limit = {sent_ms + HEAL_MS, -1};
    rlock__script_run_all(runs, count, count, lock->kind->acquire, &limit);
    for (size_t i = 0; i < count; i++) {
        const enum rlock_status vote = vote_of(lock, part, &runs[i]);
        struct rlock__seat *seat = &part->seats[seats[i]];
        note_seat(lock, seat, &runs[i], vote, false, sent_ms);
        seat->astray =
            seat->astray || seat->abandoned; /* it is given back over another connection */
    }
    rlock__part_free_answers(runs, count);
    int64_t known = part->hold.token;
    enum rlock_status denied = RLOCK_OK;
    (void)rlock__part_propose_token(lock, part, routes, known, &limit, &known, &denied);
}
