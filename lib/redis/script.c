/* script.c: runs one of our scripts, on one server or on several at once, about one name or
 * several. */
#include "redis/script.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"

enum {
    HASTY_MS = 50,         /* less is too little to be told anything */
    STRAGGLER_MIN_MS = 20, /* for those that have not answered when it is decided: */
    STRAGGLER_MAX_MS = 50, /* as long again as that took */
    SILENT_MS = 250        /* a busy server answers sooner */
};

void rlock__call_add_keys(struct rlock__call *call, char *const *keys) {
    for (; *keys != NULL; keys++)
        call->keys[call->key_count++] = *keys;
}

void rlock__call_add_args(struct rlock__call *call, const char *const *args) {
    for (; *args != NULL; args++)
        call->args[call->arg_count++] = *args;
    while (call->arg_count > 0 && *call->args[call->arg_count - 1] == '\0')
        call->arg_count--;
}

static bool is_yes(const struct rlock__run *run) {
    return run->done && run->status == RLOCK_OK && run->answer.code > 0;
}

/* Whether more answers would change nothing. */
static bool decided(const struct rlock__batch *batch) {
    size_t yes = 0, no = 0;
    for (size_t i = 0; i < batch->count; i++) {
        yes += is_yes(&batch->runs[i]);
        no += batch->runs[i].done && !is_yes(&batch->runs[i]);
    }
    return yes >= batch->enough || no + batch->enough > batch->count;
}

/* Whether those that are missing have been silent for some time, and there is a result without
 * them: that others have it, say. Each try would take as long as the slowest server is waited for
 * else. */
static bool rest_is_silent(const struct rlock__batch *batch, int64_t begun_ms) {
    size_t answered = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const struct rlock__run *run = &batch->runs[i];
        if (!run->done &&
            (run->link->unheard_ms == 0 || run->link->unheard_ms > begun_ms - SILENT_MS))
            return false;
        answered += run->done && run->status == RLOCK_OK;
    }
    return batch->in_passing || answered >= batch->enough;
}

static bool all_decided(const struct rlock__batch *batch, int64_t begun_ms) {
    while (batch != NULL && (decided(batch) || rest_is_silent(batch, begun_ms)))
        batch = batch->next;
    return batch == NULL;
}

/* Each run of all batches, and room to wait for one link each, and for a cancel descriptor. */
struct all {
    struct rlock__run **runs;
    struct pollfd *fds;
    size_t count;
};

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
                  enum rlock__io io, const struct rlock__script *script) {
    size_t got;
    rlock__reply **replies = rlock__link_take_replies(link, &got);
    link->loading = NULL;
    for (size_t i = 0; i < count; i++) {
        struct rlock__run *run = runs[i];
        if (run->done || run->link != link)
            continue;
        if (io != RLOCK__IO_DONE) {
            rlock__run_fail(run, rlock__io_status(io));
            continue;
        }
        /* ASKING that is refused makes what follows it worthless. */
        const bool refused = run->asking && run->stage != RLOCK__RUN_REPLICAS &&
                             rlock__reply_error(replies[run->first - 1]) != NULL;
        const size_t at = refused ? run->first : run->last;
        rlock__reply *reply = replies[at - 1];
        run->before = at > run->first ? replies[at - 2] : NULL;
        if (run->stage == RLOCK__RUN_REPLICAS) { /* other runs hear it, too */
            rlock__run_hear_replicas(run, reply);
            continue;
        }
        replies[at - 1] = NULL;
        rlock__run_hear(run, script, reply);
    }
    for (size_t i = 0; i < got; i++)
        rlock__reply_free(replies[i]);
    free(replies);
}

