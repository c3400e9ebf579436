/* votes.c: what the servers' answers about a name come to: an outcome, and why it was not granted.
 */
#include <string.h>

#include "lock/ask.h"
#include "os/clock.h"

static size_t count_of(const enum rlock_status *votes, size_t count, enum rlock_status what,
                       size_t *last) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (votes[i] == what) {
            found++;
            *last = i;
        }
    }
    return found;
}

/* What a server says of the name. All else leaves a route's error that says more. */
static bool is_answer(enum rlock_status vote) {
    return vote == RLOCK_OK || vote == RLOCK_BUSY || vote == RLOCK_LOST ||
           vote == RLOCK_WRONG_KIND || vote == RLOCK_REFUSED || vote == RLOCK_OUSTED;
}

enum rlock_status rlock__ballot_count(struct rlock__ballot *ballot) {
    /* What more tries would not change. */
    static const enum rlock_status final[] = {
        RLOCK_LOST,   RLOCK_WRONG_KIND,  RLOCK_REFUSED, RLOCK_OUSTED,
        RLOCK_DENIED, RLOCK_UNAVAILABLE, RLOCK_SYSTEM,
    };
    struct rlock__routes *routes = ballot->ask->routes;
    const enum rlock_status *votes = ballot->votes;
    const size_t count = routes->count, majority = rlock__majority(count);
    size_t which = 0;
    if (count_of(votes, count, RLOCK_DONE, &which) > 0) /* one server that knows of it is enough */
        return RLOCK_DONE;
    const size_t yes = count_of(votes, count, RLOCK_OK, &which);
    if (yes >= majority)
        return RLOCK_OK;
    if (count_of(votes, count, RLOCK_CANCELLED, &which) > 0)
        return RLOCK_CANCELLED;
    for (size_t i = 0; i < sizeof final / sizeof final[0]; i++) {
        if (count_of(votes, count, final[i], &which) + majority > count) {
            *routes->error = routes->at[which].error;
            if (final[i] == RLOCK_LOST)
                rlock__error_set(routes->error, "%s is not ours any more", ballot->resource->name);
            return final[i];
        }
    }
    const size_t busy = count_of(votes, count, RLOCK_BUSY, &which);
    const size_t lost = count_of(votes, count, RLOCK_LOST, &which);
    size_t answered = 0;
    for (size_t i = 0; i < count; i++)
        answered += is_answer(votes[i]);
    if (busy > 0 && answered - lost >= majority)
        return RLOCK_BUSY;
    for (which = 0; which + 1 < count && is_answer(votes[which]);)
        which++;
    rlock__routes_explain(routes, answered, which);
    return RLOCK_AGAIN;
}

int64_t rlock__votes_least(const int64_t *numbers, size_t count) {
    int64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t as_large = 0;
        for (size_t j = 0; j < count; j++)
            as_large += numbers[j] >= numbers[i];
        if (as_large >= rlock__majority(count) && numbers[i] > most)
            most = numbers[i];
    }
    return most;
}

int64_t rlock__votes_granted(const struct rlock__resource *resource) {
    int64_t times[RLOCK_SERVERS_MAX];
    for (size_t i = 0; i < resource->instance_count; i++)
        times[i] = resource->instances[i].granted_ms;
    return rlock__votes_least(times, resource->instance_count);
}

/* --- why it was not granted ------------------------------------------------------------------- */

static const char *text_or_empty(const rlock__reply *reply, size_t i) {
    const char *text = rlock__reply_text(reply, i);
    return text != NULL ? text : "";
}

