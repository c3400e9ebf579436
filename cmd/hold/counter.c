/* counter.c: what is changed on a server without being held. */
#include "hold/hold.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/out.h"
#include "rlock_admin.h"
#include "rlock_count.h"

/* One of the library's functions, what a message calls it, and what it changes. */
struct verb {
    const char *name, *kind;
    enum rlock_status (*change)(rlock_client *client, const struct rlock_count *count,
                                int64_t *result);
};

static const struct verb down = {"count down", "latch", rlock_latch_down};

/* Carries it out on the name that is set, trying for as long as a server may take to be reached and
 * to answer. cancel_fd: as the library takes it. Returns 0 with *status RLOCK_OK, RLOCK_BUSY,
 * RLOCK_LOST or RLOCK_CANCELLED, for the caller to say; else the exit status after a message. */
static int change(const struct server *server, const struct settings *settings,
                  const struct verb *verb, int64_t number, int cancel_fd, enum rlock_status *status,
                  int64_t *result) {
    const struct rlock_count count = {
        .size = sizeof count,
        .name = settings->names[0],
        .number = number,
        .deadline_ms =
            rlock_now_ms() + settings->server.connect_timeout_ms + settings->server.io_timeout_ms,
        .cancel_fd = cancel_fd,
    };
    *status = verb->change(server->client, &count, result);
    server_warn(server);
    if (*status == RLOCK_OK || *status == RLOCK_BUSY || *status == RLOCK_LOST ||
        *status == RLOCK_CANCELLED)
        return 0;
    return server_explain(server, NULL, verb->kind, verb->name, settings->names[0], *status, "");
}

/* The same as a command's whole work. Signals are not taken: they end it as they end any program.
 */
static int change_once(const struct settings *settings, const struct verb *verb, int64_t number,
                       enum rlock_status *status, int64_t *result) {
    struct server server;
    int failure = server_open(&server, settings);
    if (failure == 0)
        failure = change(&server, settings, verb, number, -1, status, result);
    server_close(&server);
    return failure;
}

int latch_set_exec(struct settings *settings) {
    static const struct verb verb = {"set", "latch", rlock_latch_set};
    const char *name = settings->names[0];
    enum rlock_status status;
    int64_t left = 0;
    const int failure = change_once(settings, &verb, settings->counter.count, &status, &left);
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
    enum rlock_status status;
    int64_t left = 0;
    const int failure = change(server, settings, &down, settings->counter.by, -1, &status, &left);
    if (failure == 0 && status == RLOCK_OK)
        say_counted(settings, left, ran_ms);
    else if (failure == 0)
        say_missing(settings->names[0]);
    return failure;
}

int latch_down_exec(struct settings *settings) {
    struct server server;
    if (settings->run.command != NULL)
        return run_exec(settings);
    int status = server_open(&server, settings);
    if (status == 0)
        status = counter_down(&server, settings, -1);
    server_close(&server);
    return status;
}

int counter_check_down(const struct server *server, const struct settings *settings,
                       const struct signals *signals) {
    enum rlock_status status;
    int64_t left;
    int failure, signal;
    do {
        failure = change(server, settings, &down, 0, signals->fd, &status, &left);
        signal = signals_read(signals);
    } while (failure == 0 && status == RLOCK_CANCELLED && signal == 0);
    return signal != 0 ? EXIT_BY_SIGNAL + signal : failure;
}

static int resize(const struct settings *settings) {
    static const struct verb verb = {"resize", "sem", rlock_sem_resize};
    enum rlock_status status;
    int64_t in_use = 0;
    const int failure = change_once(settings, &verb, settings->counter.resize, &status, &in_use);
    if (failure != 0)
        return failure;
    const struct out_field fields[] = {
        OUT_TEXT("name", settings->names[0]), OUT_TEXT("kind", "sem"),
        OUT_NUMBER("permits", settings->counter.resize), OUT_NUMBER("in_use", in_use)};
    out_event(OUT_DEBUG, "resized", fields, sizeof fields / sizeof fields[0],
              "resized %s: %d permits, %" PRId64 " of them in use", settings->names[0],
              settings->counter.resize, in_use);
    return 0;
}

int sem_exec(struct settings *settings) {
    return settings->counter.resize > 0 ? resize(settings) : run_exec(settings);
}
