/* status_json.c: what `rlock status` has seen, for programs. man/status.schema.json says what is in
 * it. */
#include "output/json.h"
#include "report/status.h"

static void add_number(struct json *json, const char *name, int64_t number) {
    if (number < 0)
        json_text(json, name, NULL);
    else
        json_number(json, name, number);
}

static void add_holder(struct json *json, const struct rlock_view_holder *holder) {
    json_open(json, NULL, '{');
    json_text(json, "owner", holder->owner);
    json_text(json, "host", holder->host);
    add_number(json, "pid", holder->kept ? -1 : holder->pid); /* that process is gone */
    json_text(json, "user", holder->user);
    json_words(json, "command", holder->command);
    json_words(json, "note", holder->note);
    json_instant(json, "since", holder->since_ms);
    add_number(json, "ttl_ms", holder->ttl_ms);
    add_number(json, "holds", holder->holds);
    add_number(json, "token", holder->token);
    add_number(json, "permits", holder->permits);
    if (holder->preemptible)
        json_bool(json, "preemptible", true);
    json_close(json, '}');
}

static void add_waiter(struct json *json, const struct rlock_view_waiter *waiter) {
    json_open(json, NULL, '{');
    json_text(json, "owner", waiter->owner);
    add_number(json, "position", waiter->position);
    json_text(json, "host", waiter->host);
    add_number(json, "pid", waiter->pid);
    json_text(json, "user", waiter->user);
    json_words(json, "command", waiter->command);
    json_words(json, "note", waiter->note);
    json_instant(json, "since", waiter->since_ms);
    if (waiter->any != NULL)
        json_text(json, "any", waiter->any);
    if (waiter->priority != 0)
        json_number(json, "priority", waiter->priority);
    json_close(json, '}');
}

static void add_permits(struct json *json, const rlock_view *view) {
    json_open(json, "permits", '{');
    add_number(json, "total", view->permits_total);
    if (view->permits_available == INT64_MIN)
        json_text(json, "available", NULL);
    else
        json_number(json, "available", view->permits_available);
    json_close(json, '}');
}

static void add_last_run(struct json *json, const struct rlock_view_run *run) {
    json_open(json, "last_run", '{');
    json_instant(json, "ended", run->ended_ms);
    add_number(json, "took_ms", run->took_ms);
    add_number(json, "exit_status", run->exit_status);
    json_text(json, "host", run->host);
    add_number(json, "pid", run->pid);
    json_text(json, "user", run->user);
    json_words(json, "command", run->command);
    json_instant(json, "succeeded", run->succeeded_ms);
    json_text(json, "key", run->key);
    json_close(json, '}');
}

static void add_view(struct json *json, const rlock_view *view, bool several) {
    json_open(json, NULL, '{');
    json_text(json, "name", view->name);
    if (several)
        json_text(json, "server", view->server);
    json_text(json, "kind", view->kind);
    json_text(json, "state", view->held ? "held" : "free");
    json_open(json, "holders", '[');
    for (size_t i = 0; i < view->holder_count; i++)
        add_holder(json, &view->holders[i]);
    json_close(json, ']');
    json_open(json, "waiters", '[');
    for (size_t i = 0; i < view->waiter_count; i++)
        add_waiter(json, &view->waiters[i]);
    json_close(json, ']');
    add_permits(json, view);
    add_number(json, "count", view->count);
    add_number(json, "token", view->token);
    if (view->last_run != NULL)
        add_last_run(json, view->last_run);
    if (view->skips > 0)
        json_number(json, "skips", view->skips);
    json_close(json, '}');
}

void status_json(FILE *stream, const struct survey *survey) {
    struct json json = {.stream = stream};
    json_open(&json, NULL, '[');
    for (size_t i = 0; i < survey->count; i++)
        add_view(&json, survey->views[i], survey->server_count > 1);
    json_close(&json, ']');
    fputc('\n', stream);
}
