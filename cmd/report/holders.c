/* holders.c: the holders that would lose a lock that is broken. */
#include "report/survey.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/describe.h"
#include "output/out.h"

enum { OF_SEVERAL_MS = 2000 };

int64_t holders_deadline_ms(const struct server *server) {
    return server_answer_by_ms(server, RLOCK_FOREVER, OF_SEVERAL_MS);
}

static bool is_known(const struct holders *holders, const char *owner) {
    for (size_t i = 0; i < holders->size; i++) {
        if (holders->owners[i] != NULL && strcmp(holders->owners[i], owner) == 0)
            return true;
    }
    return false;
}

static void add_view(struct holders *holders, const rlock_view *view, const char *only) {
    holders->held = holders->held || view->held;
    if (holders->kind == NULL || view->held)
        holders->kind = view->kind;
    holders->count = view->count > holders->count ? view->count : holders->count;
    holders->may_be_sem = holders->may_be_sem || view->may_be_sem;
    holders->waiters =
        view->waiter_count > holders->waiters ? view->waiter_count : holders->waiters;
    for (size_t i = 0; i < view->holder_count; i++) {
        const struct rlock_view_holder *holder = &view->holders[i];
        const bool wanted = only == NULL || strcmp(only, holder->owner) == 0;
        if (!wanted || is_known(holders, holder->owner))
            continue;
        holders->seen[holders->size] = (struct seen){.holder = holder, .view = view};
        holders->owners[holders->size++] = holder->owner;
    }
}

/* Of all servers together. */
static int gather(struct holders *holders, const struct settings *settings) {
    size_t most = 1;
    for (size_t i = 0; i < settings->server.count; i++)
        most += holders->views[i] != NULL ? holders->views[i]->holder_count : 0;
    holders->owners = calloc(most, sizeof *holders->owners);
    holders->broken = calloc(most, sizeof *holders->broken);
    holders->seen = calloc(most, sizeof *holders->seen);
    if (holders->owners == NULL || holders->broken == NULL || holders->seen == NULL)
        return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot break %s: out of memory",
                        settings->names[0]);
    holders->seen_ms = rlock_now_ms();
    for (size_t i = 0; i < settings->server.count; i++) {
        if (holders->views[i] != NULL)
            add_view(holders, holders->views[i], settings->look.owner);
    }
    return 0;
}

int holders_find(struct holders *out, const struct server *server) {
    const struct settings *settings = server->settings;
    const char *name = settings->names[0];
    size_t answered = 0;
    enum rlock_status failure = RLOCK_OK;
    *out = (struct holders){.count = -1};
    for (size_t i = 0; i < settings->server.count; i++) {
        const enum rlock_status status =
            server_inspect(server, i, name, false, holders_deadline_ms(server), &out->views[i]);
        if (status != RLOCK_OK && failure != RLOCK_WRONG_KIND)
            failure = status;
        answered += status == RLOCK_OK;
    }
    if (failure == RLOCK_WRONG_KIND || answered <= settings->server.count / 2)
        return server_explain(server, NULL, NULL, "break", name, failure, "");
    return gather(out, settings);
}

void holders_free(struct holders *holders) {
    for (size_t i = 0; i < RLOCK_SERVERS_MAX; i++)
        rlock_view_free(holders->views[i]);
    for (size_t i = 0; i < holders->size; i++)
        rlock_subscription_free(holders->seen[i].stopping);
    free(holders->owners);
    free(holders->broken);
    free(holders->seen);
}

const char *holders_describe(char text[HOLDERS_TEXT_SIZE], const struct holders *holders,
                             size_t i) {
    const struct seen *seen = &holders->seen[i];
    describe_seen(text, HOLDERS_TEXT_SIZE, seen->view, seen->holder, holders->seen_ms);
    const size_t length = strlen(text);
    if (seen->holder->permits > 1)
        (void)snprintf(text + length, HOLDERS_TEXT_SIZE - length, "; %" PRId64 " permits",
                       seen->holder->permits);
    return text;
}

int64_t holders_one_runs_on_ms(const struct holders *holders, size_t i) {
    const struct rlock_view_holder *holder = holders->seen[i].holder;
    if (holder->kept)
        return 0;
    if (holder->no_command)
        return RUNS_ON_NO_COMMAND;
    if (holder->host == NULL || holder->ttl_ms < 0)
        return RUNS_ON_UNKNOWN;
    const int64_t left_ms = holder->ttl_ms - (rlock_now_ms() - holders->seen_ms);
    return left_ms > 0 ? left_ms : 0;
}

int64_t holders_runs_on_ms(const struct holders *holders) {
    int64_t longest_ms = RUNS_ON_NO_COMMAND;
    for (size_t i = 0; i < holders->size; i++) {
        const int64_t one_ms = holders_one_runs_on_ms(holders, i);
        if (one_ms == RUNS_ON_UNKNOWN)
            return one_ms;
        longest_ms = one_ms > longest_ms ? one_ms : longest_ms;
    }
    return longest_ms;
}
