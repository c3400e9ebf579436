/* inspect.c: inspects names, whatever their kind, without touching them: many at a time, page by
 * page. */
#include <stdlib.h>

#include "admin/admin.h"
#include "lock/kind.h"
#include "lock/lock.h"
#include "os/clock.h"
#include "os/options.h"
#include "redis/script_retry.h"

enum {
    OTHER_KIND = -1,
    FIRST = 20,   /* entries on a name's first page, which nearly always is the last */
    PORTION = 50, /* on each page that follows: half a millisecond of the server's */
    LONG_MAX = 4  /* of these in a request, which a server carries out as one */
};

/* A name that is asked about. */
struct question {
    struct rlock__call call;
    char *keys[RLOCK__KEYS_MAX];
    struct rlock__view *view;
    enum rlock_status status; /* RLOCK_AGAIN: there is more to ask */
};

/* Inspecting publishes nothing, and holds nothing: the arguments that every script has say so. */
static enum rlock_status begin(rlock_client *client, struct question *question, const char *name,
                               const struct rlock_inspect_options *options) {
    const enum rlock_status status = rlock__check_name(client, name);
    if (status != RLOCK_OK)
        return status;
    question->view = rlock__view_new(name, rlock_client_server_at(client, options->server));
    if (question->view == NULL || !rlock__kind_keys(question->keys, RLOCK__INSPECT_KEYS, name)) {
        rlock__error_set(&client->error, "no memory");
        return RLOCK_SYSTEM;
    }
    question->view->only_held = options->only_held;
    question->call =
        (struct rlock__call){.arg_count = 7,
                             .args = {"", "0", "", "0", RLOCK__SPUBLISH, "0", question->view->next},
                             .portion = FIRST,
                             .most = RLOCK__RESP_LISTING};
    rlock__call_add_keys(&question->call, question->keys);
    return RLOCK_AGAIN;
}

/* Takes a page in. */
static enum rlock_status hear(rlock_client *client, struct question *question,
                              const struct rlock__run *run) {
    const char *why = "";
    if (run->status != RLOCK_OK) {
        client->error = run->route->error;
        return run->status;
    }
    const enum rlock_status status =
        run->answer.code == OTHER_KIND
            ? rlock__wrong_kind(&client->error, question->view->view.name)
            : rlock__view_add(question->view, run->answer.reply, &why);
    rlock__reply_free(run->answer.reply);
    if (status == RLOCK_UNAVAILABLE || status == RLOCK_SYSTEM)
        rlock__error_set(&client->error, "%s", why);
    return status;
}

/* One page of each that is not complete, or of a few long ones, within so long. False: all are. */
static bool ask(rlock_client *client, const struct rlock_inspect_options *options,
                int64_t patience_ms, struct question *questions, size_t count) {
    struct rlock__call *calls[RLOCK__CALLS_MAX];
    struct question *asked[RLOCK__CALLS_MAX];
    struct rlock__run runs[RLOCK__CALLS_MAX];
    bool in_doubt[RLOCK__CALLS_MAX];
    size_t n = 0, long_ones = 0;
    for (size_t i = 0; i < count; i++) {
        if (questions[i].status != RLOCK_AGAIN)
            continue;
        if (questions[i].call.portion != FIRST && long_ones++ >= LONG_MAX)
            continue;
        asked[n] = &questions[i];
        runs[n].route = &client->routes.at[options->server];
        calls[n++] = &questions[i].call;
    }
    if (n == 0)
        return false;
    rlock__script_retry(client, &RLOCK__INSPECT, calls, runs, in_doubt, n,
                        rlock__after_ms(rlock_now_ms(), patience_ms), options->cancel_fd);
    for (size_t i = 0; i < n; i++) {
        asked[i]->status = hear(client, asked[i], &runs[i]);
        if (asked[i]->call.portion == FIRST)
            asked[i]->call.portion = PORTION;
    }
    return true;
}

/* As many as go into one request. */
static enum rlock_status inspect_some(rlock_client *client,
                                      const struct rlock_inspect_options *options,
                                      int64_t patience_ms, const char *const *names, size_t count,
                                      rlock_view **views, enum rlock_status *statuses) {
    struct question *questions = calloc(count, sizeof *questions);
    if (questions == NULL) {
        rlock__error_set(&client->error, "no memory");
        return RLOCK_SYSTEM;
    }
    for (size_t i = 0; i < count; i++)
        questions[i].status = begin(client, &questions[i], names[i], options);
    while (ask(client, options, patience_ms, questions, count))
        ;
    for (size_t i = 0; i < count; i++) {
        statuses[i] = questions[i].status;
        if (statuses[i] == RLOCK_OK)
            views[i] = &questions[i].view->view;
        else if (questions[i].view != NULL)
            rlock_view_free(&questions[i].view->view);
        rlock__kind_keys_free(questions[i].keys);
    }
    free(questions);
    return RLOCK_OK;
}

enum rlock_status rlock_inspect_all(rlock_client *client, const struct rlock_inspect_options *given,
                                    const char *const *names, size_t count, rlock_view **views,
                                    enum rlock_status *statuses) {
    struct rlock_inspect_options options;
    for (size_t i = 0; i < count; i++) {
        views[i] = NULL;
        statuses[i] = RLOCK_SYSTEM;
    }
    enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_inspect_options, cancel_fd, &options, given, &client->error);
    if (status == RLOCK_OK && options.server >= client->count)
        status = rlock__client_invalid(client, "there is no such server");
    const int64_t patience_ms = status == RLOCK_OK ? rlock__left_ms(options.deadline_ms) : 0;
    for (size_t i = 0, some; i < count && status == RLOCK_OK; i += some) {
        some = count - i < RLOCK__CALLS_MAX ? count - i : RLOCK__CALLS_MAX;
        status =
            inspect_some(client, &options, patience_ms, names + i, some, views + i, statuses + i);
    }
    return status;
}

enum rlock_status rlock_inspect(rlock_client *client, const struct rlock_inspect_options *given,
                                rlock_view **out) {
    enum rlock_status status;
    const enum rlock_status asked = rlock_inspect_all(client, given, &given->name, 1, out, &status);
    return asked == RLOCK_OK ? status : asked;
}
