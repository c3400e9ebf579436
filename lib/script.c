/* script.c: runs one of our scripts, on one server or on several at once. */
#include "script.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "script_replicas.h"

enum {
    REDIRECTIONS_MAX = 8,
    HASTY_MS = 50,         /* less is too little to be told anything */
    STRAGGLER_MIN_MS = 20, /* for those that have not answered when it is decided: */
    STRAGGLER_MAX_MS = 50  /* as long again as that took */
};

static struct rlock__arg text_arg(const char *text) {
    return (struct rlock__arg){text, strlen(text)};
}

void rlock__call_add_keys(struct rlock__call *call, char *const keys[RLOCK__KEYS_MAX]) {
    for (size_t i = 0; i < RLOCK__KEYS_MAX && keys[i] != NULL; i++)
        call->keys[call->key_count++] = keys[i];
}

/* --- one server ------------------------------------------------------------------------------ */

static bool is_sharded(const struct rlock__run *run) {
    const char *publish = run->call->args[RLOCK__ARG_PUBLISH];
    return run->call->key_count > 0 &&
           rlock__route_sharded(run->route, run->call->keys[0], publish + strlen(RLOCK__SPUBLISH));
}

static bool ask_script(struct rlock__run *run, const struct rlock__script *script) {
    const struct rlock__call *call = run->call;
    const bool by_hash = run->stage == RLOCK__RUN_HASH;
    const char *asking[] = {"ASKING"}; /* it is for one command only */
    run->link->most =
        call->most > run->link->most || run->link->expected == 0 ? call->most : run->link->most;
    run->first = run->link->expected + 1;
    run->last = run->first + run->asking;
    if (run->asking && !rlock__link_ask_words(run->link, 1, asking))
        return false;
    struct rlock__arg args[3 + RLOCK__KEYS_MAX + RLOCK__ARGS_MAX];
    char key_count[8];
    (void)snprintf(key_count, sizeof key_count, "%zu", call->key_count);
    size_t n = 0;
    args[n++] = text_arg(by_hash ? "EVALSHA" : "EVAL");
    args[n++] = by_hash ? text_arg(script->sha1)
                        : (struct rlock__arg){(const char *)script->body, script->size};
    args[n++] = text_arg(key_count);
    for (size_t i = 0; i < call->key_count; i++)
        args[n++] = text_arg(call->keys[i]);
    for (size_t i = 0; i < call->arg_count; i++) {
        const bool plain = i == RLOCK__ARG_PUBLISH && !is_sharded(run);
        args[n++] = text_arg(call->args[i] + plain);
    }
    return rlock__link_ask(run->link, n, args);
}

/* The run is over. Where it did not work the way may have changed. */
static void end(struct rlock__run *run, enum rlock_status status) {
    run->done = true;
    run->status = status;
    if (run->link != NULL) {
        run->route->answered = run->route->answered || run->link->answered;
        run->route->in_doubt = run->link->in_doubt;
        run->route->used = status == RLOCK_OK ? run->link : run->route->used;
        if (status != RLOCK_OK && !run->unconfirmed)
            run->route->error = run->link->error;
    }
    if (status == RLOCK_AGAIN)
        rlock__route_doubt(run->route);
    if (status != RLOCK_OK) {
        rlock__reply_free(run->answer.reply);
        run->answer.reply = NULL;
    }
}

static void ask_or_end(struct rlock__run *run, bool asked) {
    if (!asked)
        end(run, RLOCK_SYSTEM);
}