/* All as far as they go without waiting. True: replies have come, or more of a request has gone. */
static bool step(struct rlock__run *const *runs, size_t count, const struct rlock__script *script) {
    bool moved = false;
    for (size_t i = 0; i < count; i++) {
        enum rlock__io io;
        struct rlock__link *link = runs[i]->link;
        while (is_first_on_link(runs, i) && (io = rlock__link_step(link)) != RLOCK__IO_WAIT) {
            share(runs, count, link, io, script);
            link = runs[i]->link; /* it may have been sent elsewhere */
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (runs[i]->link == NULL)
            continue;
        moved = moved || runs[i]->link->moved;
        runs[i]->link->moved = false;
    }
    return moved;
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
static enum rlock_status wait_for_any(const struct all *all, const struct rlock__limit *limit) {
    int64_t again_ms = RLOCK_FOREVER;
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (is_first_on_link(all->runs, i))
            rlock__link_poll(all->runs[i]->link, &all->fds[n++], &again_ms);
    }
    return rlock__poll_any(all->fds, n, again_ms, limit);
}

/* goes_on: the connection is good, and what is asked next comes behind what has been asked. */
static void leave_link(struct rlock__link *link, bool goes_on) {
    if (goes_on) {
        rlock__error_set(link->error, "no answer in time");
        rlock__link_abandon(link);
    } else {
        rlock__link_time_out(link);
    }
}

/* The servers that have not answered by now. */
static void leave_all(const struct all *all, enum rlock_status status, bool goes_on) {
    for (size_t i = 0; i < all->count; i++) {
        if (is_first_on_link(all->runs, i))
            leave_link(all->runs[i]->link, goes_on);
    }
    for (size_t i = 0; i < all->count; i++) {
        struct rlock__run *run = all->runs[i];
        if (run->done)
            continue;
        run->abandoned = goes_on && run->link->stage == RLOCK__READY;
        if (run->stage == RLOCK__RUN_REPLICAS)
            rlock__run_note_unconfirmed(run);
        rlock__run_end(run, status == RLOCK_CANCELLED ? status : RLOCK_AGAIN);
    }
}

/* The last request before a deadline has too little time to find out why, and hides what was told
 * before: that a slot is being moved, say. */
static void recall(struct rlock__run *run) {
    if (run->status == RLOCK_AGAIN && !run->unconfirmed && run->route->told.text[0] != '\0')
        run->route->error = run->route->told;
}

static void begin_all(struct all *all, struct rlock__batch *batch,
                      const struct rlock__script *script, const struct rlock__limit *limit) {
    for (; batch != NULL; batch = batch->next) {
        for (size_t i = 0; i < batch->count; i++) {
            all->runs[all->count++] = &batch->runs[i];
            rlock__run_begin(&batch->runs[i], limit);
        }
    }
    for (size_t i = 0; i < all->count; i++) {
        if (!all->runs[i]->done)
            rlock__run_ask(all->runs[i], script);
    }
}

/* Until all have answered, or it is decided without the rest, or the limit has come. */
static void run_all(const struct all *all, const struct rlock__batch *batches,
                    const struct rlock__script *script, const struct rlock__limit *limit) {
    struct rlock__limit bound = *limit;
    const int64_t begun_ms = rlock_now_ms();
    int64_t end_ms = 0, deadline_ms = limit->deadline_ms;
    const int64_t patience_ms = rlock__left_ms(deadline_ms);
    bool is_decided = false;
    enum rlock_status status = RLOCK_OK;
    while (status == RLOCK_OK) {
        const bool moved = step(all->runs, all->count, script);
        if (all_done(all->runs, all->count))
            return;
        is_decided = all_decided(batches, begun_ms); /* until a silent one speaks */
        if (is_decided && end_ms == 0)
            end_ms = straggler_deadline(begun_ms);
        if (moved)
            deadline_ms = rlock__prolonged_ms(deadline_ms, batches->until_ms, patience_ms);
        bound.deadline_ms = is_decided ? rlock__sooner_ms(end_ms, deadline_ms) : deadline_ms;
        status = wait_for_any(all, &bound);
    }
    leave_all(all, status, is_decided || status == RLOCK_CANCELLED);
}

static void fail_all(struct rlock__batch *batch) {
    for (; batch != NULL; batch = batch->next) {
        for (size_t i = 0; i < batch->count; i++) {
            batch->runs[i] =
                (struct rlock__run){.route = batch->runs[i].route, .call = batch->runs[i].call};
            rlock__error_set(&batch->runs[i].route->error, "out of memory");
            rlock__run_end(&batch->runs[i], RLOCK_SYSTEM);
        }
    }
}

void rlock__script_run_batches(struct rlock__batch *batches, const struct rlock__script *script,
                               const struct rlock__limit *limit) {
    const int64_t begun_ms = rlock_now_ms();
    size_t count = 0;
    for (const struct rlock__batch *batch = batches; batch != NULL; batch = batch->next)
        count += batch->count;
    struct all all = {.runs = calloc(count + 1, sizeof(struct rlock__run *)),
                      .fds = calloc(count + 1, sizeof *all.fds)};
    if (all.runs == NULL || all.fds == NULL) {
        fail_all(batches);
    } else {
        begin_all(&all, batches, script, limit);
        run_all(&all, batches, script, limit);
    }
    for (size_t i = 0; i < all.count && limit->deadline_ms < begun_ms + HASTY_MS; i++)
        recall(all.runs[i]);
    free(all.runs);
    free(all.fds);
}

enum rlock_status rlock__script_run(struct rlock__route *route, const struct rlock__script *script,
                                    const struct rlock__call *call,
                                    const struct rlock__limit *limit, struct rlock__answer *out) {
    struct rlock__run run = {.route = route, .call = call};
    struct rlock__batch batch = {.runs = &run, .count = 1, .enough = 1};
    rlock__script_run_batches(&batch, script, limit);
    *out = run.answer;
    return run.status;
}
