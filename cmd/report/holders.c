/* prey.c: who would lose a lock that is broken. */
#include "report/prey.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/describe.h"
#include "output/out.h"

enum { ONE_OF_SEVERAL_MS = 2000 };

int64_t prey_deadline_ms(const struct settings *settings) {
    const int64_t patience_ms = settings->connect_timeout_ms + settings->io_timeout_ms;
    const bool several = settings->server_count > 1 && patience_ms > ONE_OF_SEVERAL_MS;
    return rlock_now_ms() + (several ? ONE_OF_SEVERAL_MS : patience_ms);
}

static bool is_known(const struct prey *prey, const char *owner) {
    for (size_t i = 0; i < prey->count_of_holders; i++) {
        if (prey->owners[i] != NULL && strcmp(prey->owners[i], owner) == 0)
            return true;
    }
    return false;
}

static void add(struct prey *prey, const struct rlock_view_holder *holder, int64_t as_of_ms) {
    const int64_t held_ms = holder->since_ms >= 0 ? as_of_ms - holder->since_ms : 0;
    const size_t i = prey->count_of_holders++;
    prey->owners[i] = holder->owner;
    prey->seen[i] = (struct seen){holder, held_ms > 0 ? held_ms : 0, rlock_now_ms()};
}

static void add_view(struct prey *prey, const rlock_view *view, const char *only) {
    prey->held = prey->held || view->held;
    if (prey->kind == NULL || view->held)
        prey->kind = view->kind;
    prey->count = view->count > prey->count ? view->count : prey->count;
    prey->may_be_sem = prey->may_be_sem || view->may_be_sem;
    prey->waiters = view->waiter_count > prey->waiters ? view->waiter_count : prey->waiters;
    for (size_t i = 0; i < view->holder_count; i++) {
        const struct rlock_view_holder *holder = &view->holders[i];
        const bool wanted = only == NULL || strcmp(only, holder->owner) == 0;
        if (wanted && !is_known(prey, holder->owner))
            add(prey, holder, view->as_of_ms);
    }
}

/* Of all servers together. */
static int gather(struct prey *prey, const struct settings *settings) {
    size_t most = 1;
    for (size_t i = 0; i < settings->server_count; i++)
        most += prey->views[i] != NULL ? prey->views[i]->holder_count : 0;
    prey->owners = calloc(most, sizeof *prey->owners);
    prey->seen = calloc(most, sizeof *prey->seen);
    if (prey->owners == NULL || prey->seen == NULL) {
        out_error("cannot break %s: out of memory", settings->names[0]);
        return EXIT_SYSTEM;
    }
    for (size_t i = 0; i < settings->server_count; i++) {
        if (prey->views[i] != NULL)
            add_view(prey, prey->views[i], settings->owner);
    }
    return 0;
}

int prey_find(struct prey *out, const struct server *server, const struct settings *settings) {
    const char *name = settings->names[0];
    size_t answered = 0;
    enum rlock_status failure = RLOCK_OK;
    *out = (struct prey){.count = -1};
    for (size_t i = 0; i < settings->server_count; i++) {
        const struct rlock_look_at at = {name, i, prey_deadline_ms(settings), -1};
        const enum rlock_status status = rlock_look(server->client, &at, &out->views[i]);
        if (status != RLOCK_OK && failure != RLOCK_WRONG_KIND)
            failure = status;
        answered += status == RLOCK_OK;
    }
    if (failure == RLOCK_WRONG_KIND || answered <= settings->server_count / 2)
        return server_explain(server, settings, "break", name, failure, "");
    return gather(out, settings);
}

void prey_free(struct prey *prey) {
    for (size_t i = 0; i < RLOCK_SERVERS_MAX; i++)
        rlock_view_free(prey->views[i]);
    free(prey->owners);
    free(prey->seen);
}

const char *prey_describe(char text[PREY_TEXT_SIZE], const struct prey *prey, size_t i) {
    const struct seen *seen = &prey->seen[i];
    describe_seen(text, PREY_TEXT_SIZE, seen->holder, seen->held_ms, seen->at_ms);
    const size_t length = strlen(text);
    if (seen->holder->permits > 1)
        (void)snprintf(text + length, PREY_TEXT_SIZE - length, "; %" PRId64 " permits",
                       seen->holder->permits);
    return text;
}

int64_t prey_one_runs_on_ms(const struct prey *prey, size_t i) {
    const struct rlock_view_holder *holder = prey->seen[i].holder;
    if (holder->kept)
        return 0;
    if (holder->host == NULL || holder->ttl_ms < 0)
        return -1;
    const int64_t left_ms = holder->ttl_ms - (rlock_now_ms() - prey->seen[i].at_ms);
    return left_ms > 0 ? left_ms : 0;
}

int64_t prey_runs_on_ms(const struct prey *prey) {
    int64_t longest_ms = 0;
    for (size_t i = 0; i < prey->count_of_holders; i++) {
        const int64_t one_ms = prey_one_runs_on_ms(prey, i);
        if (one_ms < 0)
            return -1;
        longest_ms = one_ms > longest_ms ? one_ms : longest_ms;
    }
    return longest_ms;
}