/* Finds the way, which may ask for it: before anything is put into a request. */
static void begin(struct rlock__run *run, const struct rlock__limit *limit) {
    run->answer = (struct rlock__answer){.code = 0};
    run->refused = run->unconfirmed = run->abandoned = run->done = false;
    run->stage = RLOCK__RUN_HASH;
    run->asking = false;
    run->redirections = 0;
    run->replicas_by_ms = 0;
    run->last = 0;
    run->link = NULL;
    size_t node = run->call->node;
    const enum rlock_status status =
        run->call->key_count > 0
            ? rlock__route_find(run->route, run->call->keys[0], limit, &run->link)
            : rlock__route_node(run->route, &node, limit, &run->link);
    if (status == RLOCK_OK && run->link != NULL)
        return;
    run->link = NULL;
    run->refused = true;
    end(run, status == RLOCK_OK ? RLOCK_AGAIN : status); /* a node that has gone */
}

/* Sent elsewhere by the reply; too often where the nodes do not agree, which may pass. */
static bool redirected(struct rlock__run *run, const struct rlock__script *script,
                       const char *text) {
    struct rlock__link *to = rlock__route_redirected(run->route, run->link, text, &run->asking);
    if (to == NULL)
        return false;
    if (run->redirections++ >= REDIRECTIONS_MAX) {
        rlock__error_set(&run->link->error, "%s", text);
        end(run, RLOCK_AGAIN);
        return true;
    }
    run->link = to;
    ask_or_end(run, ask_script(run, script));
    return true;
}

static bool begins_with(const char *text, const char *word) {
    return text != NULL && strncmp(text, word, strlen(word)) == 0;
}

/* The first number may be a token, of which a script has the digits alone: its own numbers are
 * exact up to 2^53 only. */
static bool number_or_digits(const rlock__reply *reply, int64_t *out) {
    enum { DIGITS_MIN = 16 };
    const char *text = rlock__reply_text(reply, 1);
    if (text == NULL)
        return rlock__reply_integer(reply, 1, out);
    const size_t digits = strspn(text, "0123456789");
    if (digits < DIGITS_MIN || text[digits] != '\0')
        return false;
    errno = 0;
    *out = strtoll(text, NULL, 10);
    return errno == 0;
}

static void decode(struct rlock__run *run, const struct rlock__script *script,
                   rlock__reply *reply) {
    struct rlock__answer *out = &run->answer;
    enum rlock_status status = rlock__link_judge(run->link, reply);
    out->reply = reply;
    run->refused = begins_with(rlock__reply_error(reply), "MOVED ");
    if (status == RLOCK_AGAIN)
        run->route->told = run->link->error;
    else
        run->route->told.text[0] = '\0';
    if (status == RLOCK_OK &&
        !(rlock__reply_integer(reply, 0, &out->code) && number_or_digits(reply, &out->a) &&
          rlock__reply_integer(reply, 2, &out->b))) {
        rlock__error_set(&run->link->error, "the server's answer to %s can't be understood",
                         script->name);
        status = RLOCK_UNAVAILABLE;
    }
    if (status == RLOCK_OK && run->call->replicated && out->code > 0)
        status = rlock__run_ask_replicas(run);
    if (status != RLOCK__ASKED)
        end(run, status);
}

/* What has been said to one run; the reply is the run's. */
static void hear(struct rlock__run *run, const struct rlock__script *script, rlock__reply *reply) {
    const char *error = rlock__reply_error(reply);
    if (run->stage == RLOCK__RUN_REPLICAS) {
        const enum rlock_status status = rlock__run_hear_replicas(run, reply);
        rlock__reply_free(reply);
        if (status != RLOCK__ASKED)
            end(run, status);
    } else if (begins_with(error, "NOSCRIPT") && run->stage == RLOCK__RUN_HASH) {
        rlock__reply_free(reply);
        run->stage = RLOCK__RUN_BODY;
        ask_or_end(run, ask_script(run, script));
    } else if (error != NULL && redirected(run, script, error)) {
        rlock__reply_free(reply);
    } else {
        decode(run, script, reply);
    }
}

static void fail(struct rlock__run *run, enum rlock_status status) {
    run->unconfirmed = run->stage == RLOCK__RUN_REPLICAS;
    run->route->error = run->link->error;
    end(run, status);
}

/* --- all of them ----------------------------------------------------------------------------- */

