/* break.c: takes a lock away from its holders, after showing them and asking.
 *
 * Break only the holders that were shown: a process that acquires the lock between the prompt and
 * the answer keeps it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/describe.h"
#include "output/duration.h"
#include "output/out.h"
#include "report/report.h"
#include "report/survey.h"
#include "rlock_admin.h"
#include "server/server.h"

enum {
    NOT_DONE = 1,
    STOPPING_MAX = 8, /* holders; each takes a connection */
};

/* Nobody can answer: a script must say explicitly that it means it. */
static int say_no_terminal(const struct settings *settings, const struct holders *holders) {
    char text[HOLDERS_TEXT_SIZE];
    return out_fail(EXIT_USAGE, settings->names[0], NULL,
                    "cannot ask whether to break %s, %s: there is no terminal: give --force",
                    settings->names[0], holders_describe(text, holders, 0));
}

enum { AFTER_SIZE = 128 };

/* What breaking does not do: it ends nothing by itself. Returns the text, "" when nothing runs. */
static const char *describe_after(char text[AFTER_SIZE], int64_t runs_on_ms) {
    char most[DURATION_TEXT_SIZE];
    if (runs_on_ms == RUNS_ON_NO_COMMAND)
        (void)snprintf(text, AFTER_SIZE, "it has no command, and what relies on it is not stopped");
    else if (runs_on_ms == RUNS_ON_UNKNOWN)
        (void)snprintf(text, AFTER_SIZE,
                       "its command may keep running, rlock cannot tell for how long");
    else if (runs_on_ms == 0)
        text[0] = '\0';
    else
        (void)snprintf(text, AFTER_SIZE, "its command may run on for %s at most",
                       duration_format(most, runs_on_ms));
    return text;
}

/* Yes is a word that begins with y; the end of the input is no. */
static bool confirmed(const struct settings *settings, const struct holders *holders) {
    char answer[64], after[AFTER_SIZE];
    describe_after(after, holders_runs_on_ms(holders));
    out_ask("%s%sbreak %s? [y/N] ", after, *after != '\0' ? ": " : "", settings->names[0]);
    const bool answered = fgets(answer, sizeof answer, stdin) != NULL;
    if (feof(stdin))
        out_ask_end();
    return answered && (answer[0] == 'y' || answer[0] == 'Y');
}

static int say_none(const struct settings *settings, const struct holders *holders) {
    const char *name = settings->names[0];
    if (holders->may_be_sem)
        return out_fail(
            EXIT_WRONG_KIND, name, NULL,
            "cannot break %s: it is a number that nobody is known to hold: a semaphore which only "
            "Redisson's clients use, or a latch",
            name);
    if (holders->kind != NULL && strcmp(holders->kind, "latch") == 0)
        return out_fail(
            EXIT_WRONG_KIND, name, NULL,
            "cannot break %s: it is a latch, which nobody holds: open it with 'rlock latch down "
            "-n %s --by %" PRId64 "'",
            name, name, holders->count > 0 ? holders->count : 1);
    if (settings->look.owner != NULL)
        return out_fail(NOT_DONE, name, NULL, "cannot break %s: %s does not hold it", name,
                        settings->look.owner);
    if (holders->held)
        return out_fail(
            NOT_DONE, name, NULL,
            "cannot break %s: nobody knows who holds its permits: see 'rlock sem --resize'", name);
    if (holders->waiters > 0)
        return out_fail(NOT_DONE, name, NULL,
                        "cannot break %s: nobody holds it, and %zu wait for it", name,
                        holders->waiters);
    return out_fail(NOT_DONE, name, NULL, "cannot break %s: nobody holds it", name);
}

/* Of the question, and said whenever that is asked. */
static void show(const struct settings *settings, const struct holders *holders) {
    char text[HOLDERS_TEXT_SIZE], left[DURATION_TEXT_SIZE];
    for (size_t i = 0; i < holders->size; i++) {
        const int64_t ttl_ms = holders->seen[i].holder->ttl_ms;
        out_ask("%s (%s) is %s%s%s", settings->names[0], holders->kind,
                holders_describe(text, holders, i), ttl_ms >= 0 ? "; its lease ends in " : "",
                ttl_ms >= 0 ? duration_format(left, ttl_ms) : "");
        out_ask_end();
    }
    if (holders->waiters > 0) {
        out_ask("%zu wait for it", holders->waiters);
        out_ask_end();
    }
}

/* Those that are, also where it could not be taken away from others. */
static void say_broken(const struct settings *settings, const struct holders *holders) {
    char text[HOLDERS_TEXT_SIZE], after[AFTER_SIZE];
    const char *name = settings->names[0];
    for (size_t i = 0; i < holders->size; i++) {
        const int64_t runs_on_ms = holders_one_runs_on_ms(holders, i);
        if (!holders->broken[i])
            continue;
        const struct out_field fields[] = {OUT_TEXT("name", name), OUT_TEXT("kind", holders->kind),
                                           OUT_TEXT("holder", holders->owners[i]),
                                           OUT_NUMBER("waiting", (int64_t)holders->waiters),
                                           OUT_NUMBER("runs_on_ms", runs_on_ms)};
        const size_t count = sizeof fields / sizeof fields[0];
        describe_after(after, holders->seen[i].stopping != NULL ? 0 : runs_on_ms);
        out_event(OUT_INFO, "broken", fields, runs_on_ms < 0 ? count - 1 : count,
                  "broke %s: it was %s%s%s", name, holders_describe(text, holders, i),
                  *after != '\0' ? "; " : "", after);
    }
}

