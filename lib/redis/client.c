/* client.c: one server or several, and what was said of them. */
#include "redis/client.h"

#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "os/options.h"
#include "rlock_report.h"

enum {
    QUORUM_ANSWER_MS = 1000, /* for one of several servers (Redlock: small against the lease) */
    SECOND_TRY_MS = 1000,    /* what the first try leaves of the time for connecting, at most */
    LAST_TRY_MS = 100,       /* what one has that is begun at its very end */
    PASSWORD = 0,            /* of what is kept */
    PASSWORD_FILE,
    TLS_CA,
    TLS_CERT,
    TLS_KEY,
    TLS_NAME
};

enum rlock_status rlock__client_invalid(struct rlock_client *client, const char *why) {
    rlock__error_set(&client->error, "%s", why);
    return RLOCK_INVALID;
}

enum rlock_status rlock__final(enum rlock_status status) {
    return status == RLOCK_AGAIN ? RLOCK_UNAVAILABLE : status;
}

static enum rlock_status no_memory(struct rlock_client *client) {
    rlock__error_set(&client->error, "out of memory");
    return RLOCK_SYSTEM;
}

/* --- ways, and the time for them -------------------------------------------------------------- */

bool rlock__client_routes(const struct rlock_client *client, struct rlock__routes *routes,
                          struct rlock__error *error) {
    *routes =
        (struct rlock__routes){.at = calloc(client->count, sizeof *routes->at), .error = error};
    bool made = routes->at != NULL;
    for (size_t i = 0; made && i < client->count; i++) {
        const struct rlock__route *like = client->routes.at != NULL ? &client->routes.at[i] : NULL;
        made = rlock__route_init(&routes->at[i], &client->sites[i], like);
        routes->count++;
    }
    if (!made)
        rlock__routes_free(routes);
    return made;
}

struct rlock__limit rlock__client_limit(const struct rlock_client *client, int64_t deadline_ms,
                                        int cancel_fd) {
    int64_t answer_ms = client->io_timeout_ms;
    if (client->count > 1 && answer_ms > QUORUM_ANSWER_MS)
        answer_ms = QUORUM_ANSWER_MS;
    const int64_t timeout =
        rlock__after_ms(rlock_now_ms(), rlock__after_ms(answer_ms, client->replica_timeout_ms));
    return (struct rlock__limit){timeout < deadline_ms ? timeout : deadline_ms, cancel_fd};
}

int64_t rlock__client_reach_by_ms(const struct rlock_client *client,
                                  const struct rlock__routes *routes, int64_t began_ms) {
    return began_ms == RLOCK_FOREVER || rlock__routes_answered(routes)
               ? RLOCK_FOREVER
               : rlock__after_ms(began_ms, client->connect_timeout_ms);
}

struct rlock__limit rlock__client_call_limit(const struct rlock_client *client, int64_t began_ms,
                                             bool again, int64_t deadline_ms, int cancel_fd) {
    struct rlock__limit limit = rlock__client_limit(client, deadline_ms, cancel_fd);
    if (client->count == 1) { /* a link keeps to the time of one reply by itself */
        const int64_t answer_ms =
            rlock__after_ms(client->io_timeout_ms, client->replica_timeout_ms);
        const int64_t most_ms = rlock__after_ms(client->connect_timeout_ms, answer_ms);
        const int64_t by_ms = rlock__after_ms(rlock_now_ms(), most_ms);
        limit.deadline_ms = rlock__sooner_ms(deadline_ms, by_ms);
    }
    const int64_t reach_by_ms = rlock__client_reach_by_ms(client, &client->routes, began_ms);
    if (reach_by_ms != RLOCK_FOREVER) {
        const int64_t left_ms =
            again ? 0 : rlock__sooner_ms(client->connect_timeout_ms / 4, SECOND_TRY_MS);
        const int64_t by_ms = reach_by_ms - left_ms, least_ms = rlock_now_ms() + LAST_TRY_MS;
        limit.deadline_ms =
            rlock__sooner_ms(limit.deadline_ms, by_ms > least_ms ? by_ms : least_ms);
    }
    return limit;
}

/* --- making it ------------------------------------------------------------------------------- */

