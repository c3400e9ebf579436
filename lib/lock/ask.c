/* ask.c: asks the servers one thing about several names, and counts what they say about each. */
#include "lock/ask.h"

#include <stdlib.h>
#include <string.h>

#include "os/clock.h"

enum { RUNS_MAX = 1024 }; /* in one round trip: what it costs is memory, here and there */

/* The names that go out together. */
struct round {
    size_t count;
    struct rlock__ballot *ballots;
    struct rlock__run *runs;           /* for each name one for each server */
    struct rlock__question *questions; /* likewise */
};

/* --- what is asked ---------------------------------------------------------------------------- */

struct rlock__question *rlock__ballot_ask(struct rlock__ballot *ballot, size_t server,
                                          struct rlock__call call) {
    const size_t i = ballot->batch.count++;
    struct rlock__question *question = &ballot->questions[i];
    question->server = server;
    question->call = call;
    ballot->batch.runs[i] =
        (struct rlock__run){.route = &ballot->ask->routes->at[server], .call = &question->call};
    return question;
}

struct rlock__question *rlock__ballot_ask_try(struct rlock__ballot *ballot, size_t server,
                                              struct rlock__call call) {
    struct rlock__question *question = rlock__ballot_ask(ballot, server, call);
    question->call.args[RLOCK__ARG_ID] = rlock__resource_try_id(
        question->try_id, ballot->resource, ballot->resource->instances[server].tries);
    return question;
}

/* --- what one server answers ------------------------------------------------------------------ */

enum rlock_status rlock__ballot_vote(const struct rlock__ballot *ballot, struct rlock__run *run,
                                     int64_t most) {
    const int64_t code = run->answer.code;
    if (run->status != RLOCK_OK)
        return run->status;
    if (code < 0 || code > most)
        return rlock__odd_answer(&run->route->error, ballot->ask->script, code);
    return code > 0 ? RLOCK_OK : RLOCK_LOST;
}

/* --- one round -------------------------------------------------------------------------------- */

static struct rlock__resource *name_at(const struct rlock__ask *ask, size_t i) {
    const size_t count = ask->lock->resource_count;
    return &ask->lock->resources[ask->verb->last_first ? count - 1 - i : i];
}

/* The next names that are due, so many at most. *next: from where on; it is moved behind them. */
static void fill_round(struct round *round, struct rlock__ask *ask, size_t names, size_t *next) {
    const size_t servers = ask->routes->count;
    for (; *next < ask->lock->resource_count && round->count < names; (*next)++) {
        if (!name_at(ask, *next)->due)
            continue;
        const size_t i = round->count++;
        round->ballots[i] = (struct rlock__ballot){
            .ask = ask,
            .resource = name_at(ask, *next),
            .batch = {.runs = &round->runs[i * servers],
                      .enough = rlock__majority(servers),
                      .in_passing = ask->in_passing},
            .questions = &round->questions[i * servers],
        };
        for (size_t server = 0; server < servers; server++)
            ask->verb->ask(&round->ballots[i], server);
        if (i > 0)
            round->ballots[i - 1].batch.next = &round->ballots[i].batch;
    }
}

/* How much an outcome says of the request as a whole. */
static int weight(enum rlock_status status) {
    return status == RLOCK_OK      ? 0
           : status == RLOCK_BUSY  ? 1
           : status == RLOCK_AGAIN ? 2
           : status == RLOCK_LOST  ? 4
                                   : 3;
}

/* Of several outcomes the first of the heaviest counts. */
static void note_outcome(struct rlock__ask *ask, const struct rlock__resource *resource,
                         enum rlock_status status) {
    if (weight(status) <= weight(ask->status))
        return;
    ask->status = status;
    ask->stuck_at = (size_t)(resource - ask->lock->resources);
    ask->why = *ask->routes->error;
}

