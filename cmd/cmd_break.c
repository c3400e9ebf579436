/* cmd_break.c: rlock break: takes a lock away from its holders, after showing who they are.
 *
 * Only those who were shown lose it: who takes the lock between the question and the answer is
 * somebody whom nobody was asked about. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "hold/take.h"
#include "options/opt.h"
#include "output/duration.h"
#include "output/out.h"
#include "report/prey.h"
#include "server/server.h"

enum { NOT_DONE = 1 };

/* Nobody to ask: a script that has not thought of it must not break anything. */
static int say_no_terminal(const struct settings *settings, const struct prey *prey) {
    char text[PREY_TEXT_SIZE];
    out_error("cannot ask whether to break %s, %s: there is no terminal: give --force",
              settings->names[0], prey_describe(text, prey, 0));
    return EXIT_USAGE;
}

enum { AFTER_SIZE = 128 };

/* What breaking does not do: it ends nothing by itself. Returns the text, "" when nothing runs. */
static const char *describe_after(char text[AFTER_SIZE], int64_t runs_on_ms) {
    char most[DURATION_TEXT_SIZE];
    if (runs_on_ms < 0)
        (void)snprintf(text, AFTER_SIZE, "its command may run on, nobody knows for how long");
    else if (runs_on_ms == 0)
        text[0] = '\0';
    else
        (void)snprintf(text, AFTER_SIZE, "its command may run on for %s at most",
                       duration_format(most, runs_on_ms));
    return text;
}

/* Yes is a word that begins with y; the end of the input is no. */
static bool confirmed(const struct settings *settings, const struct prey *prey) {
    char answer[64], after[AFTER_SIZE];
    describe_after(after, prey_runs_on_ms(prey));
    out_ask("%s%sbreak %s? [y/N] ", after, *after != '\0' ? ": " : "", settings->names[0]);
    if (fgets(answer, sizeof answer, stdin) == NULL)
        return false;
    return answer[0] == 'y' || answer[0] == 'Y';
}

static int say_none(const struct settings *settings, const struct prey *prey) {
    const char *name = settings->names[0];
    if (prey->may_be_sem) {
        out_error(
            "cannot break %s: it is a number that nobody is known to hold: a semaphore which only "
            "Redisson's clients use, or a latch",
            name);
        return EXIT_WRONG_KIND;
    }
    if (prey->kind != NULL && strcmp(prey->kind, "latch") == 0) {
        out_error(
            "cannot break %s: it is a latch, which nobody holds: open it with 'rlock latch down "
            "-n %s --by %" PRId64 "'",
            name, name, prey->count > 0 ? prey->count : 1);
        return EXIT_WRONG_KIND;
    }
    if (settings->owner != NULL)
        out_error("cannot break %s: %s does not hold it", name, settings->owner);
    else if (prey->held)
        out_error("cannot break %s: nobody knows who holds its permits: see 'rlock sem --resize'",
                  name);
    else if (prey->waiters > 0)
        out_error("cannot break %s: nobody holds it, and %zu wait for it", name, prey->waiters);
    else
        out_error("cannot break %s: nobody holds it", name);
    return NOT_DONE;
}

static void show(const struct settings *settings, const struct prey *prey) {
    char text[PREY_TEXT_SIZE], left[DURATION_TEXT_SIZE];
    for (size_t i = 0; i < prey->count_of_holders; i++) {
        const int64_t ttl_ms = prey->seen[i].holder->ttl_ms;
        out_info("%s (%s) is %s%s%s", settings->names[0], prey->kind, prey_describe(text, prey, i),
                 ttl_ms >= 0 ? "; its lease ends in " : "",
                 ttl_ms >= 0 ? duration_format(left, ttl_ms) : "");
    }
    if (prey->waiters > 0)
        out_info("%zu wait for it", prey->waiters);
}

static void say_broken(const struct settings *settings, const struct prey *prey) {
    char text[PREY_TEXT_SIZE], after[AFTER_SIZE];
    const char *name = settings->names[0];
    for (size_t i = 0; i < prey->count_of_holders; i++) {
        const int64_t runs_on_ms = prey_one_runs_on_ms(prey, i);
        const struct out_field fields[] = {OUT_TEXT("name", name), OUT_TEXT("kind", prey->kind),
                                           OUT_TEXT("holder", prey->owners[i]),
                                           OUT_NUMBER("waiting", (int64_t)prey->waiters),
                                           OUT_NUMBER("runs_on_ms", runs_on_ms)};
        const size_t count = sizeof fields / sizeof fields[0];
        describe_after(after, runs_on_ms);
        out_event(OUT_INFO, "broken", fields, runs_on_ms < 0 ? count - 1 : count,
                  "broke %s: it was %s%s%s", name, prey_describe(text, prey, i),
                  *after != '\0' ? "; " : "", after);
    }
    if (prey->waiters > 0)
        out_info("%zu waited for it: who comes next was woken", prey->waiters);
}

static int break_it(const struct settings *settings, const struct server *server,
                    const struct prey *prey) {
    char user[TAKE_USER_SIZE], host[256] = "", by[sizeof user + sizeof host];
    take_describe_user(user);
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(by, sizeof by, "%s@%s", user, host);
    const struct rlock_break_options options = {
        .name = settings->names[0],
        .kind = prey->kind,
        .owners = prey->owners,
        .owner_count = prey->count_of_holders,
        .deadline_ms = prey_deadline_ms(settings),
        .cancel_fd = -1,
        .by = by,
    };
    int64_t broken;
    const enum rlock_status status = rlock_break(server->client, &options, &broken);
    if (status == RLOCK_LOST) {
        out_error("cannot break %s: its holder has changed meanwhile; nothing was changed",
                  options.name);
        return NOT_DONE;
    }
    if (status != RLOCK_OK)
        return server_explain(server, settings, "break", options.name, status, "");
    say_broken(settings, prey);
    return 0;
}

static int ask_and_break(const struct settings *settings, const struct server *server,
                         const struct prey *prey) {
    if (prey->count_of_holders == 0)
        return say_none(settings, prey);
    if (!settings->force) {
        if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
            return say_no_terminal(settings, prey);
        show(settings, prey);
        if (!confirmed(settings, prey)) {
            out_info("%s is as it was", settings->names[0]);
            return NOT_DONE;
        }
    }
    return break_it(settings, server, prey);
}

static int break_exec(struct settings *settings) {
    struct server server;
    struct prey prey = {.held = false};
    int failure = server_open(&server, settings);
    if (failure == 0)
        failure = prey_find(&prey, &server, settings);
    if (failure == 0)
        failure = ask_and_break(settings, &server, &prey);
    prey_free(&prey);
    server_close(&server);
    return failure;
}

const struct cmd cmd_break = {
    .name = "break",
    .summary = "Take a lock away from its holder, after asking",
    .synopsis = "[options] NAME",
    .options = CMD_BREAK,
    .child = CHILD_NONE,
    .operand = &opt_operand_name,
    .operands_min = 1,
    .operands_max = 1,
    .exec = break_exec,
};
