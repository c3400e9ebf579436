/* status_json.c: what `rlock status` has seen, for programs. man/status.schema.json says what is in
 * it. */
#include <stdlib.h>
#include <time.h>

#include "output/json.h"
#include "output/out.h"
#include "report/status.h"

/* What adds members: one that fails makes all of it fail. */
struct writer {
    struct json json;
    bool failed;
};

static void add_text(struct writer *w, cJSON *object, const char *name, const char *text) {
    if (text == NULL)
        w->failed |= w->json.AddRawToObject(object, name, "null") == NULL;
    else
        w->failed |= !json_add_text(&w->json, object, name, text);
}

static void add_number(struct writer *w, cJSON *object, const char *name, int64_t number) {
    if (number < 0)
        w->failed |= w->json.AddRawToObject(object, name, "null") == NULL;
    else
        w->failed |= !json_add_number(&w->json, object, name, number);
}

static void add_available(struct writer *w, cJSON *permits, int64_t number) {
    if (number == INT64_MIN)
        add_number(w, permits, "available", -1);
    else
        w->failed |= !json_add_number(&w->json, permits, "available", number);
}

/* RFC 3339, in UTC. */
static void add_instant(struct writer *w, cJSON *object, const char *name, int64_t ms) {
    const time_t seconds = (time_t)(ms / 1000);
    struct tm utc;
    char day[32], text[48];
    const bool known = ms >= 0 && gmtime_r(&seconds, &utc) != NULL &&
                       strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc) > 0;
    if (known)
        (void)snprintf(text, sizeof text, "%s.%03dZ", day, (int)(ms % 1000));
    add_text(w, object, name, known ? text : NULL);
}

/* An array or object, as a member; NULL: no memory. */
static cJSON *add_item(struct writer *w, cJSON *object, const char *name, cJSON *item) {
    w->failed |= item == NULL;
    if (item != NULL)
        w->json.AddItemToObject(object, name, item);
    return item;
}

static cJSON *add_element(struct writer *w, cJSON *array) {
    cJSON *object = w->json.CreateObject();
    w->failed |= object == NULL;
    if (object != NULL)
        w->json.AddItemToArray(array, object);
    return object;
}

static void add_holder(struct writer *w, cJSON *object, const struct rlock_view_holder *holder) {
    add_text(w, object, "owner", holder->owner);
    add_text(w, object, "host", holder->host);
    add_number(w, object, "pid", holder->kept ? -1 : holder->pid); /* that process is gone */
    add_text(w, object, "user", holder->user);
    add_text(w, object, "command", holder->command);
    add_instant(w, object, "since", holder->since_ms);
    add_number(w, object, "ttl_ms", holder->ttl_ms);
    add_number(w, object, "holds", holder->holds);
    add_number(w, object, "token", holder->token);
    add_number(w, object, "permits", holder->permits);
}

static void add_waiter(struct writer *w, cJSON *object, const struct rlock_view_waiter *waiter) {
    add_text(w, object, "owner", waiter->owner);
    add_number(w, object, "position", waiter->position);
    add_text(w, object, "host", waiter->host);
    add_number(w, object, "pid", waiter->pid);
    add_text(w, object, "user", waiter->user);
    add_text(w, object, "command", waiter->command);
    add_instant(w, object, "since", waiter->since_ms);
}

static void add_view(struct writer *w, cJSON *object, const rlock_view *view, bool several) {
    add_text(w, object, "name", view->name);
    if (several)
        add_text(w, object, "server", view->server);
    add_text(w, object, "kind", view->kind);
    add_text(w, object, "state", view->held ? "held" : "free");
    cJSON *holders = add_item(w, object, "holders", w->json.CreateArray());
    for (size_t i = 0; !w->failed && i < view->holder_count; i++) {
        cJSON *holder = add_element(w, holders);
        if (holder != NULL)
            add_holder(w, holder, &view->holders[i]);
    }
    cJSON *waiters = add_item(w, object, "waiters", w->json.CreateArray());
    for (size_t i = 0; !w->failed && i < view->waiter_count; i++) {
        cJSON *waiter = add_element(w, waiters);
        if (waiter != NULL)
            add_waiter(w, waiter, &view->waiters[i]);
    }
    cJSON *permits = add_item(w, object, "permits", w->json.CreateObject());
    if (permits != NULL) {
        add_number(w, permits, "total", view->permits_total);
        add_available(w, permits, view->permits_available);
    }
    add_number(w, object, "count", view->count);
    add_number(w, object, "token", view->token);
}

bool status_json(FILE *stream, const struct survey *survey, const struct status_form *form) {
    struct writer writer = {.failed = false};
    if (!json_load(&writer.json)) {
        out_error("cannot write --json: libcjson.so.1 is missing: install the package libcjson1");
        return false;
    }
    cJSON *all = writer.json.CreateArray();
    writer.failed = all == NULL;
    for (size_t i = 0; !writer.failed && i < survey->count; i++) {
        cJSON *object = add_element(&writer, all);
        if (object != NULL)
            add_view(&writer, object, survey->views[i], form->several);
    }
    char *text = writer.failed ? NULL : json_print(&writer.json, all);
    if (text != NULL)
        fprintf(stream, "%s\n", text);
    free(text);
    writer.json.Delete(all);
    return text != NULL;
}