static bool keep_texts(struct rlock_client *client, const struct rlock_client_options *options) {
    const struct rlock_tls_options *tls = options->tls;
    const char *const texts[] = {
        options->password, options->password_file, tls->ca, tls->cert, tls->key, tls->name};
    char **kept = client->kept;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i] != NULL && (kept[i] = strdup(texts[i])) == NULL)
            return false;
    }
    client->tls = (struct rlock__tls_config){kept[TLS_CA], kept[TLS_CERT], kept[TLS_KEY],
                                             kept[TLS_NAME], tls->insecure};
    return true;
}

/* Sets user and password. If there is another password besides the URL's, the URL's is for the
 * Sentinels only; otherwise it is for all, as the user is. */
static void give_access(const struct rlock_client *client, struct rlock__site *site) {
    const struct rlock__server *server = &site->server;
    const bool finders_own = server->topology == RLOCK__SENTINEL && server->password != NULL &&
                             client->kept[PASSWORD] != NULL;
    site->finder = (struct rlock__access){
        .user = server->user,
        .password = server->password != NULL ? server->password : client->kept[PASSWORD],
        .password_file = server->password != NULL ? NULL : client->kept[PASSWORD_FILE],
        .tls = server->tls ? &client->tls : NULL,
        .connect_timeout_ms = client->connect_timeout_ms,
    };
    site->access = site->finder;
    site->access.db = server->db;
    if (finders_own) {
        site->access.password = client->kept[PASSWORD];
        site->access.password_file = client->kept[PASSWORD_FILE];
    }
}

/* User and database do not matter: the server fails as a whole. */
static bool is_same_server(const struct rlock__server *a, const struct rlock__server *b) {
    if (a->path != NULL || b->path != NULL)
        return a->path != NULL && b->path != NULL && strcmp(a->path, b->path) == 0;
    return strcasecmp(a->hosts[0].name, b->hosts[0].name) == 0 &&
           strcmp(a->hosts[0].port, b->hosts[0].port) == 0;
}

/* The members of a majority must fail independently: each must be a server of its own. */
static bool is_quorum(struct rlock_client *client) {
    const size_t count = client->count;
    for (size_t i = 0; i < count; i++) {
        if (client->sites[i].server.topology != RLOCK__SINGLE) {
            rlock__error_set(&client->error,
                             "the servers of a quorum are single ones, and number %zu is a "
                             "sentinel:// or cluster://: give it alone",
                             i + 1);
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (!is_same_server(&client->sites[i].server, &client->sites[j].server))
                continue;
            rlock__error_set(&client->error,
                             "numbers %zu and %zu are one server: those of a quorum are "
                             "independent: give each once",
                             j + 1, i + 1);
            return false;
        }
    }
    if (count % 2 == 0)
        rlock__error_set(&client->error,
                         "%zu is an even number of servers, which survives no more failures than "
                         "one fewer: give %zu or %zu",
                         count, count - 1, count + 1);
    return count % 2 != 0;
}

static bool show(struct rlock_client *client) {
    size_t size = 1;
    for (size_t i = 0; i < client->count; i++)
        size += strlen(client->sites[i].server.redacted) + 1;
    char *to = client->shown = malloc(size);
    if (to == NULL)
        return false;
    *to = '\0';
    for (size_t i = 0; i < client->count; i++)
        to = stpcpy(stpcpy(to, i > 0 ? " " : ""), client->sites[i].server.redacted);
    return true;
}

/* A server that flushes once a second may take twice as long: Redis puts a flush off while the one
 * before it goes on (redis.conf, appendfsync). */
static int64_t acknowledged_within_ms(const struct rlock_client_options *options) {
    const int64_t least_ms = options->fsync ? RLOCK_FSYNC_LEASE_MIN_MS / 3 : 0;
    return options->replica_timeout_ms > least_ms ? options->replica_timeout_ms : least_ms;
}

