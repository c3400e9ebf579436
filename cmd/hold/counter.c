/* counter.c: what is changed on a server without being held. */
#include "hold/counter.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/out.h"

static const struct counter_verb down = {"count down", rlock_latch_down};

enum rlock_status counter_change(const struct server *server, const struct settings *settings,
                                 const struct counter_verb *verb, int64_t number, int cancel_fd,
                                 int64_t *result) {
    const struct rlock_count count = {
        .size = sizeof count,
        .name = settings->names[0],
        .number = number,
        .deadline_ms = rlock_now_ms() + settings->connect_timeout_ms + settings->io_timeout_ms,
        .cancel_fd = cancel_fd,
    };
    const enum rlock_status status = verb->change(server->client, &count, result);
    server_warn(server);
    return status;
}

int counter_once(const struct settings *settings, const struct counter_verb *verb, int64_t number,
                 enum rlock_status *status, int64_t *result) {
    struct server server;
    int failure = server_open(&server, settings);
    if (failure == 0) {
        *status = counter_change(&server, settings, verb, number, -1, result);
        if (*status != RLOCK_OK && *status != RLOCK_BUSY && *status != RLOCK_LOST)
            failure =
                server_explain(&server, settings, verb->name, settings->names[0], *status, "");
    }
    server_close(&server);
    return failure;
}

int latch_set_exec(struct settings *settings) {
    static const struct counter_verb verb = {"set", rlock_latch_set};
    const char *name = settings->names[0];
    enum rlock_status status;
    int64_t left = 0;
    const int failure = counter_once(settings, &verb, settings->count, &status, &left);
    if (failure != 0)
        return failure;
    const struct out_field fields[] = {OUT_TEXT("name", name), OUT_TEXT("kind", "latch"),
                                       OUT_NUMBER("count", left)};
    if (status == RLOCK_BUSY) {
        out_event(OUT_ERROR, "busy", fields, sizeof fields / sizeof fields[0],
                  "cannot set %s: it is set already, %" PRId64 " to go; nothing was changed", name,
                  left);
        return EXIT_FAILURE;
    }
    out_event(OUT_DEBUG, "set", fields, sizeof fields / sizeof fields[0],
              "set %s: %" PRId64 " to go", name, left);
    return 0;
}

static void say_counted(const struct settings *settings, int64_t left, int64_t ran_ms) {
    const char *name = settings->names[0];
    out_event(OUT_DEBUG, "counted",
              OUT_FIELDS(OUT_TEXT("name", name), OUT_TEXT("kind", "latch"),
                         OUT_NUMBER("count", left), OUT_NUMBER("ran_ms", ran_ms)),
              "counted %s down: %" PRId64 " to go", name, left);
}

static void say_missing(const char *name) {
    out_event(OUT_WARNING, "missing", OUT_FIELDS(OUT_TEXT("name", name), OUT_TEXT("kind", "latch")),
              "cannot count down %s: there is no such latch; nothing was changed", name);
}

int counter_down(const struct server *server, const struct settings *settings, int64_t ran_ms) {
    int64_t left = 0;
    const enum rlock_status status =
        counter_change(server, settings, &down, settings->by, -1, &left);
    if (status == RLOCK_OK)
        say_counted(settings, left, ran_ms);
    else if (status == RLOCK_LOST)
        say_missing(settings->names[0]);
    else
        return server_explain(server, settings, down.name, settings->names[0], status, "");
    return 0;
}

int counter_check_down(const struct server *server, const struct settings *settings,
                       const struct signals *signals) {
    enum rlock_status status;
    int64_t left;
    int signal;
    do {
        status = counter_change(server, settings, &down, 0, signals->fd, &left);
        signal = signals_read(signals);
    } while (status == RLOCK_CANCELLED && signal == 0);
    if (signal != 0)
        return EXIT_BY_SIGNAL + signal;
    return status == RLOCK_OK || status == RLOCK_LOST
               ? 0
               : server_explain(server, settings, down.name, settings->names[0], status, "");
}
