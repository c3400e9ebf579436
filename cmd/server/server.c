/* server.c: the servers that the settings name. */
#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/local_url.h"
#include "options/opt.h"
#include "output/out.h"
#include "server/local.h"

void server_close(struct server *server) {
    rlock_client_free(server->client);
    for (size_t i = 0; i < RLOCK_SERVERS_MAX; i++) {
        free(server->local[i].url);
        free(server->local[i].absolute);
    }
    free(server->for_command);
    *server = (struct server){.client = NULL};
}

bool server_is_local(const struct server *server) {
    return server->local_count > 0;
}

void server_revive(const struct server *server, int64_t timeout_ms) {
    for (size_t i = 0; server->local_count > 0 && i < server->settings->server.count; i++) {
        if (server->local[i].absolute != NULL)
            (void)local_revive(server->local[i].absolute, timeout_ms);
    }
}

const char *server_shown(const struct server *server) {
    return server->for_command != NULL ? server->for_command : rlock_client_server(server->client);
}

const char *server_for_command(const struct server *server) {
    const bool is_there = OPT_FROM(server->settings, server.urls)->source == SOURCE_ENVIRONMENT;
    return is_there ? NULL : server_shown(server);
}

/* The servers as the client shows them, with local:DIR where it was given. False: no memory. */
static bool name_for_command(struct server *server) {
    size_t size;
    FILE *stream = open_memstream(&server->for_command, &size);
    if (stream == NULL)
        return false;
    for (size_t i = 0; i < server->settings->server.count; i++) {
        const char *absolute = server->local[i].absolute;
        fprintf(stream, "%s%s", i > 0 ? " " : "",
                absolute != NULL ? absolute : rlock_client_server_at(server->client, i));
    }
    return fclose(stream) == 0;
}

/* The URLs are read by the library, but their mistakes are reported like those of any other
 * setting. */
static int say_bad_url(const struct server *server, const struct settings *settings) {
    struct complaint why = {0};
    const struct given given = {.row = opt_find("server"),
                                .text = settings->server.urls[0],
                                .from = OPT_FROM(settings, server.urls),
                                .why = &why};
    (void)opt_refuse(&given, "%s", rlock_error(server->client));
    return out_fail(why.status, NULL, NULL, "%s", why.text);
}

/* Names those that are local:. urls: what the library is to use instead. Returns 0, or the exit
 * status after a message. */
static int name_local(struct server *out, const struct settings *settings,
                      const char *urls[RLOCK_SERVERS_MAX]) {
    int status = 0;
    for (size_t i = 0; status == 0 && i < settings->server.count; i++) {
        urls[i] = settings->server.urls[i];
        if (!local_is(urls[i]))
            continue;
        status = local_name(urls[i], &out->local[i].url, &out->local[i].absolute);
        urls[i] = out->local[i].url;
        out->local_count++;
    }
    return status;
}

/* The environment names the servers of a config file, without the passwords that stand there, as a
 * command of rlock's has it: the file's are meant. */
static void find_passwords(rlock_client **client, const struct settings *settings,
                           struct rlock_client_options options) {
    rlock_client *known = NULL;
    if (settings->server.known_count != settings->server.count || settings->server.password != NULL)
        return;
    options.servers = settings->server.known;
    if (rlock_client_new(&known, &options) == RLOCK_OK &&
        strcmp(rlock_client_server(known), rlock_client_server(*client)) == 0) {
        rlock_client *without = *client;
        *client = known;
        known = without;
    }
    rlock_client_free(known);
}

static int say_no_server(void) {
    return out_fail(
        EXIT_CONFIG, NULL, NULL,
        "no server: name one with -s URL, or with 'server = URL' in /etc/rlock.conf, or give "
        "-s local: for locks on this machine alone");
}

int server_name(struct server *out, const struct settings *settings) {
    const char *urls[RLOCK_SERVERS_MAX];
    *out = (struct server){.settings = settings};
    if (settings->server.count == 0)
        return say_no_server();
    const int failure = name_local(out, settings, urls);
    if (failure != 0)
        return failure;
    const struct rlock_client_options options = {
        .size = sizeof options,
        .servers = urls,
        .server_count = settings->server.count,
        .password = out->local_count == settings->server.count ? NULL : settings->server.password,
        .password_file = settings->server.password_file,
        .connect_timeout_ms = settings->server.connect_timeout_ms,
        .io_timeout_ms = settings->server.io_timeout_ms,
        .replicas = settings->server.replicas,
        .replica_timeout_ms = settings->server.replica_timeout_ms,
        .fsync = settings->server.fsync,
        .tls = &settings->server.tls,
    };
    enum rlock_status status = rlock_client_new(&out->client, &options);
    if (status == RLOCK_OK && settings->server.known_count > 0)
        find_passwords(&out->client, settings, options);
    if (status == RLOCK_OK && out->local_count > 0 && !name_for_command(out))
        status = RLOCK_SYSTEM;
    if (status == RLOCK_OK)
        return 0;
    if (status == RLOCK_INVALID)
        return say_bad_url(out, settings);
    return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot use the server: %s",
                    rlock_status_text(status));
}

const char *server_origin(const struct settings *settings, char text[OPT_ORIGIN_SIZE]) {
    return opt_origin(opt_find("server"), settings, text);
}

int server_open(struct server *out, const struct settings *settings) {
    int status = server_name(out, settings);
    if (status == 0 && out_tells()) {
        char from[OPT_ORIGIN_SIZE];
        out_debug("using %s, from %s", server_shown(out), server_origin(settings, from));
    }
    for (size_t i = 0; status == 0 && i < settings->server.count; i++) {
        if (out->local[i].absolute != NULL)
            status = local_start(out->local[i].absolute, settings->server.connect_timeout_ms);
    }
    return status;
}

void server_warn(const struct server *server) {
    const char *warning = rlock_warning(server->client);
    if (warning != NULL)
        out_warn("%s: %s", server_shown(server), warning);
}

int64_t server_answer_by_ms(const struct server *server, int64_t patience_ms,
                            int64_t of_several_ms) {
    const struct server_settings *settings = &server->settings->server;
    int64_t most_ms = settings->connect_timeout_ms + settings->io_timeout_ms;
    if (settings->count > 1 && most_ms > of_several_ms)
        most_ms = of_several_ms;
    return rlock_now_ms() + (most_ms > patience_ms ? patience_ms : most_ms);
}

enum rlock_status server_inspect(const struct server *server, size_t which, const char *name,
                                 bool only_held, int64_t deadline_ms, rlock_view **view) {
    const struct rlock_inspect_options options = {
        .size = sizeof options,
        .name = name,
        .server = which,
        .deadline_ms = deadline_ms,
        .cancel_fd = -1,
        .only_held = only_held,
    };
    return rlock_inspect(server->client, &options, view);
}
