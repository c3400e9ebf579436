/* counter.c: what is changed on a server without being held. */
#include "hold/counter.h"

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
