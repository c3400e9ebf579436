/* ask.c: one script about one name, on all of its servers or some of them, and what they say
 * together. */
#include "lock/ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lock/lock.h"
#include "os/clock.h"

enum { RUNS_MAX = 1024 }; /* in one round trip: what it costs is memory, here and there */

void rlock__ballot_begin(struct rlock__ballot *ballot, struct rlock__resource *resource,
                         struct rlock__routes *routes, const struct rlock__script *script,
                         rlock__judge *judge) {
    *ballot = (struct rlock__ballot){.resource = resource,
                                     .routes = routes,
                                     .script = script,
                                     .judge = judge,
                                     .batch.enough = rlock__majority(routes->count)};
}

struct rlock__call *rlock__ballot_ask(struct rlock__ballot *ballot, size_t server,
                                      struct rlock__call call) {
    const size_t i = ballot->batch.count++;
    ballot->calls[i] = call;
    ballot->runs[i] =
        (struct rlock__run){.route = &ballot->routes->at[server], .call = &ballot->calls[i]};
    ballot->asked[i] = server;
    return &ballot->calls[i];
}

struct rlock__call *rlock__ballot_ask_try(struct rlock__ballot *ballot, size_t server,
                                          struct rlock__call call) {
    call.args[RLOCK__ARG_ID] =
        rlock__resource_try_id(ballot->try_id[ballot->batch.count], ballot->resource,
                               ballot->resource->instances[server].tries);
    return rlock__ballot_ask(ballot, server, call);
}

static void begin_sending(struct rlock__ballot *ballot, int64_t sent_ms) {
    ballot->sent_ms = sent_ms;
    ballot->batch.runs = ballot->runs;
}

void rlock__ballot_run(struct rlock__ballot *ballot, const struct rlock__limit *limit) {
    if (ballot->sent_ms == 0) {
        begin_sending(ballot, rlock_now_ms());
        rlock__script_run_batches(&ballot->batch, ballot->script, limit);
    }
    for (size_t i = 0; i < ballot->batch.count; i++) {
        struct rlock__run *run = &ballot->runs[i];
        const size_t server = ballot->asked[i];
        ballot->votes[server] = ballot->judge(ballot, &ballot->resource->instances[server], run);
        ballot->unconfirmed = ballot->unconfirmed || run->unconfirmed;
    }
}

void rlock__ballot_end(struct rlock__ballot *ballot) {
    for (size_t i = 0; i < ballot->batch.count; i++) {
        rlock__reply_free(ballot->runs[i].answer.reply);
        ballot->runs[i].answer.reply = NULL;
    }
}

enum rlock_status rlock__ballot_decide(struct rlock__ballot *ballot,
                                       const struct rlock__limit *limit) {
    rlock__ballot_run(ballot, limit);
    rlock__ballot_end(ballot);
    return rlock__ballot_count(ballot->routes, ballot->votes);
}

enum rlock_status rlock__ballot_odd_answer(const struct rlock__ballot *ballot,
                                           struct rlock__run *run) {
    rlock__error_set(&run->route->error,
                     "the server's answer to %s can't be understood: code %" PRId64,
                     ballot->script->name, run->answer.code);
    return RLOCK_UNAVAILABLE;
}

enum rlock_status rlock__ballot_vote(const struct rlock__ballot *ballot, struct rlock__run *run,
                                     int64_t most) {
    const int64_t code = run->answer.code;
    if (run->status != RLOCK_OK)
        return run->status;
    if (code < 0 || code > most)
        return rlock__ballot_odd_answer(ballot, run);
    return code > 0 ? RLOCK_OK : RLOCK_LOST;
}

/* --- several names in one round trip ---------------------------------------------------------- */

struct rlock__ballot *rlock__ballot_ahead(struct rlock__resource *resource) {
    return resource->ahead = malloc(sizeof *resource->ahead);
}

void rlock__ballots_send_ahead(struct rlock__resource *resources, size_t count, bool last_first,
                               const struct rlock__limit *limit) {
    struct rlock__ballot *first = NULL;
    struct rlock__batch **end = NULL;
    const int64_t sent_ms = rlock_now_ms();
    for (size_t i = 0; i < count; i++) {
        struct rlock__ballot *ahead = resources[last_first ? count - 1 - i : i].ahead;
        if (ahead == NULL)
            continue;
        begin_sending(ahead, sent_ms);
        if (first == NULL)
            first = ahead;
        else
            *end = &ahead->batch;
        end = &ahead->batch.next;
    }
    if (first != NULL)
        rlock__script_run_batches(&first->batch, first->script, limit);
}

bool rlock__ballot_was_ahead(struct rlock__ballot *ballot, struct rlock__resource *resource) {
    if (resource->ahead == NULL)
        return false;
    *ballot = *resource->ahead;
    free(resource->ahead);
    resource->ahead = NULL;
    return true;
}

size_t rlock__ballots_at_once(const struct rlock_lock *lock, size_t done) {
    const size_t most = RUNS_MAX / lock->client->count;
    const size_t rest = lock->resource_count - done;
    return rest < most ? rest : most;
}

size_t rlock__ballots_due(const struct rlock_lock *lock, size_t done) {
    const bool was_asked = done % (RUNS_MAX / lock->client->count) != 0;
    return lock->resource_count == 1 || was_asked ? 0 : rlock__ballots_at_once(lock, done);
}

/* --- what several servers say together -------------------------------------------------------- */

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

enum rlock_status rlock__ballot_count(struct rlock__routes *routes,
                                      const enum rlock_status *votes) {
    /* What more tries would not change. */
    static const enum rlock_status final[] = {
        RLOCK_LOST,   RLOCK_WRONG_KIND,  RLOCK_REFUSED, RLOCK_OUSTED,
        RLOCK_DENIED, RLOCK_UNAVAILABLE, RLOCK_SYSTEM,
    };
    const size_t count = routes->count, majority = rlock__majority(count);
    size_t which = 0;
    if (count_of(votes, count, RLOCK_DONE, &which) > 0) /* it has happened, whoever else knows it */
        return RLOCK_DONE;
    const size_t yes = count_of(votes, count, RLOCK_OK, &which);
    if (yes >= majority)
        return RLOCK_OK;
    if (count_of(votes, count, RLOCK_CANCELLED, &which) > 0)
        return RLOCK_CANCELLED;
    for (size_t i = 0; i < sizeof final / sizeof final[0]; i++) {
        if (count_of(votes, count, final[i], &which) + majority > count) {
            *routes->error = routes->at[which].error;
            return final[i];
        }
    }
    const size_t busy = count_of(votes, count, RLOCK_BUSY, &which);
    if (busy > 0 && yes + busy >= majority)
        return RLOCK_BUSY;
    for (which = 0; which + 1 < count && (votes[which] == RLOCK_OK || votes[which] == RLOCK_BUSY);)
        which++;
    rlock__routes_explain(routes, yes + busy, which);
    return RLOCK_AGAIN;
}

size_t rlock__ballot_most(const char *const *texts, size_t count, size_t *supporters) {
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

int64_t rlock__ballot_least(const int64_t *numbers, size_t count) {
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

int64_t rlock__ballot_lease_end(const struct rlock__resource *resource) {
    int64_t ends[RLOCK_SERVERS_MAX];
    for (size_t i = 0; i < resource->instance_count; i++)
        ends[i] = resource->instances[i].lease_end_ms;
    return rlock__ballot_least(ends, resource->instance_count);
}