static void conclude(struct rlock__ballot *ballot) {
    struct rlock__ask *ask = ballot->ask;
    for (size_t i = 0; i < ballot->batch.count; i++) {
        struct rlock__run *run = &ballot->batch.runs[i];
        const size_t server = ballot->questions[i].server;
        ballot->votes[server] = ask->verb->judge(ballot, &ballot->resource->instances[server], run);
        ask->unconfirmed = ask->unconfirmed || run->unconfirmed;
    }
    ballot->resource->due = false; /* conclude() may want another request about it */
    const bool is_behind = ask->verb->in_order && ask->status != RLOCK_OK;
    if (is_behind && ask->verb->note_behind != NULL)
        ask->verb->note_behind(ballot);
    if (is_behind || ask->verb->conclude == NULL)
        return;
    const enum rlock_status status = ask->verb->conclude(ballot);
    ballot->resource->due = ballot->resource->due || status == RLOCK_AGAIN;
    note_outcome(ask, ballot->resource, status);
}

static void run_round(struct round *round, struct rlock__ask *ask) {
    ask->sent_ms = rlock_now_ms();
    round->ballots[0].batch.until_ms = ask->until_ms;
    rlock__script_run_batches(&round->ballots[0].batch, ask->script, &ask->limit);
    for (size_t i = 0; i < round->count; i++) {
        struct rlock__ballot *ballot = &round->ballots[i];
        conclude(ballot);
        for (size_t k = 0; k < ballot->batch.count; k++)
            rlock__reply_free(ballot->batch.runs[k].answer.reply);
    }
}

/* --- all rounds ------------------------------------------------------------------------------- */

size_t rlock__count_due(const struct rlock_lock *lock) {
    size_t count = 0;
    for (size_t i = 0; i < lock->resource_count; i++)
        count += lock->resources[i].due;
    return count;
}

/* False: no memory. */
static bool ask_next(struct rlock__ask *ask, size_t due, size_t *next) {
    const size_t servers = ask->routes->count, most = RUNS_MAX / servers;
    const size_t names = due < most ? due : most;
    struct round round = {.ballots = calloc(names, sizeof *round.ballots),
                          .runs = calloc(names * servers, sizeof *round.runs),
                          .questions = calloc(names * servers, sizeof *round.questions)};
    const bool made = round.ballots != NULL && round.runs != NULL && round.questions != NULL;
    if (made)
        fill_round(&round, ask, names, next);
    if (round.count > 0)
        run_round(&round, ask);
    free(round.ballots);
    free(round.runs);
    free(round.questions);
    return made;
}

struct rlock__ask rlock__asking(struct rlock_lock *lock, const struct rlock__verb *verb,
                                const struct rlock__script *script,
                                const struct rlock__limit *limit) {
    return (struct rlock__ask){.lock = lock,
                               .verb = verb,
                               .script = script,
                               .routes = &lock->client->routes,
                               .limit = *limit};
}

enum rlock_status rlock__ask(struct rlock__ask *ask) {
    const size_t count = ask->lock->resource_count, due = rlock__count_due(ask->lock);
    const int64_t patience_ms = rlock__left_ms(ask->limit.deadline_ms);
    bool memory = true;
    size_t next = 0;
    if (ask->status == RLOCK_BUSY || ask->status == RLOCK_AGAIN)
        ask->status = RLOCK_OK;
    while (due > 0 && next < count && memory) {
        memory = ask_next(ask, due, &next);
        if (ask->verb->in_order && ask->status != RLOCK_OK)
            next = count; /* of the others nothing is wanted */
        if (ask->status != RLOCK_AGAIN)
            ask->limit.deadline_ms =
                rlock__prolonged_ms(ask->limit.deadline_ms, ask->until_ms, patience_ms);
        if (rlock_now_ms() >= ask->limit.deadline_ms)
            break;
    }
    for (; next < count; next++) { /* those that were not asked about */
        if (!name_at(ask, next)->due)
            continue;
        rlock__error_set(ask->routes->error, memory ? "no answer in time" : "no memory");
        note_outcome(ask, name_at(ask, next), memory ? RLOCK_AGAIN : RLOCK_SYSTEM);
    }
    if (ask->status != RLOCK_OK)
        *ask->routes->error = ask->why;
    return ask->status;
}

enum rlock_status rlock__ask_held(struct rlock__ask *ask) {
    for (size_t i = 0; i < ask->lock->resource_count; i++)
        ask->lock->resources[i].due = ask->lock->resources[i].held;
    return rlock__ask(ask);
}
