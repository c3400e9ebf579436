/* resumed.c: rlock renew, check, release: of a lock that is held already, resumed from its handle
 * or from the environment. */
#include "hold/hold.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold/environment.h"
#include "options/opt.h"
#include "output/describe.h"
#include "output/duration.h"
#include "output/out.h"

enum { PAUSE_MS = 50, WHY_SIZE = 1024 };

struct resumed {
    const struct settings *settings;
    const struct rlock_handle *handle; /* borrowed */
    struct server server;
    rlock_lock *lock;
    int64_t reached_by_ms; /* until when to try a server that does not answer */
};

/* What is done to it. Returns the exit status. */
typedef int work(const struct resumed *resumed);

/* Opens the server, resumes the lock, and does the work. Returns its exit status, or another after
 * a message. */
static int with_lock(const struct settings *settings, const struct rlock_handle *handle,
                     work *do_it) {
    struct resumed resumed = {.settings = settings, .handle = handle};
    int status = server_open(&resumed.server, settings);
    if (status == 0) {
        resumed.reached_by_ms = rlock_now_ms() + settings->server.connect_timeout_ms;
        const enum rlock_status made =
            rlock_lock_resume(&resumed.lock, resumed.server.client, handle);
        status = made == RLOCK_OK
                     ? do_it(&resumed)
                     : out_fail(made == RLOCK_INVALID ? EXIT_USAGE : EXIT_SYSTEM, NULL, NULL,
                                "cannot use HANDLE: %s", rlock_error(resumed.server.client));
    }
    rlock_lock_free(resumed.lock);
    server_close(&resumed.server);
    return status;
}

