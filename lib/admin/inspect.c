/* inspect.c: inspects a name, whatever its kind, without touching it. */
#include <stdlib.h>
#include <string.h>

#include "lock/kind.h"
#include "lock/lock.h"
#include "os/options.h"
#include "redis/conn.h"
#include "redis/script_retry.h"
#include "rlock_admin.h"

enum { OTHER_KIND = -1 };

/* Where things stand in the reply of inspect.lua. */
enum { AS_OF = 1, HELD, KIND, TOKEN, TOTAL, AVAILABLE, COUNT, HOLDERS, WAITERS, BARE, LAST };

enum { HOLDER_FIELDS = 11, WAITER_FIELDS = 2 };

struct view {
    rlock_view view; /* first: what the caller has */
    rlock__reply *reply;
    char *name, *server;
    struct rlock_view_holder *holders;
    struct rlock_view_waiter *waiters;
    struct rlock_view_run last_run;
};

/* NULL: unknown. */
static const char *text_at(const rlock__reply *row, size_t i) {
    const char *text = rlock__reply_text(row, i);
    return text != NULL && *text != '\0' ? text : NULL;
}

static int64_t number_at(const rlock__reply *row, size_t i) {
    int64_t number;
    return rlock__reply_integer(row, i, &number) && number >= 0 ? number : -1;
}

/* A token is digits: Lua's numbers are exact up to 2^53 only. */
static int64_t token_at(const rlock__reply *row, size_t i) {
    const char *digits = text_at(row, i);
    int64_t token;
    return digits != NULL && rlock__resp_whole(digits, &token) ? token : -1;
}

/* An owner of rlock's says where it is: UUID:PID@HOST. */
static void read_owner(const char *owner, const char **host, int64_t *pid) {
    const char *id = owner != NULL ? strrchr(owner, ':') : NULL;
    char *end = NULL;
    const long long number = id != NULL ? strtoll(id + 1, &end, 10) : 0;
    if (number <= 0 || *end != '@' || end[1] == '\0')
        return;
    if (*host == NULL)
        *host = end + 1;
    if (*pid < 0)
        *pid = number;
}

static struct rlock_view_holder read_holder(const rlock__reply *row) {
    struct rlock_view_holder holder = {
        .owner = text_at(row, 0),
        .host = text_at(row, 1),
        .pid = number_at(row, 2),
        .user = text_at(row, 3),
        .command = text_at(row, 4),
        .since_ms = number_at(row, 5),
        .ttl_ms = number_at(row, 6),
        .holds = number_at(row, 7),
        .token = token_at(row, 8),
        .permits = number_at(row, 9),
        .writes = number_at(row, 10) == 1,
        .kept = number_at(row, 11) == 1,
        .note = text_at(row, 12),
        .preemptible = number_at(row, 13) == 1,
    };
    read_owner(holder.owner, &holder.host, &holder.pid);
    return holder;
}

static struct rlock_view_waiter read_waiter(const rlock__reply *row, size_t i) {
    struct rlock_view_waiter waiter = {
        .owner = text_at(row, 0),
        .pid = -1,
        .position = (int64_t)i + 1,
        .since_ms = number_at(row, 1),
        .user = text_at(row, 2),
        .command = text_at(row, 3),
        .note = text_at(row, 4),
    };
    read_owner(waiter.owner, &waiter.host, &waiter.pid);
    return waiter;
}

/* An empty row is none. */
static void read_last_run(struct view *view) {
    const rlock__reply *row = rlock__reply_at(view->reply, LAST);
    if (rlock__reply_count(row) == 0)
        return;
    view->last_run = (struct rlock_view_run){
        .host = text_at(row, 0),
        .pid = number_at(row, 1),
        .user = text_at(row, 2),
        .command = text_at(row, 3),
        .exit_status = number_at(row, 4),
        .took_ms = number_at(row, 5),
        .ended_ms = number_at(row, 6),
        .succeeded_ms = number_at(row, 7),
    };
    view->view.last_run = &view->last_run;
}

/* False: no memory. */
static bool read_rows(struct view *view) {
    const rlock__reply *holders = rlock__reply_at(view->reply, HOLDERS);
    const rlock__reply *waiters = rlock__reply_at(view->reply, WAITERS);
    const size_t held = rlock__reply_count(holders), waiting = rlock__reply_count(waiters);
    view->holders = calloc(held + 1, sizeof *view->holders);
    view->waiters = calloc(waiting + 1, sizeof *view->waiters);
    if (view->holders == NULL || view->waiters == NULL)
        return false;
    int64_t since_ms = -1;
    for (size_t i = waiting; i > 0; i--) {
        view->waiters[i - 1] = read_waiter(rlock__reply_at(waiters, i - 1), i - 1);
        if (view->waiters[i - 1].since_ms > since_ms)
            since_ms = view->waiters[i - 1].since_ms;
    }
    for (size_t i = held; i > 0; i--)
        view->holders[i - 1] = read_holder(rlock__reply_at(holders, i - 1));
    view->view.since_ms = held > 0 ? view->holders[0].since_ms : since_ms;
    view->view.holders = view->holders;
    view->view.holder_count = held;
    view->view.waiters = view->waiters;
    view->view.waiter_count = waiting;
    return true;
}

