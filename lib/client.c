/* client.c: one server, and what was said of it. */
#include "client.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum rlock_status rlock_client_new(rlock_client **out, const struct rlock_client_options *options) {
    rlock_client *client = *out = calloc(1, sizeof *client);
    if (client == NULL)
        return RLOCK_SYSTEM;
    client->connect_timeout_ms = options->connect_timeout_ms;
    client->io_timeout_ms = options->io_timeout_ms;
    client->route.conn = RLOCK__CONN_INIT;
    if (!rlock__server_parse(&client->server, options->servers[0], &client->error))
        return RLOCK_INVALID;
    if (options->password != NULL && (client->password = strdup(options->password)) == NULL) {
        rlock__error_set(&client->error, "no memory");
        return RLOCK_SYSTEM;
    }
    rlock__route_init(&client->route, &client->server, client->password, client->connect_timeout_ms,
                      NULL);
    return RLOCK_OK;
}

void rlock_client_free(rlock_client *client) {
    if (client == NULL)
        return;
    rlock__route_close(&client->route);
    rlock__server_free(&client->server);
    if (client->password != NULL)
        explicit_bzero(client->password, strlen(client->password));
    free(client->password);
    free(client);
}

const char *rlock_client_server(const rlock_client *client) {
    return client->server.redacted;
}

const char *rlock_error(const rlock_client *client) {
    return client->error.text;
}

void rlock__client_route(const struct rlock_client *client, struct rlock__route *route) {
    rlock__route_init(route, &client->server, client->password, client->connect_timeout_ms,
                      &client->route);
}

enum rlock_status rlock__client_invalid(struct rlock_client *client, const char *why) {
    rlock__error_set(&client->error, "%s", why);
    return RLOCK_INVALID;
}

struct rlock__limit rlock__client_limit(const struct rlock_client *client, int64_t deadline_ms,
                                        int cancel_fd) {
    int64_t timeout = rlock__after_ms(rlock_now_ms(), client->io_timeout_ms);
    return (struct rlock__limit){timeout < deadline_ms ? timeout : deadline_ms, cancel_fd};
}
