/* held.c: a lock that is held already, taken up from its handle or from what a command was handed
 * down. */
#include "hold/held.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "output/describe.h"
#include "output/out.h"

enum { PAUSE_MS = 50, HELD_WHY_SIZE = 512 };

int held_open(struct held *out, const struct settings *settings,
              const struct rlock_handle *handle) {
    *out = (struct held){.settings = settings, .handle = handle};
    const int failure = server_open(&out->server, settings);
    if (failure != 0)
        return failure;
    out->reached_by_ms = rlock_now_ms() + settings->connect_timeout_ms;
    const enum rlock_status status = rlock_lock_resume(&out->lock, out->server.client, handle);
    if (status == RLOCK_OK)
        return 0;
    out_error("cannot use HANDLE: %s", rlock_error(out->server.client));
    return status == RLOCK_INVALID ? EXIT_USAGE : EXIT_SYSTEM;
}

void held_free(struct held *held) {
    rlock_lock_free(held->lock);
    server_close(&held->server);
    *held = (struct held){.lock = NULL};
}

/* True, after a pause: it is worth another try. */
static bool again(const struct held *held, enum rlock_status status) {
    if (status != RLOCK_UNAVAILABLE || rlock_now_ms() + PAUSE_MS >= held->reached_by_ms)
        return false;
    (void)poll(NULL, 0, PAUSE_MS);
    return true;
}

enum rlock_status held_renew(const struct held *held) {
    enum rlock_status status;
    do
        status = rlock_renew(held->lock);
    while (again(held, status));
    return status;
}

enum rlock_status held_check(const struct held *held, int64_t *ttl_ms) {
    enum rlock_status status;
    do
        status = rlock_check(held->lock, ttl_ms);
    while (again(held, status));
    return status;
}

const char *held_name(const struct held *held) {
    return rlock_stuck_at(held->lock);
}

/* --- of what is lost -------------------------------------------------------------------------- */

static const struct rlock_handle_hold *lost_hold(const struct held *held) {
    const struct rlock_handle *handle = held->handle;
    size_t i = 0;
    while (i + 1 < handle->hold_count && strcmp(handle->holds[i].name, held_name(held)) != 0)
        i++;
    return &handle->holds[i];
}

/* Who has it now, on the first of the servers that knows of one: true. Else the last token that any
 * of them has given. Of a semaphore everybody may have some permits: nobody has ours. */
static bool find_holder(const struct held *held, char text[HELD_WHY_SIZE], int64_t *last_token) {
    struct rlock_look_at look = {
        .size = sizeof look,
        .name = held_name(held),
        .deadline_ms = rlock_now_ms() + held->settings->io_timeout_ms,
        .cancel_fd = -1,
    };
    bool found = false;
    for (; look.server < held->settings->server_count && !found; look.server++) {
        rlock_view *view = NULL;
        if (rlock_look(held->server.client, &look, &view) == RLOCK_OK) {
            found = view->holder_count > 0 && strcmp(held->handle->kind, "sem") != 0;
            if (found)
                describe_view(text, HELD_WHY_SIZE, view, 0);
            if (view->token > *last_token)
                *last_token = view->token;
        }
        rlock_view_free(view);
    }
    return found;
}

static void describe_loss(const struct held *held, char text[HELD_WHY_SIZE]) {
    int64_t last = -1;
    if (find_holder(held, text, &last))
        return;
    (void)snprintf(text, HELD_WHY_SIZE, "it was given back, or its lease ended%s",
                   last < 0                         ? ""
                   : last == lost_hold(held)->token ? "; nobody has taken it since"
                                                    : "; others have taken it since");
}

/* message: what is said before the reason. */
static void say_lost(const struct held *held, enum out_level level, const char *message) {
    char why[HELD_WHY_SIZE];
    const struct rlock_handle_hold *hold = lost_hold(held);
    describe_loss(held, why);
    const struct out_field fields[] = {
        OUT_TEXT("name", hold->name),
        OUT_TEXT("kind", held->handle->kind),
        OUT_TEXT("server", rlock_client_server(held->server.client)),
        OUT_TEXT("owner", hold->owner),
        OUT_NUMBER("token", hold->token),
        OUT_TEXT("reason", why),
    };
    out_event(level, "lost", fields, sizeof fields / sizeof fields[0], "%s not ours any more: %s",
              message, why);
}

void held_say_lost(const struct held *held) {
    char message[RLOCK_NAME_MAX + 32];
    (void)snprintf(message, sizeof message, "%s is", held_name(held));
    say_lost(held, OUT_WARNING, message);
}

static int explain_loss(const struct held *held, const char *verb) {
    char message[RLOCK_NAME_MAX + 64];
    (void)snprintf(message, sizeof message, "cannot %s %s: it is", verb, held_name(held));
    say_lost(held, OUT_ERROR, message);
    return EXIT_LOST;
}

int held_explain(const struct held *held, const char *verb, enum rlock_status status) {
    return status == RLOCK_LOST
               ? explain_loss(held, verb)
               : server_explain(&held->server, held->settings, verb, held_name(held), status, "");
}

/* --- of what is well ---------------------------------------------------------------------------
 */

void held_tell(const struct held *held, enum out_level level, const char *event, int64_t ttl_ms,
               const char *before, const char *behind) {
    const struct rlock_handle *handle = held->handle;
    for (size_t i = 0; i < handle->hold_count; i++) {
        const struct rlock_handle_hold *hold = &handle->holds[i];
        const struct out_field fields[] = {
            OUT_TEXT("name", hold->name),
            OUT_TEXT("kind", handle->kind),
            OUT_TEXT("server", rlock_client_server(held->server.client)),
            OUT_TEXT("owner", hold->owner),
            OUT_NUMBER("token", hold->token),
            OUT_NUMBER("lease_left_ms", ttl_ms),
        };
        const size_t count = sizeof fields / sizeof fields[0];
        out_event(level, event, fields, ttl_ms == RLOCK_FOREVER ? count - 1 : count, "%s%s%s",
                  before, hold->name, behind);
    }
}
