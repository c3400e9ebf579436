/* idle.c: rlock wait: until nobody holds any of some locks.
 *
 * It takes nothing and stands in no line: it looks, listens for the release of one that is held,
 * and looks again. A release that nobody tells of, such as the end of a lease, is seen by looking:
 * when the lease ends, and every few seconds. */
#include "report/report.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/describe.h"
#include "output/duration.h"
#include "output/out.h"
#include "process/deadline.h"
#include "report/survey.h"

enum {
    LOOK_MS = 5000, /* at least so often */
    SOON_MS = 1000, /* where the live line is drawn, or nothing can be heard */
    LAST_MS = 500,  /* in which a server that has answered before answers once more */
    SAY_MS = 30000, /* a line, where nothing is drawn */
    BREATH_MS = 50  /* at most twenty looks a second, however often it is given back */
};

struct idle {
    const struct server *server;
    int64_t began_ms, deadline_ms, say_ms;
    bool has_answered;             /* a majority, once */
    char name[RLOCK_NAME_MAX + 1]; /* of the lock that is listened for; "": none */
    rlock_subscription *releases;
};

/* When a lease ends, or something else calls for a look. */
static int64_t look_again_at(const struct idle *idle, const rlock_view *view) {
    const int64_t now_ms = rlock_now_ms();
    const bool listens = idle->releases != NULL && !out_can_live();
    int64_t at_ms = now_ms + (listens ? LOOK_MS : SOON_MS);
    for (size_t i = 0; view != NULL && i < view->holder_count; i++) {
        const int64_t ttl_ms = view->holders[i].ttl_ms;
        if (ttl_ms >= 0 && now_ms + ttl_ms + 1 < at_ms)
            at_ms = now_ms + ttl_ms + 1;
    }
    return at_ms < idle->deadline_ms ? at_ms : idle->deadline_ms;
}

static void describe(char text[HOLDERS_TEXT_SIZE], const rlock_view *view) {
    if (view->holder_count > 0)
        describe_seen(text, HOLDERS_TEXT_SIZE, view, &view->holders[0], rlock_now_ms());
    else
        (void)snprintf(text, HOLDERS_TEXT_SIZE, "%s",
                       view->count > 0 ? "the latch is not open" : "it is held");
}

static const struct rlock_view_holder *first_holder(const rlock_view *view) {
    static const struct rlock_view_holder none = {.owner = NULL};
    return view->holder_count > 0 ? &view->holders[0] : &none;
}

/* What every event of the wait has. */
#define SEEN(idle, view, waited_ms)                                                                \
    OUT_TEXT("name", (view)->name), OUT_TEXT("kind", (view)->kind),                                \
        OUT_TEXT("server", rlock_client_server((idle)->server->client)),                           \
        OUT_NUMBER("waited_ms", waited_ms), OUT_TEXT("holder", first_holder(view)->owner),         \
        OUT_TEXT("holder_note", first_holder(view)->note),                                         \
        OUT_NUMBER("count", (view)->count > 0 ? (view)->count : -1)

static void say_waiting(struct idle *idle, const rlock_view *view) {
    const int64_t now_ms = rlock_now_ms();
    const int64_t waited_ms = now_ms - idle->began_ms;
    const char *gap = waited_ms >= 1000 ? " " : "";
    char waited[DURATION_TEXT_SIZE] = "", holder[HOLDERS_TEXT_SIZE];
    if (waited_ms >= 1000)
        duration_format_seconds(waited, waited_ms);
    describe(holder, view);
    if (out_can_live())
        out_live("waiting %s%suntil %s is free: %s", waited, gap, view->name, holder);
    else if (now_ms >= idle->say_ms) {
        out_event(OUT_INFO, "waiting", OUT_FIELDS(SEEN(idle, view, waited_ms)),
                  "waiting %s%suntil %s is free: %s", waited, gap, view->name, holder);
        idle->say_ms = now_ms + SAY_MS;
    }
}

/* Listens for the release of a lock. Without the right to, and while the server is away, it is
 * looked at again after a while. */
static void listen(struct idle *idle, const rlock_view *view) {
    const char *kind = view->kind != NULL ? view->kind : "run";
    rlock_subscription_free(idle->releases);
    idle->releases = NULL;
    (void)snprintf(idle->name, sizeof idle->name, "%s", view->name);
    if (rlock_subscription_new(&idle->releases, idle->server->client, view->name, kind, NULL,
                               idle->deadline_ms, -1) == RLOCK_OK)
        return;
    rlock_subscription_free(idle->releases);
    idle->releases = NULL;
}