/* What the answer says of the holder. Takes the reply, into whose text the result points. */
static struct rlock__busy busy_by(struct rlock__resource *resource, struct rlock__answer *answer) {
    const rlock__reply *reply = answer->reply;
    int64_t beside = 0, asked = 0;
    struct rlock__busy busy = {
        .resource = resource,
        .reply = answer->reply,
        .holder = {.name = resource->name,
                   .owner = text_or_empty(reply, 3),
                   .host = text_or_empty(reply, 4),
                   .user = text_or_empty(reply, 6),
                   .command = text_or_empty(reply, 7),
                   .note = text_or_empty(reply, 13),
                   .position = rlock__resource_in_line(resource) ? answer->b : 0,
                   .as_of_ms = rlock_now_ms()},
    };
    (void)rlock__reply_integer(reply, 5, &busy.holder.pid);
    (void)rlock__reply_integer(reply, 8, &busy.holder.held_ms);
    (void)rlock__reply_integer(reply, 9, &busy.holder.waiting);
    (void)rlock__reply_integer(reply, 10, &beside);
    busy.holder.kept = beside == 1;
    busy.holder.waits = beside == 2;
    if (rlock__reply_integer(reply, 14, &asked) && asked >= RLOCK_PREEMPT_ASKED &&
        asked <= RLOCK_PREEMPT_DENIED)
        busy.holder.preemption = (enum rlock_preemption)asked;
    answer->reply = NULL;
    resource->hint_ms = rlock__resp_bounded(answer->a);
    resource->place = resource->told_place = answer->b;
    return busy;
}

/* How long a waiter may sleep, as the server says that wants it soonest. */
static void note_again(int64_t *again_ms, const rlock__reply *reply) {
    int64_t ms = 0;
    if (rlock__reply_integer(reply, 11, &ms) && ms > 0 && (*again_ms == 0 || ms < *again_ms))
        *again_ms = ms;
}

/* The text that stands there most often: its place; supporters: how often. count is at least 1. */
static size_t most_frequent(const char *const *texts, size_t count, size_t *supporters) {
    size_t best = 0;
    *supporters = 0;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < count; j++)
            same += strcmp(texts[i], texts[j]) == 0;
        if (same > *supporters) {
            *supporters = same;
            best = i;
        }
    }
    return best;
}

/* Our place may differ from server to server; where it is the first, we are woken. */
struct rlock__busy rlock__busy_by_most(struct rlock__ballot *ballot) {
    const char *owners[RLOCK_SERVERS_MAX] = {NULL};
    size_t servers[RLOCK_SERVERS_MAX] = {0}, count = 0, supporters;
    int64_t again_ms = 0;
    for (size_t i = 0; i < ballot->batch.count; i++) {
        if (ballot->votes[ballot->questions[i].server] != RLOCK_BUSY)
            continue;
        note_again(&again_ms, ballot->batch.runs[i].answer.reply);
        owners[count] = text_or_empty(ballot->batch.runs[i].answer.reply, 3);
        servers[count++] = i;
    }
    const size_t chosen = servers[most_frequent(owners, count, &supporters)];
    struct rlock__busy busy = busy_by(ballot->resource, &ballot->batch.runs[chosen].answer);
    ballot->resource->again_ms = again_ms;
    busy.split = ballot->batch.count > 1 && supporters < ballot->batch.enough;
    return busy;
}

/* One server's word is enough, however many there are: it has happened. */
struct rlock__busy rlock__busy_by_done(struct rlock__ballot *ballot) {
    size_t i = 0;
    while (ballot->votes[ballot->questions[i].server] != RLOCK_DONE)
        i++;
    struct rlock__answer *answer = &ballot->batch.runs[i].answer;
    rlock__reply *reply = answer->reply;
    struct rlock__busy busy = {
        .done = true,
        .reply = reply,
        .run = {.host = text_or_empty(reply, 3),
                .user = text_or_empty(reply, 5),
                .command = text_or_empty(reply, 6),
                .age_ms = rlock__resp_bounded(answer->a),
                .took_ms = answer->b},
    };
    int64_t same_key = 0;
    (void)rlock__reply_integer(reply, 4, &busy.run.pid);
    busy.run.same_key = rlock__reply_integer(reply, 7, &same_key) && same_key == 1;
    answer->reply = NULL;
    return busy;
}

/* Others took each token that we wanted: as after a split vote one tries again, not all at once. */
struct rlock__busy rlock__busy_by_rivals(struct rlock__resource *resource) {
    struct rlock__busy busy = busy_by(resource, &(struct rlock__answer){.a = -1});
    resource->again_ms = 0;
    busy.split = true;
    return busy;
}
