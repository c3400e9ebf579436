/* cmd_latch_down.c: rlock latch down: counts a latch down, at once or when a command has ended.
 *
 * Nothing is held while the command runs: no lease can be lost, and none is renewed. */
#include <inttypes.h>
#include <unistd.h>

#include "commands.h"
#include "hold/acquire.h"
#include "hold/command.h"
#include "hold/counter.h"
#include "hold/environment.h"
#include "output/out.h"

static const struct counter_verb verb = {"count down", rlock_latch_down};

/* ran_ms: how long the command ran; -1: it did not. */
static void say_counted(const struct settings *settings, enum rlock_status status, int64_t left,
                        int64_t ran_ms) {
    const char *name = settings->names[0];
    if (status == RLOCK_LOST) {
        const struct out_field fields[] = {OUT_TEXT("name", name), OUT_TEXT("kind", "latch")};
        out_event(OUT_WARNING, "missing", fields, sizeof fields / sizeof fields[0],
                  "cannot count down %s: there is no such latch; nothing was changed", name);
        return;
    }
    const struct out_field fields[] = {OUT_TEXT("name", name), OUT_TEXT("kind", "latch"),
                                       OUT_NUMBER("count", left), OUT_NUMBER("ran_ms", ran_ms)};
    out_event(OUT_DEBUG, "counted", fields, sizeof fields / sizeof fields[0] - (ran_ms < 0),
              "counted %s down: %" PRId64 " to go", name, left);
}

static int count_at_once(const struct settings *settings) {
    enum rlock_status status;
    int64_t left = 0;
    const int failure = counter_once(settings, &verb, settings->by, &status, &left);
    if (failure == 0)
        say_counted(settings, status, left, -1);
    return failure;
}

/* --- with a command -------------------------------------------------------------------------- */

struct down {
    const struct settings *settings;
    struct signals signals;
    struct server server;
    struct spawn spawn;
};

static int explain(const struct down *down, enum rlock_status status) {
    return server_explain(&down->server, down->settings, verb.name, down->settings->names[0],
                          status, "");
}

/* What can be known to go wrong goes wrong before the command runs. A latch that is not there may
 * be by the command's end. */
static int check_latch(const struct down *down) {
    enum rlock_status status;
    int64_t left;
    int signal;
    do {
        status = counter_change(&down->server, down->settings, &verb, 0, down->signals.fd, &left);
        signal = signals_read(&down->signals);
    } while (status == RLOCK_CANCELLED && signal == 0);
    if (signal != 0)
        return EXIT_BY_SIGNAL + signal;
    return status == RLOCK_OK || status == RLOCK_LOST ? 0 : explain(down, status);
}

static bool hand_down(struct down *down) {
    const struct settings *settings = down->settings;
    struct shared *shared = down->spawn.plan.shared;
    if (environment_write_name(settings->names[0], "latch",
                               server_for_command(&down->server, settings), shared->environment,
                               sizeof shared->environment))
        return true;
    (void)out_fail(EXIT_SYSTEM, settings->names[0], NULL,
                   "cannot set the command's environment: it is too long");
    return false;
}

/* Whoever waits for the job must not wait for ever: a count-down is not interrupted. */
static int count(const struct down *down) {
    int64_t left = 0;
    server_revive(&down->server,
                  down->settings->io_timeout_ms); /* the command has taken its time */
    const enum rlock_status status =
        counter_change(&down->server, down->settings, &verb, down->settings->by, -1, &left);
    if (status != RLOCK_OK && status != RLOCK_LOST)
        return explain(down, status);
    say_counted(down->settings, status, left, spawn_ran_ms(&down->spawn));
    return 0;
}

static int run(struct down *down) {
    if (!hand_down(down) || !command_guard(&down->spawn, down->settings))
        return EXIT_SYSTEM;
    signals_run(&down->signals);
    spawn_set_lease_end(&down->spawn, RLOCK_FOREVER);
    bool runs = spawn_start(&down->spawn);
    while (runs)
        runs = spawn_watch(&down->spawn, &down->signals, -1, -1) != SPAWN_ENDED;
    const int status =
        command_status(&down->spawn, down->settings, rlock_client_server(down->server.client));
    if (status != 0 && !down->settings->always)
        return status;
    const int failure = count(down);
    return status != 0 ? status : failure;
}

static int run_and_count(const struct settings *settings) {
    struct down down = {.settings = settings, .spawn = {.guardian = -1, .socket = -1}};
    int status = acquire_signals(&down.signals);
    if (status != 0)
        return status;
    status = server_open(&down.server, settings);
    if (status == 0)
        status = command_prepare(&down.spawn, &down.signals, settings);
    if (status == 0)
        status = check_latch(&down);
    if (status == 0)
        status = run(&down);
    spawn_finish(&down.spawn);
    server_close(&down.server);
    close(down.signals.fd);
    return status;
}

static int latch_down_exec(struct settings *settings) {
    return settings->command != NULL ? run_and_count(settings) : count_at_once(settings);
}

const struct cmd cmd_latch_down = {
    .name = "latch down",
    .summary = "Count a latch down, after a command has succeeded if one is given",
    .synopsis = "-n NAME [--by K] [options] [[--] COMMAND [ARG...]]\n"
                "-n NAME [--by K] [options] -c STRING",
    .options = CMD_LATCH_DOWN,
    .child = CHILD_OPTIONAL,
    .one_name = true,
    .exec = latch_down_exec,
};
