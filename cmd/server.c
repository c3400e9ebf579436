/* server.c: the server that the settings name, and what is said when it is of no use. */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>

#include "local.h"
#include "opt.h"
#include "out.h"

void server_close(struct server *server) {
    rlock_client_free(server->client);
    free(server->local_url);
    free(server->local_absolute);
    *server = (struct server){.client = NULL};
}

const char *server_for_command(const struct server *server, const struct settings *settings) {
    if (settings->server_source != SOURCE_OPTION)
        return NULL;
    return server->local_absolute != NULL ? server->local_absolute
                                          : rlock_client_server(server->client);
}

/* The URL is read by the library, but its mistakes are told like those of any other setting. */
static int say_bad_url(const struct server *server, const struct settings *settings) {
    struct reason reason;
    struct complaint why = {.status = EXIT_USAGE};
    (void)snprintf(reason.text, sizeof reason.text, "%s", rlock_error(server->client));
    (void)opt_complain(opt_find("server"), settings->server, &settings->origins[SETTING_SERVER],
                       &reason, &why);
    out_error("%s", why.text);
    return why.status;
}

int server_open(struct server *out, const struct settings *settings) {
    *out = (struct server){.client = NULL};
    if (local_is(settings->server)) {
        int status = local_start(settings->server, settings->connect_timeout_ms, &out->local_url,
                                 &out->local_absolute);
        if (status != 0)
            return status;
    }
    const struct rlock_client_options options = {
        .server = out->local_url != NULL ? out->local_url : settings->server,
        .password = out->local_url != NULL ? NULL : settings->password,
        .connect_timeout_ms = settings->connect_timeout_ms,
        .io_timeout_ms = settings->io_timeout_ms,
    };
    enum rlock_status status = rlock_client_new(&out->client, &options);
    if (status == RLOCK_OK)
        return 0;
    if (status == RLOCK_INVALID)
        return say_bad_url(out, settings);
    out_error("cannot use the server: %s", rlock_status_text(status));
    return EXIT_SYSTEM;
}

int server_explain(const struct server *server, const struct settings *settings, const char *verb,
                   const char *name, enum rlock_status status, const char *if_unavailable) {
    const char *url = rlock_client_server(server->client);
    const char *reason = rlock_error(server->client);
    switch (status) {
    case RLOCK_WRONG_KIND:
        out_error("cannot %s %s on %s: %s; nothing was changed: use another name", verb, name, url,
                  rlock_status_text(status));
        return EXIT_WRONG_KIND;
    case RLOCK_UNAVAILABLE:
        out_error("cannot %s %s on %s: %s%s%s", verb, name, url, reason, if_unavailable,
                  settings->server_source == SOURCE_DEFAULT
                      ? "; name your Redis with --server URL, or use --server local: for locks on "
                        "this machine only"
                      : "");
        return EXIT_UNAVAILABLE;
    case RLOCK_DENIED:
        out_error("cannot %s %s on %s: access denied: %s", verb, name, url, reason);
        return EXIT_DENIED;
    case RLOCK_REFUSED:
    case RLOCK_INVALID: out_error("cannot %s %s: %s", verb, name, reason); return EXIT_USAGE;
    case RLOCK_OK:
    case RLOCK_AGAIN:
    case RLOCK_BUSY:
    case RLOCK_LOST:
    case RLOCK_CANCELLED:
    case RLOCK_OUSTED:
    case RLOCK_SYSTEM: break;
    }
    out_error("cannot %s %s on %s: %s", verb, name, url, reason);
    return EXIT_SYSTEM;
}
