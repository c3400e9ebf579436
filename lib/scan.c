/* scan.c: finds the locks on a server, in steps that do not keep it from its work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "kind.h"
#include "lock.h"

/* Where things stand in the reply of scan.lua. */
enum { LOOKED_AT = 1, CURSOR = 3, NAMES };

static const char STEP[] = "250"; /* keys: about a millisecond, of a slow server too */

struct rlock_scan {
    rlock_client *client;
    size_t server;
    size_t node;     /* of a cluster */
    char cursor[24]; /* on that node */
    int64_t looked;
    char **names;
    size_t count, room;
};

enum rlock_status rlock_scan_new(rlock_scan **out, rlock_client *client, size_t server) {
    rlock_scan *scan = *out = NULL;
    if (server >= client->count)
        return rlock__client_invalid(client, "there is no such server");
    scan = *out = calloc(1, sizeof *scan);
    if (scan == NULL) {
        rlock__error_set(&client->error, "no memory");
        return RLOCK_SYSTEM;
    }
    *scan = (rlock_scan){.client = client, .server = server, .cursor = "0"};
    return RLOCK_OK;
}

void rlock_scan_free(rlock_scan *scan) {
    if (scan == NULL)
        return;
    for (size_t i = 0; i < scan->count; i++)
        free(scan->names[i]);
    free(scan->names);
    free(scan);
}

/* False: no memory. */
static bool keep(rlock_scan *scan, const char *name) {
    if (scan->count == scan->room) {
        const size_t room = scan->room > 0 ? 2 * scan->room : 64;
        char **names = realloc(scan->names, room * sizeof *names);
        if (names == NULL)
            return false;
        scan->names = names;
        scan->room = room;
    }
    scan->names[scan->count] = strdup(name);
    return scan->names[scan->count++] != NULL;
}

/* Keys that can't be a lock's name of ours are nobody's. */
static bool keep_all(rlock_scan *scan, const rlock__reply *names) {
    for (size_t i = 0; i < rlock__reply_count(names); i++) {
        const char *name = rlock__reply_text(names, i);
        if (name != NULL && rlock__name_fault(name) == NULL && !keep(scan, name))
            return false;
    }
    return true;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void drop_doubles(rlock_scan *scan) {
    size_t kept = 0;
    if (scan->count > 0)
        qsort(scan->names, scan->count, sizeof *scan->names, by_bytes);
    for (size_t i = 0; i < scan->count; i++) {
        if (kept > 0 && strcmp(scan->names[kept - 1], scan->names[i]) == 0)
            free(scan->names[i]);
        else
            scan->names[kept++] = scan->names[i];
    }
    scan->count = kept;
}

/* Whether there is a node to go on with. */
static enum rlock_status next_node(rlock_scan *scan, const struct rlock__limit *limit, bool *more) {
    struct rlock__route *route = &scan->client->routes.at[scan->server];
    struct rlock__link *link;
    const enum rlock_status status = rlock__route_node(route, &scan->node, limit, &link);
    *more = link != NULL;
    if (status != RLOCK_OK)
        scan->client->error = route->error;
    return status == RLOCK_AGAIN ? RLOCK_UNAVAILABLE : status;
}

static enum rlock_status read_answer(rlock_scan *scan, const rlock__reply *reply) {
    const char *cursor = rlock__reply_text(reply, CURSOR);
    const rlock__reply *names = rlock__reply_at(reply, NAMES);
    int64_t looked;
    if (cursor == NULL || strlen(cursor) >= sizeof scan->cursor || names == NULL ||
        !rlock__reply_integer(reply, LOOKED_AT, &looked)) {
        rlock__error_set(&scan->client->error, "the server's answer to scan can't be understood");
        return RLOCK_UNAVAILABLE;
    }
    scan->looked += looked;
    (void)snprintf(scan->cursor, sizeof scan->cursor, "%s", cursor);
    if (keep_all(scan, names))
        return RLOCK_AGAIN;
    rlock__error_set(&scan->client->error, "no memory");
    return RLOCK_SYSTEM;
}

enum rlock_status rlock_scan_step(rlock_scan *scan, int64_t deadline_ms, int cancel_fd) {
    const struct rlock__limit limit = {deadline_ms, cancel_fd};
    struct rlock__answer answer;
    bool more, in_doubt;
    enum rlock_status status = next_node(scan, &limit, &more);
    if (status != RLOCK_OK)
        return status;
    if (!more) {
        drop_doubles(scan);
        return RLOCK_OK;
    }
    const struct rlock__call call = {
        .node = scan->node,
        .arg_count = 7,
        .args = {"", "0", "", "0", RLOCK__SPUBLISH, scan->cursor, STEP}};
    status = rlock__ask(scan->client, &scan->client->routes.at[scan->server], RLOCK__SCAN, &call,
                        deadline_ms, cancel_fd, &answer, &in_doubt);
    if (status != RLOCK_OK)
        return status;
    status = read_answer(scan, answer.reply);
    rlock__reply_free(answer.reply);
    if (status == RLOCK_AGAIN && strcmp(scan->cursor, "0") == 0)
        scan->node++;
    return status;
}

int64_t rlock_scan_looked(const rlock_scan *scan) {
    return scan->looked;
}

const char *rlock_scan_name(const rlock_scan *scan, size_t i) {
    return i < scan->count ? scan->names[i] : NULL;
}
