/* script_run.c: one script on one server: what is sent, where to, and what the reply means. */
#include "redis/script.h"

#include <stdio.h>
#include <string.h>

#include "os/clock.h"
#include "redis/conn.h"
#include "redis/link.h"

enum { REDIRECTIONS_MAX = 8 };

static bool is_sharded(const struct rlock__run *run) {
    const char *publish = run->call->args[RLOCK__ARG_PUBLISH];
    return run->call->key_count > 0 &&
           rlock__route_sharded(run->route, run->call->keys[0], publish + strlen(RLOCK__SPUBLISH));
}

static bool ask_script(struct rlock__run *run, const struct rlock__script *script) {
    const struct rlock__call *call = run->call;
    const bool by_hash = run->stage != RLOCK__RUN_BODY;
    const char *asking[] = {"ASKING"}; /* it is for one command only */
    run->link->loading = by_hash ? run->link->loading : script;
    run->link->most =
        call->most > run->link->most || run->link->expected == 0 ? call->most : run->link->most;
    run->first = run->link->expected + 1;
    run->last = run->first + run->asking;
    if (run->asking && !rlock__link_ask_words(run->link, 1, asking))
        return false;
    const char *words[3 + RLOCK__KEYS_MAX + RLOCK__ARGS_MAX + 1];
    char key_count[8], portion[24];
    (void)snprintf(key_count, sizeof key_count, "%zu", call->key_count);
    (void)snprintf(portion, sizeof portion, "%zu", call->portion);
    size_t n = 0;
    words[n++] = by_hash ? "EVALSHA" : "EVAL";
    words[n++] = by_hash ? script->sha1 : script->body;
    words[n++] = key_count;
    for (size_t i = 0; i < call->key_count; i++)
        words[n++] = call->keys[i];
    for (size_t i = 0; i < call->arg_count; i++) {
        const bool plain = i == RLOCK__ARG_PUBLISH && !is_sharded(run);
        const bool check = i == RLOCK__ARG_CHECK && call->checks && run->link->checked != script;
        words[n++] = !check ? call->args[i] + plain : run->route->site->fsync ? "2" : "1";
    }
    if (call->portion > 0)
        words[n++] = portion;
    return rlock__link_ask_words(run->link, n, words);
}

/* The run is over. Where it did not work the way may have changed. */
void rlock__run_end(struct rlock__run *run, enum rlock_status status) {
    run->done = true;
    run->status = status;
    run->unconfirmed = run->stage == RLOCK__RUN_REPLICAS && status != RLOCK_OK;
    if (run->link != NULL) {
        run->route->answered = run->route->answered || run->link->answered;
        run->unanswered = run->link->in_doubt;
    }
    if (status == RLOCK_AGAIN)
        rlock__route_doubt(run->route);
    if (status != RLOCK_OK) {
        rlock__reply_free(run->answer.reply);
        run->answer.reply = NULL;
    }
}

void rlock__run_ask(struct rlock__run *run, const struct rlock__script *script) {
    if (!ask_script(run, script))
        rlock__run_end(run, RLOCK_SYSTEM);
}

void rlock__run_begin(struct rlock__run *run, const struct rlock__limit *limit) {
    *run = (struct rlock__run){.route = run->route, .call = run->call};
    const enum rlock_status status =
        rlock__route_find(run->route, run->call->keys[0], limit, &run->link);
    if (status == RLOCK_OK)
        return;
    run->link = NULL;
    run->refused = true;
    rlock__run_end(run, status);
}

/* Sent elsewhere by the reply; too often where the nodes do not agree, which may pass. */
static bool redirected(struct rlock__run *run, const struct rlock__script *script,
                       const char *text) {
    struct rlock__cluster *cluster = run->route->cluster;
    struct rlock__link *to =
        cluster != NULL ? rlock__cluster_redirected(cluster, run->link, text, &run->asking) : NULL;
    if (to == NULL)
        return false;
    if (run->redirections++ >= REDIRECTIONS_MAX) {
        rlock__error_set(&run->route->error, "%s", text);
        rlock__run_end(run, RLOCK_AGAIN);
        return true;
    }
    run->link = to;
    rlock__run_ask(run, script);
    return true;
}

/* The first number may be a token, of which a script has the digits alone: its own numbers are
 * exact up to 2^53 only. */
static bool number_or_digits(const rlock__reply *reply, int64_t *out) {
    const char *text = rlock__reply_text(reply, 1);
    if (text == NULL)
        return rlock__reply_integer(reply, 1, out);
    return rlock__resp_whole(text, out) && *out >= RLOCK__NUMBER_MOST;
}

/* What the error says of what has been carried out. */
static void note_refusal(struct rlock__run *run, const char *error) {
    run->refused = error != NULL && rlock__reply_error_untouched(error);
    if (error != NULL && !rlock__reply_error_known(error))
        run->link->in_doubt = true;
}

static void decode(struct rlock__run *run, const struct rlock__script *script,
                   rlock__reply *reply) {
    struct rlock__answer *out = &run->answer;
    enum rlock_status status = rlock__reply_judge(run->link, reply);
    out->reply = reply;
    note_refusal(run, rlock__reply_error(reply));
    if (status == RLOCK_AGAIN)
        run->route->told = run->route->error;
    else
        run->route->told.text[0] = '\0';
    if (status == RLOCK_OK &&
        !(rlock__reply_integer(reply, 0, &out->code) && number_or_digits(reply, &out->a) &&
          rlock__reply_integer(reply, 2, &out->b))) {
        rlock__error_set(&run->route->error, "the server's answer to %s can't be understood",
                         script->name);
        status = RLOCK_UNAVAILABLE;
    }
    if (status == RLOCK_OK && run->call->checks)
        run->link->checked = script;
    const bool replicated =
        status == RLOCK_OK && run->call->replicated && (out->code > 0 || run->call->replicated_no);
    if (replicated)
        rlock__run_ask_replicas(run);
    else
        rlock__run_end(run, status);
}

/* What has been said to one run; the reply is the run's. */
void rlock__run_hear(struct rlock__run *run, const struct rlock__script *script,
                     rlock__reply *reply) {
    const char *error = rlock__reply_error(reply);
    if (error != NULL && strncmp(error, "NOSCRIPT", 8) == 0 && run->stage != RLOCK__RUN_BODY) {
        const bool is_coming = run->link->loading == script && run->stage == RLOCK__RUN_HASH;
        rlock__reply_free(reply);
        run->stage = is_coming ? RLOCK__RUN_BEHIND_BODY : RLOCK__RUN_BODY;
        rlock__run_ask(run, script);
    } else if (error != NULL && redirected(run, script, error)) {
        rlock__reply_free(reply);
    } else {
        decode(run, script, reply);
    }
}

void rlock__run_fail(struct rlock__run *run, enum rlock_status status) {
    run->refused = status != RLOCK_AGAIN; /* before anything was sent: connecting, logging in */
    rlock__run_end(run, status);
}
