/* completion.c: the names of locks that are on a server, for completions.
 *
 * Somebody has pressed a key and waits: it is now or not at all. What is listed are the names that
 * may be locks; to look at each would take longer than it is worth. */
#include "report/completion.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "options/local_url.h"
#include "output/out.h"
#include "output/printable.h"
#include "rlock_admin.h"
#include "server/server.h"

enum { PATIENCE_MS = 300 };

/* Nobody wants a server to be started for that. */
static bool is_there(const char *url) {
    if (!local_is(url))
        return true;
    char *path = local_socket(url);
    const bool there = path != NULL && access(path, F_OK) == 0;
    free(path);
    return there;
}

/* What is shown as something else can't be completed. */
static bool can_be_shown(const char *name) {
    for (uint32_t character; *name != '\0';) {
        const size_t length = printable_character(name, &character);
        if (length == 0 || !printable_is(character))
            return false;
        name += length;
    }
    return true;
}

static int print(const rlock_scan *scan) {
    struct out_page page;
    FILE *stream = out_page_begin(&page);
    if (stream == NULL)
        return EXIT_SYSTEM;
    const char *name;
    for (size_t i = 0; (name = rlock_scan_name(scan, i)) != NULL; i++) {
        if (can_be_shown(name))
            fprintf(stream, "%s\n", name);
    }
    return out_page_end(&page);
}

static int find_and_print(const struct server *server) {
    const int64_t deadline_ms = rlock_now_ms() + PATIENCE_MS;
    rlock_scan *scan = NULL;
    enum rlock_status status = rlock_scan_new(&scan, server->client, 0);
    if (status == RLOCK_OK)
        status = RLOCK_AGAIN;
    while (status == RLOCK_AGAIN && rlock_now_ms() < deadline_ms)
        status = rlock_scan_step(scan, deadline_ms, -1);
    const int result = status == RLOCK_OK ? print(scan) : EXIT_UNAVAILABLE;
    rlock_scan_free(scan);
    return result;
}

int completion_list_names(struct settings *settings) {
    for (size_t i = 0; i < settings->server_count; i++) {
        if (!is_there(settings->servers[i]))
            return EXIT_UNAVAILABLE;
    }
    settings->connect_timeout_ms = PATIENCE_MS;
    settings->io_timeout_ms = PATIENCE_MS;
    struct server server;
    int status = server_open(&server, settings);
    if (status == 0)
        status = find_and_print(&server);
    server_close(&server);
    return status;
}