static enum rlock_status read_servers(struct rlock_client *client,
                                      const struct rlock_client_options *options) {
    const int64_t timeout_ms = acknowledged_within_ms(options);
    bool acknowledged = options->fsync || options->replicas > 0;
    for (client->count = 0; client->count < options->server_count; client->count++) {
        struct rlock__site *site = &client->sites[client->count];
        const char *url = options->servers[client->count];
        const enum rlock_status status =
            rlock__server_parse(&site->server, url != NULL ? url : "", &client->error);
        if (status != RLOCK_OK)
            return status;
        site->replicas = options->replicas;
        site->fsync = options->fsync;
        site->replica_timeout_ms = timeout_ms;
        give_access(client, site);
        const bool may_have = site->server.topology != RLOCK__SINGLE && options->replicas != 0;
        acknowledged = acknowledged || may_have;
        site->access.answer_timeout_ms = site->finder.answer_timeout_ms =
            rlock__after_ms(client->io_timeout_ms, acknowledged ? timeout_ms : 0);
    }
    client->replica_timeout_ms = acknowledged ? timeout_ms : 0;
    return client->count == 1 || is_quorum(client) ? RLOCK_OK : RLOCK_INVALID;
}

static bool is_time(int64_t ms, int64_t least_ms) {
    return (ms >= least_ms && ms <= RLOCK_TIME_MAX_MS) || ms == RLOCK_FOREVER;
}

/* What is beyond the limits in rlock.h; NULL: nothing is. */
static const char *excess(const struct rlock_client_options *options) {
    if (options->servers == NULL || options->server_count < 1 ||
        options->server_count > RLOCK_SERVERS_MAX)
        return "a lock lives on 1 to 15 servers";
    if (!is_time(options->connect_timeout_ms, 1) || !is_time(options->io_timeout_ms, 1) ||
        !is_time(options->replica_timeout_ms, 0))
        return "a client waits for at least 1ms and at most 36525 days";
    if (options->replicas < RLOCK_REPLICAS_AUTO || options->replicas > RLOCK_REPLICAS_MAX)
        return "at most 100 replicas can be waited for";
    return NULL;
}

static enum rlock_status set_up(struct rlock_client *client,
                                const struct rlock_client_options *options) {
    const char *fault = excess(options);
    if (fault != NULL)
        return rlock__client_invalid(client, fault);
    client->connect_timeout_ms = options->connect_timeout_ms;
    client->io_timeout_ms = options->io_timeout_ms;
    client->sites = calloc(options->server_count, sizeof *client->sites);
    if (client->sites == NULL || !keep_texts(client, options))
        return no_memory(client);
    const enum rlock_status status = read_servers(client, options);
    if (status != RLOCK_OK)
        return status;
    struct rlock__routes routes;
    if (!show(client) || !rlock__client_routes(client, &routes, &client->error))
        return no_memory(client);
    client->routes = routes;
    return RLOCK_OK;
}

enum rlock_status rlock_client_new(rlock_client **out, const struct rlock_client_options *given) {
    struct rlock_client_options options;
    struct rlock_tls_options tls = RLOCK_TLS_OPTIONS_INIT;
    rlock_client *client = *out = calloc(1, sizeof *client);
    if (client == NULL)
        return RLOCK_SYSTEM;
    enum rlock_status status =
        RLOCK__READ_OPTIONS(rlock_client_options, tls, &options, given, &client->error);
    if (status == RLOCK_OK && options.tls != NULL)
        status =
            RLOCK__READ_OPTIONS(rlock_tls_options, insecure, &tls, options.tls, &client->error);
    options.tls = &tls;
    return status == RLOCK_OK ? set_up(client, &options) : status;
}

void rlock_client_free(rlock_client *client) {
    if (client == NULL)
        return;
    rlock__routes_free(&client->routes);
    for (size_t i = 0; i < client->count; i++)
        rlock__server_free(&client->sites[i].server);
    free(client->sites);
    if (client->kept[PASSWORD] != NULL)
        explicit_bzero(client->kept[PASSWORD], strlen(client->kept[PASSWORD]));
    for (size_t i = 0; i < sizeof client->kept / sizeof *client->kept; i++)
        free(client->kept[i]);
    free(client->shown);
    free(client);
}

const char *rlock_client_server(const rlock_client *client) {
    return client->shown;
}

const char *rlock_client_server_at(const rlock_client *client, size_t i) {
    return i < client->count ? client->sites[i].server.redacted : NULL;
}

const char *rlock_warning(rlock_client *client) {
    if (client->warned || !client->routes.at[0].without_wait)
        return NULL;
    client->warned = true;
    return "no replica acknowledges a lock, for the server has no WAIT: one that takes over may "
           "not know of it, and two have it (--replicas 0: that is meant)";
}

const char *rlock_error(const rlock_client *client) {
    return client != NULL ? client->error.text : "out of memory";
}
