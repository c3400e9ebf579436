/* resumed.c: a lock that is held already, resumed from its handle or from the environment. */
#include "hold/resumed.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "output/describe.h"
#include "output/out.h"

enum { PAUSE_MS = 50, WHY_SIZE = 1024 };

int resumed_open(struct resumed *out, const struct settings *settings,
                 const struct rlock_handle *handle) {
    *out = (struct resumed){.settings = settings, .handle = handle};
    const int failure = server_open(&out->server, settings);
    if (failure != 0)
        return failure;
    out->reached_by_ms = rlock_now_ms() + settings->connect_timeout_ms;
    const enum rlock_status status = rlock_lock_resume(&out->lock, out->server.client, handle);
    if (status == RLOCK_OK)
        return 0;
    return out_fail(status == RLOCK_INVALID ? EXIT_USAGE : EXIT_SYSTEM, NULL, NULL,
                    "cannot use HANDLE: %s", rlock_error(out->server.client));
}

void resumed_free(struct resumed *resumed) {
    rlock_lock_free(resumed->lock);
    server_close(&resumed->server);
    *resumed = (struct resumed){.lock = NULL};
}

/* Pauses, and returns true, if another try may help. */
static bool again(const struct resumed *resumed, enum rlock_status status) {
    if (status != RLOCK_UNAVAILABLE || rlock_now_ms() + PAUSE_MS >= resumed->reached_by_ms)
        return false;
    (void)poll(NULL, 0, PAUSE_MS);
    return true;
}

enum rlock_status resumed_renew(const struct resumed *resumed) {
    enum rlock_status status;
    do
        status = rlock_renew(resumed->lock);
    while (again(resumed, status));
    server_warn(&resumed->server);
    return status;
}

enum rlock_status resumed_check(const struct resumed *resumed, int64_t *ttl_ms) {
    enum rlock_status status;
    do
        status = rlock_check(resumed->lock, ttl_ms);
    while (again(resumed, status));
    return status;
}

/* The name that a message is about. */
static const char *name_of(const struct resumed *resumed) {
    return rlock_stuck_at(resumed->lock);
}

/* --- what is said of it ---------------------------------------------------------------------- */

/* What every event of it begins with. */
#define HOLD(resumed, hold)                                                                        \
    OUT_TEXT("name", (hold)->name), OUT_TEXT("kind", (resumed)->handle->kind),                     \
        OUT_TEXT("server", rlock_client_server((resumed)->server.client)),                         \
        OUT_TEXT("owner", (hold)->owner), OUT_NUMBER("token", (hold)->token)

static const struct rlock_handle_hold *lost_hold(const struct resumed *resumed) {
    const struct rlock_handle *handle = resumed->handle;
    size_t i = 0;
    while (i + 1 < handle->hold_count && strcmp(handle->holds[i].name, name_of(resumed)) != 0)
        i++;
    return &handle->holds[i];
}

/* True: text describes the present holder, from the first server that has one. Else *last_token is
 * the last token of any server. A semaphore's other holders have not got our permits: none is
 * described. */
static bool find_holder(const struct resumed *resumed, char text[WHY_SIZE], int64_t *last_token) {
    struct rlock_inspect_options options = {
        .size = sizeof options,
        .name = name_of(resumed),
        .deadline_ms = rlock_now_ms() + resumed->settings->io_timeout_ms,
        .cancel_fd = -1,
    };
    bool found = false;
    for (; options.server < resumed->settings->server_count && !found; options.server++) {
        rlock_view *view = NULL;
        if (rlock_inspect(resumed->server.client, &options, &view) == RLOCK_OK) {
            found = view->holder_count > 0 && strcmp(resumed->handle->kind, "sem") != 0;
            if (found)
                describe_view(text, WHY_SIZE, view, 0);
            if (view->token > *last_token)
                *last_token = view->token;
        }
        rlock_view_free(view);
    }
    return found;
}

static void describe_loss(const struct resumed *resumed, char text[WHY_SIZE]) {
    int64_t last = -1;
    if (find_holder(resumed, text, &last))
        return;
    (void)snprintf(text, WHY_SIZE, "it was given back, or its lease ended%s",
                   last < 0                            ? ""
                   : last == lost_hold(resumed)->token ? "; nobody has taken it since"
                                                       : "; others have taken it since");
}

/* message: the text before the reason. */
static void say_lost(const struct resumed *resumed, enum out_level level, const char *message) {
    char why[WHY_SIZE];
    const struct rlock_handle_hold *hold = lost_hold(resumed);
    describe_loss(resumed, why);
    out_event(level, "lost", OUT_FIELDS(HOLD(resumed, hold), OUT_TEXT("reason", why)),
              "%s not ours any more: %s", message, why);
}

void resumed_log_lost(const struct resumed *resumed) {
    char message[RLOCK_NAME_MAX + 32];
    (void)snprintf(message, sizeof message, "%s is", name_of(resumed));
    say_lost(resumed, OUT_WARNING, message);
}

static int explain_loss(const struct resumed *resumed, const char *verb) {
    char message[RLOCK_NAME_MAX + 64];
    (void)snprintf(message, sizeof message, "cannot %s %s: it is", verb, name_of(resumed));
    say_lost(resumed, OUT_ERROR, message);
    return EXIT_LOST;
}

int resumed_explain(const struct resumed *resumed, const char *verb, enum rlock_status status) {
    return status == RLOCK_LOST ? explain_loss(resumed, verb)
                                : server_explain(&resumed->server, resumed->settings, verb,
                                                 name_of(resumed), status, "");
}

void resumed_log(const struct resumed *resumed, enum out_level level, const char *event,
                 int64_t ttl_ms, const char *before, const char *behind) {
    for (size_t i = 0; i < resumed->handle->hold_count; i++) {
        const struct rlock_handle_hold *hold = &resumed->handle->holds[i];
        out_event(level, event,
                  OUT_FIELDS(HOLD(resumed, hold),
                             OUT_NUMBER("lease_left_ms", ttl_ms == RLOCK_FOREVER ? -1 : ttl_ms)),
                  "%s%s%s", before, hold->name, behind);
    }
}