/* Whether there are as many fields to each row: what is shown of a row is more than an empty one
 * costs a server to say. */
static bool are_rows(const rlock__reply *rows, size_t fields) {
    for (size_t i = 0; i < rlock__reply_count(rows); i++) {
        if (rlock__reply_count(rlock__reply_at(rows, i)) < fields)
            return false;
    }
    return rows != NULL;
}

static bool is_view(const rlock__reply *reply) {
    return rlock__reply_count(reply) > WAITERS && rlock__reply_text(reply, KIND) != NULL &&
           are_rows(rlock__reply_at(reply, HOLDERS), HOLDER_FIELDS) &&
           are_rows(rlock__reply_at(reply, WAITERS), WAITER_FIELDS);
}

/* The reply is the view's from then on, whatever comes of it. RLOCK_UNAVAILABLE: it cannot be
 * understood. */
static enum rlock_status read_view(rlock_view **out, const char *name, const char *server,
                                   rlock__reply *reply) {
    struct view *view = calloc(1, sizeof *view);
    int64_t available;
    *out = NULL;
    if (view == NULL || !is_view(reply)) {
        const enum rlock_status status = view == NULL ? RLOCK_SYSTEM : RLOCK_UNAVAILABLE;
        rlock__reply_free(reply);
        free(view);
        return status;
    }
    view->reply = reply;
    view->name = strdup(name);
    view->server = strdup(server);
    view->view = (rlock_view){
        .name = view->name,
        .kind = text_at(reply, KIND),
        .server = view->server,
        .held = number_at(reply, HELD) == 1,
        .as_of_ms = number_at(reply, AS_OF),
        .token = token_at(reply, TOKEN),
        .permits_total = number_at(reply, TOTAL),
        .permits_available =
            rlock__reply_integer(reply, AVAILABLE, &available) ? available : INT64_MIN,
        .count = number_at(reply, COUNT),
        .may_be_sem = number_at(reply, BARE) == 1,
    };
    if (view->name == NULL || view->server == NULL || !read_rows(view)) {
        rlock_view_free(&view->view);
        return RLOCK_SYSTEM;
    }
    read_last_run(view);
    *out = &view->view;
    return RLOCK_OK;
}

void rlock_view_free(rlock_view *view) {
    struct view *inside = (struct view *)view;
    if (inside == NULL)
        return;
    rlock__reply_free(inside->reply);
    free(inside->name);
    free(inside->server);
    free(inside->holders);
    free(inside->waiters);
    free(inside);
}

/* Inspecting publishes nothing, and holds nothing: the arguments that every script has say so. */
static enum rlock_status inspect_with(rlock_client *client,
                                      const struct rlock_inspect_options *options,
                                      struct rlock__call *call, rlock_view **out) {
    struct rlock__answer answer;
    bool in_doubt;
    const enum rlock_status status =
        rlock__script_retry(client, &client->routes.at[options->server], RLOCK__INSPECT, call,
                            options->deadline_ms, options->cancel_fd, &answer, &in_doubt);
    if (status != RLOCK_OK)
        return status;
    if (answer.code == OTHER_KIND) {
        rlock__reply_free(answer.reply);
        return RLOCK_WRONG_KIND;
    }
    const enum rlock_status read = read_view(
        out, options->name, rlock_client_server_at(client, options->server), answer.reply);
    if (read != RLOCK_OK)
        rlock__error_set(&client->error, "%s",
                         read == RLOCK_SYSTEM
                             ? "no memory"
                             : "the server's answer to inspect can't be understood");
    return read;
}

static enum rlock_status inspect_checked(rlock_client *client,
                                         const struct rlock_inspect_options *options,
                                         rlock_view **out) {
    enum rlock_status status = rlock__check_name(client, options->name);
    char *keys[RLOCK__KEYS_MAX];
    struct rlock__call call = {.arg_count = 6,
                               .args = {"", "0", "", "0", RLOCK__SPUBLISH, "0"},
                               .most = RLOCK__RESP_LISTING};
    if (status != RLOCK_OK)
        return status;
    if (options->server >= client->count)
        return rlock__client_invalid(client, "there is no such server");
    const bool made = rlock__kind_keys(keys, RLOCK__INSPECT_KEYS, options->name);
    rlock__call_add_keys(&call, keys);
    status = RLOCK_SYSTEM;
    if (made)
        status = inspect_with(client, options, &call, out);
    else
        rlock__error_set(&client->error, "no memory");
    rlock__kind_keys_free(keys);
    return status;
}

enum rlock_status rlock_inspect(rlock_client *client, const struct rlock_inspect_options *given,
                                rlock_view **out) {
    struct rlock_inspect_options options;
    *out = NULL;
    const enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_inspect_options, cancel_fd, &options, given, &client->error);
    return status == RLOCK_OK ? inspect_checked(client, &options, out) : status;
}
