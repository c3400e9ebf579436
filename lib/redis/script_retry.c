/* script_retry.c: a script, again and again until it is answered. */
#include "redis/script_retry.h"

#include "os/clock.h"
#include "os/random.h"

enum { PAUSE_MIN_MS = 10, PAUSE_MAX_MS = 500, LESS = 8 };

struct rlock__limit rlock__tries_limit(const struct rlock__tries *tries) {
    return rlock__client_call_limit(tries->client, tries->began_ms, tries->backoff_ms > 0,
                                    rlock__half_way_ms(rlock_now_ms(), tries->deadline_ms),
                                    tries->cancel_fd);
}

enum rlock_status rlock__tries_pause(struct rlock__tries *tries) {
    const int64_t now = rlock_now_ms();
    const int64_t end =
        rlock__sooner_ms(tries->deadline_ms,
                         rlock__client_reach_by_ms(tries->client, tries->routes, tries->began_ms));
    /* Half of what is left at the most: no long pause gives up what the caller would wait for. */
    const int64_t next_ms =
        rlock__sooner_ms(now + rlock__backoff(&tries->backoff_ms, PAUSE_MIN_MS, PAUSE_MAX_MS),
                         rlock__half_way_ms(now, end));
    if (next_ms >= end) /* a try without time for its answer would hide the reason */
        return RLOCK_UNAVAILABLE;
    const struct rlock__limit pause = {next_ms, tries->cancel_fd};
    return rlock__sleep(&pause) == RLOCK_CANCELLED ? RLOCK_CANCELLED : RLOCK_AGAIN;
}

size_t rlock__smaller(size_t portion) {
    return portion >= LESS ? portion / LESS : 1;
}

/* Asks all that have not been answered. RLOCK_AGAIN: some still have not; *silent is the way to one
 * of them. */
static enum rlock_status ask_once(const struct rlock__script *script, struct rlock__run *runs,
                                  bool *in_doubt, size_t count, const struct rlock__limit *limit,
                                  struct rlock__routes *silent) {
    struct rlock__batch batches[RLOCK__CALLS_MAX];
    enum rlock_status status = RLOCK_OK;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (runs[i].status != RLOCK_AGAIN)
            continue;
        batches[n] = (struct rlock__batch){.runs = &runs[i], .count = 1, .enough = 1};
        if (n > 0)
            batches[n - 1].next = &batches[n];
        n++;
    }
    rlock__script_run_batches(batches, script, limit);
    for (size_t i = 0; i < n; i++) {
        const struct rlock__run *run = batches[i].runs;
        in_doubt[run - runs] = in_doubt[run - runs] || run->unanswered || run->unconfirmed;
        if (run->status == RLOCK_AGAIN)
            silent->at = run->route;
        if (status != RLOCK_CANCELLED &&
            (run->status == RLOCK_AGAIN || run->status == RLOCK_CANCELLED))
            status = run->status;
    }
    return status;
}

/* An answer was lost: what comes now may be what has come of the request before. What took so long
 * is not asked for again: less of it is. */
static void doubt(struct rlock__call *call) {
    call->replicated_no = true;
    if (call->portion > 1)
        call->portion = rlock__smaller(call->portion);
}

static void end_all(struct rlock__run *runs, size_t count, enum rlock_status status) {
    for (size_t i = 0; i < count; i++) {
        if (runs[i].status == RLOCK_AGAIN)
            runs[i].status = status;
    }
}

void rlock__script_retry(const struct rlock_client *client, const struct rlock__script *script,
                         struct rlock__call *const *calls, struct rlock__run *runs, bool *in_doubt,
                         size_t count, int64_t deadline_ms, int cancel_fd) {
    struct rlock__routes silent = {.count = 1};
    struct rlock__tries tries = {.client = client,
                                 .routes = &silent,
                                 .began_ms = rlock_now_ms(),
                                 .deadline_ms = deadline_ms,
                                 .cancel_fd = cancel_fd};
    enum rlock_status status = RLOCK_AGAIN;
    for (size_t i = 0; i < count; i++) {
        runs[i].call = calls[i];
        runs[i].status = RLOCK_AGAIN;
        in_doubt[i] = false;
    }
    while (status == RLOCK_AGAIN) {
        const struct rlock__limit limit = rlock__tries_limit(&tries);
        if (ask_once(script, runs, in_doubt, count, &limit, &silent) != RLOCK_AGAIN)
            return;
        for (size_t i = 0; i < count; i++) {
            if (in_doubt[i])
                doubt(calls[i]);
        }
        status = rlock__tries_pause(&tries);
    }
    end_all(runs, count, status);
}