static void pause_until(int64_t until_ms) {
    (void)poll(NULL, 0, boottime_left_ms(until_ms));
}

static void rest(struct idle *idle, int64_t until_ms) {
    const int64_t breath_ms = rlock_now_ms() + BREATH_MS;
    if (idle->releases != NULL &&
        rlock_subscription_wait(idle->releases, until_ms, -1) != RLOCK_UNAVAILABLE) {
        pause_until(breath_ms < until_ms ? breath_ms : until_ms);
        return;
    }
    idle->name[0] = '\0'; /* listen anew */
    pause_until(until_ms);
}

/* A server that hangs, or only refuses, ends the wait no later than one that has gone, but for a
 * moment, which is longer where a connection has to be made. */
static int64_t patience_ms(const struct idle *idle) {
    const int64_t left_ms = idle->deadline_ms - rlock_now_ms();
    if (idle->server->settings->lock.wait_ms == 0)
        return RLOCK_FOREVER;
    const int64_t least_ms = idle->has_answered ? LAST_MS : SOON_MS;
    return left_ms > least_ms ? left_ms : least_ms;
}

/* Messages about a server that has answered before are for the end of the wait. */
static void look(struct idle *idle, struct survey *survey) {
    out_keep(NULL, !idle->has_answered);
    survey_make(survey, idle->server, SURVEY_HELD, patience_ms(idle));
    out_keep(NULL, true);
    idle->has_answered = idle->has_answered || survey->failure == 0;
}

static int give_up(const struct idle *idle, const rlock_view *view) {
    char waited[DURATION_TEXT_SIZE], holder[HOLDERS_TEXT_SIZE];
    const int64_t waited_ms =
        idle->server->settings->lock.wait_ms == 0 ? 0 : rlock_now_ms() - idle->began_ms;
    duration_format(waited, waited_ms);
    out_live_end();
    if (view == NULL)
        return out_fail(EXIT_UNAVAILABLE, idle->server->settings->names[0], NULL,
                        "cannot tell whether %s is free: the server does not answer any more",
                        idle->server->settings->names[0]);
    describe(holder, view);
    out_event(OUT_WARNING, "busy", OUT_FIELDS(SEEN(idle, view, waited_ms)),
              "%s is not free%s%s: %s", view->name, waited_ms > 0 ? " after " : "",
              waited_ms > 0 ? waited : "", holder);
    return idle->server->settings->lock.conflict_exit_code;
}

/* What follows from a look. True: the wait is over, with *status. */
static bool is_over(struct idle *idle, const struct survey *survey, int *status) {
    const bool answers = survey->failure == 0;
    const rlock_view *held = answers ? survey_find_held(survey) : NULL;
    *status = survey->failure;
    if (!answers && (!idle->has_answered || survey->failure != EXIT_UNAVAILABLE))
        return true;
    if (answers && held == NULL)
        return true;
    if (rlock_now_ms() >= idle->deadline_ms) {
        *status = give_up(idle, held);
        return true;
    }
    if (held != NULL)
        say_waiting(idle, held);
    if (held != NULL && strcmp(idle->name, held->name) != 0)
        listen(idle, held); /* and look again: it may have been given back meanwhile */
    else
        rest(idle, look_again_at(idle, held));
    return false;
}

static int wait_until_idle(const struct server *server) {
    const struct settings *settings = server->settings;
    struct idle idle = {.server = server, .began_ms = rlock_now_ms(), .deadline_ms = RLOCK_FOREVER};
    struct survey survey;
    int status = 0;
    bool over = false;
    if (settings->lock.wait_ms < RLOCK_FOREVER - idle.began_ms)
        idle.deadline_ms = idle.began_ms + settings->lock.wait_ms;
    while (!over) {
        look(&idle, &survey);
        over = is_over(&idle, &survey, &status);
        survey_free(&survey);
    }
    out_live_end();
    rlock_subscription_free(idle.releases);
    return status;
}

int wait_exec(struct settings *settings) {
    struct server server;
    int status = server_open(&server, settings);
    if (status == 0)
        status = wait_until_idle(&server);
    server_close(&server);
    return status;
}