/* Pauses, and returns true, if another try may help. */
static bool again(const struct resumed *resumed, enum rlock_status status) {
    if (status != RLOCK_UNAVAILABLE || rlock_now_ms() + PAUSE_MS >= resumed->reached_by_ms)
        return false;
    (void)poll(NULL, 0, PAUSE_MS);
    return true;
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

/* The first holder in this view; of several servers some may still have our own hold, which is
 * none. */
static size_t find_in_view(const struct resumed *resumed, const rlock_view *view) {
    const bool is_one = resumed->settings->server.count == 1;
    const char *own = lost_hold(resumed)->owner;
    size_t i = 0;
    while (!is_one && i < view->holder_count && strcmp(view->holders[i].owner, own) == 0)
        i++;
    return i;
}

/* True: text describes the present holder, from the first server that has one. Else *last_token is
 * the last token of any server. A semaphore's other holders have not got our permits: none is
 * described. */
static bool find_holder(const struct resumed *resumed, char text[WHY_SIZE], int64_t *last_token) {
    const struct server_settings *settings = &resumed->settings->server;
    bool found = false;
    for (size_t i = 0; i < settings->count && !found; i++) {
        const int64_t by_ms =
            server_answer_by_ms(&resumed->server, settings->io_timeout_ms, SERVER_GLANCE_MS);
        rlock_view *view = NULL;
        if (server_inspect(&resumed->server, i, name_of(resumed), true, by_ms, &view) == RLOCK_OK) {
            const size_t holder = find_in_view(resumed, view);
            found = holder < view->holder_count && strcmp(resumed->handle->kind, "sem") != 0;
            if (found)
                describe_seen(text, WHY_SIZE, view, &view->holders[holder], rlock_now_ms());
            if (view->token > *last_token)
                *last_token = view->token;
        }
        rlock_view_free(view);
    }
    return found;
}

static void describe_loss(const struct resumed *resumed, char text[WHY_SIZE]) {
    const char *its = resumed->handle->servers;
    const bool elsewhere = its != NULL && strcmp(its, server_shown(&resumed->server)) != 0;
    int64_t last = -1;
    if (find_holder(resumed, text, &last))
        return;
    (void)snprintf(text, WHY_SIZE, "it was given back, or its lease ended%s%s%s",
                   last < 0                            ? ""
                   : last == lost_hold(resumed)->token ? "; nobody has taken it since"
                                                       : "; others have taken it since",
                   elsewhere ? "; or it is where its handle is of, " : "", elsewhere ? its : "");
}

/* message: the text before the reason. */
static void say_lost(const struct resumed *resumed, enum out_level level, const char *message) {
    char why[WHY_SIZE];
    const struct rlock_handle_hold *hold = lost_hold(resumed);
    describe_loss(resumed, why);
    out_event(level, "lost", OUT_FIELDS(HOLD(resumed, hold), OUT_TEXT("reason", why)),
              "%s not ours any more: %s", message, why);
}

static int explain_loss(const struct resumed *resumed, const char *verb) {
    char message[RLOCK_NAME_MAX + 64];
    (void)snprintf(message, sizeof message, "cannot %s %s: it is", verb, name_of(resumed));
    say_lost(resumed, OUT_ERROR, message);
    return EXIT_LOST;
}

/* Says what the library could not do, as server_explain(). If the lock is lost, names its present
 * holder, or what else the servers know. Returns the exit status. */
static int explain(const struct resumed *resumed, const char *verb, enum rlock_status status) {
    return status == RLOCK_LOST ? explain_loss(resumed, verb)
                                : server_explain(&resumed->server, NULL, resumed->handle->kind,
                                                 verb, name_of(resumed), status, "");
}

/* Logs an event for each name. ttl_ms: of the lease; RLOCK_FOREVER: none to show. before, behind:
 * the text on both sides of the name. */
static void log_each(const struct resumed *resumed, enum out_level level, const char *event,
                     int64_t ttl_ms, const char *before, const char *behind) {
    for (size_t i = 0; i < resumed->handle->hold_count; i++) {
        const struct rlock_handle_hold *hold = &resumed->handle->holds[i];
        out_event(level, event,
                  OUT_FIELDS(HOLD(resumed, hold),
                             OUT_NUMBER("lease_left_ms", ttl_ms == RLOCK_FOREVER ? -1 : ttl_ms)),
                  "%s%s%s", before, hold->name, behind);
    }
}

/* --- rlock renew ------------------------------------------------------------------------------ */

static int renew(const struct resumed *resumed) {
    char left[DURATION_TEXT_SIZE], behind[DURATION_TEXT_SIZE + 16];
    const int64_t lease_ms = resumed->handle->lease_ms;
    enum rlock_status status;
    do
        status = rlock_renew(resumed->lock);
    while (again(resumed, status));
    server_warn(&resumed->server);
    if (status != RLOCK_OK)
        return explain(resumed, "renew", status);
    /* More where the lease would end later anyway. */
    (void)snprintf(behind, sizeof behind, ": at least %s left", duration_format(left, lease_ms));
    log_each(resumed, OUT_DEBUG, "renewed", lease_ms, "renewed ", behind);
    return 0;
}

int renew_exec(struct settings *settings) {
    /* A config file's lease is one to take locks with. */
    if (OPT_IS_GIVEN(settings, lock.lease_ms))
        settings->handle.given->lease_ms = settings->lock.lease_ms;
    return with_lock(settings, settings->handle.given, renew);
}

/* --- rlock release ---------------------------------------------------------------------------- */

static int release(const struct resumed *resumed) {
    const int64_t deadline_ms = resumed->reached_by_ms + resumed->settings->server.io_timeout_ms;
    const enum rlock_status status = rlock_release(resumed->lock, 0, deadline_ms);
    if (status != RLOCK_OK)
        return explain(resumed, "release", status);
    log_each(resumed, OUT_DEBUG, "released", RLOCK_FOREVER, "released ", "");
    return 0;
}

int release_exec(struct settings *settings) {
    return with_lock(settings, settings->handle.given, release);
}

/* --- rlock check ------------------------------------------------------------------------------ */

/* As the answer to whether it is held: a warning. */
static int say_not_held(const struct resumed *resumed) {
    char message[RLOCK_NAME_MAX + 32];
    (void)snprintf(message, sizeof message, "%s is", name_of(resumed));
    say_lost(resumed, OUT_WARNING, message);
    return EXIT_FAILURE;
}

static int say_held(const struct resumed *resumed, int64_t ttl_ms) {
    char left[DURATION_TEXT_SIZE], wanted[DURATION_TEXT_SIZE];
    char behind[2 * DURATION_TEXT_SIZE + 32] = " is held";
    const int64_t least_ms = resumed->settings->handle.min_ttl_ms;
    const bool enough = ttl_ms >= least_ms;
    duration_format(left, ttl_ms);
    if (!enough)
        (void)snprintf(behind, sizeof behind, " is held for %s only, not %s", left,
                       duration_format(wanted, least_ms));
    else if (ttl_ms != RLOCK_FOREVER)
        (void)snprintf(behind, sizeof behind, " is held for %s", left);
    log_each(resumed, enough ? OUT_DEBUG : OUT_WARNING, "held", ttl_ms, "", behind);
    return enough ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int check(const struct resumed *resumed) {
    int64_t ttl_ms;
    enum rlock_status status;
    do
        status = rlock_check(resumed->lock, &ttl_ms);
    while (again(resumed, status));
    return status == RLOCK_OK     ? say_held(resumed, ttl_ms)
           : status == RLOCK_LOST ? say_not_held(resumed)
                                  : explain(resumed, "check", status);
}

/* A command inherits less than a handle has, but enough to check. */
static int check_enclosing(const struct settings *settings) {
    struct environment enclosing;
    if (!environment_read(&enclosing))
        return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot read the enclosing holds: out of memory");
    const size_t count = enclosing.count - enclosing.inner;
    int status;
    struct rlock_handle_hold *holds = calloc(count + 1, sizeof *holds);
    for (size_t i = 0; holds != NULL && i < count; i++) {
        const struct rlock_proof *proof = &enclosing.proofs[enclosing.inner + i];
        holds[i] = (struct rlock_handle_hold){
            .name = proof->name, .owner = proof->owner, .token = proof->token};
    }
    if (holds == NULL) {
        status =
            out_fail(EXIT_SYSTEM, NULL, NULL, "cannot look for the enclosing lock: out of memory");
    } else if (count == 0) {
        status = out_fail(EXIT_USAGE, NULL, NULL,
                          "missing HANDLE: not running under an rlock command: give one, as in "
                          "'rlock check HANDLE'");
    } else {
        const struct rlock_handle handle = {
            .size = sizeof handle,
            .kind = enclosing.kinds[enclosing.inner],
            .owner = holds[0].owner,
            .lease_ms = RLOCK_LEASE_DEFAULT_MS,
            .permits = 1,
            .hold_count = count,
            .holds = holds,
        };
        status = with_lock(settings, &handle, check);
    }
    free(holds);
    environment_free(&enclosing);
    return status;
}

int check_exec(struct settings *settings) {
    return settings->handle.given != NULL ? with_lock(settings, settings->handle.given, check)
                                          : check_enclosing(settings);
}