static bool is_yes(const struct rlock__run *run) {
    return run->done && run->status == RLOCK_OK && run->answer.code > 0;
}

/* Whether more answers would change nothing. */
static bool decided(const struct rlock__ballot *ballot) {
    size_t yes = 0, no = 0;
    for (size_t i = 0; i < ballot->count; i++) {
        yes += is_yes(&ballot->runs[i]);
        no += ballot->runs[i].done && !is_yes(&ballot->runs[i]);
    }
    return yes >= ballot->enough || no + ballot->enough > ballot->count;
}

static bool all_decided(struct rlock__ballot *const *ballots, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!decided(ballots[i]))
            return false;
    }
    return true;
}

static bool all_done(struct rlock__run *const *runs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!runs[i]->done)
            return false;
    }
    return true;
}

/* Several runs may wait for one link: the first of them is the one that goes on with it. */
static bool is_first_on_link(struct rlock__run *const *runs, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (!runs[k]->done && runs[k]->link == runs[i]->link)
            return false;
    }
    return !runs[i]->done;
}

/* A link's request has been answered, or has failed: each run that waits for it has its share. */
static void share(struct rlock__run *const *runs, size_t count, struct rlock__link *link,
                  enum rlock_status status, rlock__reply *last,
                  const struct rlock__script *script) {
    rlock__reply *replies[2 * RLOCK__BALLOTS_MAX] = {NULL};
    bool heard[RLOCK__BALLOTS_MAX] = {false};
    const size_t got = link->got;
    for (size_t i = 0; i < got; i++)
        replies[i] = i + 1 < got ? rlock__link_take_reply(link, i) : last;
    for (size_t i = 0; i < count; i++)
        heard[i] = !runs[i]->done && runs[i]->link == link;
    for (size_t i = 0; i < count; i++) {
        struct rlock__run *run = runs[i];
        if (!heard[i])
            continue;
        if (status != RLOCK_OK) {
            fail(run, status);
            continue;
        }
        /* ASKING that is refused makes what follows it worthless. */
        const bool refused = run->asking && run->stage != RLOCK__RUN_REPLICAS &&
                             rlock__reply_error(replies[run->first - 1]) != NULL;
        const size_t at = refused ? run->first : run->last;
        rlock__reply *reply = replies[at - 1];
        run->before = at > run->first ? replies[at - 2] : NULL;
        replies[at - 1] = NULL;
        hear(run, script, reply);
    }
    for (size_t i = 0; i < got; i++)
        rlock__reply_free(replies[i]);
}

/* All as far as they go without waiting. */
static void step(struct rlock__run *const *runs, size_t count, const struct rlock__script *script) {
    for (size_t i = 0; i < count; i++) {
        enum rlock_status status;
        rlock__reply *last;
        struct rlock__link *link = runs[i]->link;
        while (is_first_on_link(runs, i) && rlock__link_step(link, &status, &last)) {
            share(runs, count, link, status, last, script);
            link = runs[i]->link; /* it may have been sent elsewhere */
        }
    }
}

/* The more servers have said yes the more may fail later, but a dead one must not cost much. */
static int64_t straggler_deadline(int64_t begun_ms) {
    const int64_t now = rlock_now_ms();
    const int64_t took = now - begun_ms;
    return now + (took < STRAGGLER_MIN_MS   ? STRAGGLER_MIN_MS
                  : took > STRAGGLER_MAX_MS ? STRAGGLER_MAX_MS
                                            : took);
}

/* Waits until one of those that are not done can go on. RLOCK_OK, RLOCK_AGAIN (the deadline),
 * RLOCK_CANCELLED. */