/* Begins to listen to the holders that have a command, before they are broken. Those to which it
 * does not listen are NULL: there is nothing to wait for, or no right to hear it. A holder hears of
 * the break at once, or at its next renewal, and says when its command has ended. One that is cut
 * off, or hung, cannot: its guardian kills the command before the lease would have ended. */
static void stopping_begin(const struct holders *holders, const struct server *server) {
    for (size_t i = 0; i < holders->size && i < STOPPING_MAX; i++) {
        rlock_subscription **stopping = &holders->seen[i].stopping;
        if (server->settings->look.stop_wait_ms == 0 || holders_one_runs_on_ms(holders, i) <= 0 ||
            rlock_subscription_new(stopping, server->client, server->settings->names[0],
                                   holders->kind, holders->owners[i], holders_deadline_ms(server),
                                   -1) == RLOCK_OK)
            continue;
        rlock_subscription_free(*stopping);
        *stopping = NULL;
    }
}

static void say_stopped(const struct holders *holders, size_t i, bool has_stopped,
                        int64_t waited_ms) {
    const struct rlock_view_holder *holder = holders->seen[i].holder;
    const int64_t left_ms = holders_one_runs_on_ms(holders, i);
    char which[HOLDERS_TEXT_SIZE], waited[DURATION_TEXT_SIZE], most[DURATION_TEXT_SIZE];
    (void)snprintf(which, sizeof which, "%s%s%s", holder->user != NULL ? holder->user : "",
                   holder->user != NULL ? "@" : "", holder->host);
    duration_format(waited, waited_ms);
    if (has_stopped)
        out_info("%s says that its command has stopped, %s after the break", which, waited);
    else if (left_ms > 0)
        out_warn("%s has not answered within %s: its command may run on for %s at most", which,
                 waited, duration_format(most, left_ms));
    else
        out_warn("%s has not answered within %s; its lease would be over: its command has been "
                 "stopped, unless it runs with --on-lost warn",
                 which, waited);
}

/* Waits for each as long as --wait says, all in all, and says what has become of it. */
static void stopping_end(const struct holders *holders, const struct settings *settings) {
    const int64_t began_ms = rlock_now_ms(), end_ms = began_ms + settings->look.stop_wait_ms;
    for (size_t i = 0; i < holders->size; i++) {
        rlock_subscription *stopping = holders->seen[i].stopping;
        if (stopping == NULL || !holders->broken[i])
            continue;
        const int64_t over_ms = rlock_now_ms() + holders_one_runs_on_ms(holders, i);
        const int64_t until_ms = over_ms < end_ms ? over_ms : end_ms;
        const bool has_stopped = rlock_subscription_wait(stopping, until_ms, -1) == RLOCK_OK;
        say_stopped(holders, i, has_stopped, rlock_now_ms() - began_ms);
    }
}

static int break_it(const struct server *server, const struct holders *holders) {
    const struct settings *settings = server->settings;
    char user[DESCRIBE_USER_SIZE], host[256] = "", by[RLOCK_TEXT_MAX];
    (void)gethostname(host, sizeof host - 1);
    describe_user(user);
    (void)snprintf(by, sizeof by, "%s@%s", user, host);
    const struct rlock_break_options options = {
        .size = sizeof options,
        .name = settings->names[0],
        .kind = holders->kind,
        .owners = holders->owners,
        .owner_count = holders->size,
        .deadline_ms = holders_deadline_ms(server),
        .cancel_fd = -1,
        .by = by,
        .broken = holders->broken,
    };
    int64_t broken;
    stopping_begin(holders, server);
    const enum rlock_status status = rlock_break(server->client, &options, &broken);
    int failure = 0;
    say_broken(settings, holders);
    if (status == RLOCK_LOST)
        failure = out_fail(NOT_DONE, options.name, NULL,
                           "cannot break %s: its holder has changed meanwhile; nothing was changed",
                           options.name);
    else if (status != RLOCK_OK)
        failure = server_explain(server, NULL, holders->kind, "break", options.name, status,
                                 broken > 0 ? "; whoever is not named may still hold it" : "");
    else if (holders->waiters > 0)
        out_info("%zu waited for it: the next has been woken", holders->waiters);
    stopping_end(holders, settings);
    return failure;
}

static int ask_and_break(const struct server *server, const struct holders *holders) {
    const struct settings *settings = server->settings;
    if (holders->size == 0)
        return say_none(settings, holders);
    if (!settings->look.force) {
        if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
            return say_no_terminal(settings, holders);
        show(settings, holders);
        if (!confirmed(settings, holders)) {
            out_info("%s is as it was", settings->names[0]);
            return NOT_DONE;
        }
    }
    return break_it(server, holders);
}

int break_exec(struct settings *settings) {
    struct server server;
    struct holders holders = {.held = false};
    int failure = server_open(&server, settings);
    if (failure == 0)
        failure = holders_find(&holders, &server);
    if (failure == 0)
        failure = ask_and_break(&server, &holders);
    holders_free(&holders);
    server_close(&server);
    return failure;
}