static enum rlock_status wait_for_any(struct rlock__run *const *runs, size_t count,
                                      const struct rlock__limit *limit) {
    struct pollfd fds[RLOCK__POLL_MAX];
    struct rlock__limit bound = *limit;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_first_on_link(runs, i))
            rlock__link_poll(runs[i]->link, &fds[n++], &bound.deadline_ms);
    }
    const enum rlock_status status = rlock__poll_any(fds, n, &bound);
    return status == RLOCK_AGAIN && rlock_now_ms() < limit->deadline_ms ? RLOCK_OK : status;
}

/* Who has not answered by now. */
static void leave(struct rlock__run *run, enum rlock_status why, bool goes_on) {
    run->abandoned = goes_on && run->link->stage == RLOCK__READY;
    run->unconfirmed = run->stage == RLOCK__RUN_REPLICAS;
    if (run->unconfirmed)
        rlock__error_set(&run->route->error, "the replicas did not acknowledge it in time");
    end(run, why);
}

/* goes_on: the connection is good, and what is asked next comes behind what has been asked. */
static void leave_link(struct rlock__link *link, bool goes_on) {
    if (goes_on) {
        rlock__error_set(&link->error, "no answer in time");
        rlock__link_abandon(link);
    } else {
        rlock__link_time_out(link);
    }
}

/* The last request before a deadline has too little time to find out why, and hides what was told
 * before: that a slot is being moved, say. */
static void recall(struct rlock__run *run) {
    if (run->status == RLOCK_AGAIN && !run->unconfirmed && run->route->told.text[0] != '\0')
        run->route->error = run->route->told;
}

static size_t begin_all(struct rlock__run **runs, struct rlock__ballot *const *ballots,
                        size_t count, const struct rlock__script *script,
                        const struct rlock__limit *limit) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < ballots[i]->count && n < RLOCK__BALLOTS_MAX; k++) {
            runs[n] = &ballots[i]->runs[k];
            begin(runs[n++], limit);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!runs[i]->done)
            ask_or_end(runs[i], ask_script(runs[i], script));
    }
    return n;
}

void rlock__script_run_ballots(struct rlock__ballot *const *ballots, size_t count,
                               const struct rlock__script *script,
                               const struct rlock__limit *limit) {
    struct rlock__run *runs[RLOCK__BALLOTS_MAX];
    struct rlock__limit bound = *limit;
    const int64_t begun_ms = rlock_now_ms();
    bool is_decided = false;
    enum rlock_status status = RLOCK_OK;
    const size_t n = begin_all(runs, ballots, count, script, limit);
    while (status == RLOCK_OK) {
        step(runs, n, script);
        if (all_done(runs, n))
            break;
        if (!is_decided && all_decided(ballots, count)) {
            is_decided = true;
            const int64_t end_ms = straggler_deadline(begun_ms);
            if (end_ms < bound.deadline_ms)
                bound.deadline_ms = end_ms;
        }
        status = wait_for_any(runs, n, &bound);
    }
    const bool goes_on = is_decided || status == RLOCK_CANCELLED;
    for (size_t i = 0; i < n; i++) {
        if (is_first_on_link(runs, i))
            leave_link(runs[i]->link, goes_on);
    }
    for (size_t i = 0; i < n; i++) {
        if (!runs[i]->done)
            leave(runs[i], status == RLOCK_CANCELLED ? status : RLOCK_AGAIN, goes_on);
        if (limit->deadline_ms < begun_ms + HASTY_MS)
            recall(runs[i]);
    }
}

void rlock__script_run_all(struct rlock__run *runs, size_t count, size_t enough,
                           const struct rlock__script *script, const struct rlock__limit *limit) {
    struct rlock__ballot ballot = {runs, count, enough}, *one = &ballot;
    rlock__script_run_ballots(&one, 1, script, limit);
}

enum rlock_status rlock__script_run(struct rlock__route *route, const struct rlock__script *script,
                                    const struct rlock__call *call,
                                    const struct rlock__limit *limit, struct rlock__answer *out) {
    struct rlock__run run = {.route = route, .call = call};
    rlock__script_run_all(&run, 1, 1, script, limit);
    *out = run.answer;
    return run.status;
}
