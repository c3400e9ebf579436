/* scan.c: finds the locks on a server, in steps that do not keep it from its work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/kind.h"
#include "lock/lock.h"
#include "redis/script_retry.h"
#include "rlock_admin.h"

/* Where things stand in the reply of scan.lua. */
enum { EXAMINED = 1, CURSOR = 3, NAMES };

enum {
    NAMES_SIZE = 32 * 1024 * 1024, /* of all names together: some 400,000 */
    NAME_SIZE = 32,                /* what one counts for besides its text */
    EXAMINED_MAX = 1000000         /* keys, in one step of a few hundred */
};

static const char STEP[] = "250"; /* keys: about a millisecond, of a slow server too */

struct rlock_scan {
    rlock_client *client;
    size_t server;
    size_t node;     /* of a cluster */
    char cursor[24]; /* on that node */
    int64_t examined;
    char been[24]; /* a cursor that was there before; it moves on less and less often */
    uint64_t steps, moves_at;
    char **names;
    size_t count, room, size;
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

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void drop_doubles(rlock_scan *scan) {
    size_t kept = 0;
    if (scan->count > 0)
        qsort(scan->names, scan->count, sizeof *scan->names, by_bytes);
    scan->size = 0;
    for (size_t i = 0; i < scan->count; i++) {
        if (kept > 0 && strcmp(scan->names[kept - 1], scan->names[i]) == 0) {
            free(scan->names[i]);
            continue;
        }
        scan->size += strlen(scan->names[i]) + NAME_SIZE;
        scan->names[kept++] = scan->names[i];
    }
    scan->count = kept;
}

static enum rlock_status fail(rlock_scan *scan, enum rlock_status status, const char *why) {
    rlock__error_set(&scan->client->error, "%s", why);
    return status;
}

/* A lock's name comes once for each of its keys, and from a server that goes wrong for ever. */
static enum rlock_status make_room(rlock_scan *scan) {
    if (scan->count == scan->room || scan->size > NAMES_SIZE)
        drop_doubles(scan);
    if (scan->size > NAMES_SIZE)
        return fail(scan, RLOCK_UNAVAILABLE, "there are too many locks to list: give a NAME");
    if (scan->count <= scan->room / 2 && scan->room > 0)
        return RLOCK_OK;
    const size_t room = scan->room > 0 ? 2 * scan->room : 64;
    char **names = realloc(scan->names, room * sizeof *names);
    if (names == NULL)
        return fail(scan, RLOCK_SYSTEM, "no memory");
    scan->names = names;
    scan->room = room;
    return RLOCK_OK;
}

static enum rlock_status add_name(rlock_scan *scan, const char *name) {
    enum rlock_status status = RLOCK_OK;
    if (scan->count == scan->room || scan->size > NAMES_SIZE)
        status = make_room(scan);
    char *copy = status == RLOCK_OK ? strdup(name) : NULL;
    if (status != RLOCK_OK || copy == NULL)
        return status != RLOCK_OK ? status : fail(scan, RLOCK_SYSTEM, "no memory");
    scan->names[scan->count++] = copy;
    scan->size += strlen(copy) + NAME_SIZE;
    return RLOCK_OK;
}

/* Keys that can't be a lock's name of ours are nobody's. */
static enum rlock_status add_names(rlock_scan *scan, const rlock__reply *names) {
    enum rlock_status status = RLOCK_OK;
    for (size_t i = 0; status == RLOCK_OK && i < rlock__reply_count(names); i++) {
        const char *name = rlock__reply_text(names, i);
        if (name != NULL && rlock_name_fault(name) == NULL)
            status = add_name(scan, name);
    }
    return status;
}

/* Whether the cursor stands where it stood before: a real one never comes back, and this search
 * would have no end. (R. P. Brent's way to find a cycle without keeping what was seen.) */
static bool goes_round(rlock_scan *scan) {
    const bool back = strcmp(scan->cursor, scan->been) == 0;
    if (++scan->steps >= scan->moves_at) {
        memcpy(scan->been, scan->cursor, sizeof scan->been);
        scan->moves_at = 2 * scan->steps;
    }
    return back;
}

/* Whether there is a node to go on with. */
static enum rlock_status next_node(rlock_scan *scan, const struct rlock__limit *limit, bool *more) {
    struct rlock__route *route = &scan->client->routes.at[scan->server];
    struct rlock__link *link;
    const enum rlock_status status = rlock__route_node(route, &scan->node, limit, &link);
    *more = link != NULL;
    if (status != RLOCK_OK)
        scan->client->error = route->error;
    return rlock__final(status);
}

static enum rlock_status read_answer(rlock_scan *scan, const rlock__reply *reply) {
    const char *cursor = rlock__reply_text(reply, CURSOR);
    const rlock__reply *names = rlock__reply_at(reply, NAMES);
    int64_t examined;
    if (cursor == NULL || strlen(cursor) >= sizeof scan->cursor || names == NULL ||
        !rlock__reply_integer(reply, EXAMINED, &examined) || examined < 0 ||
        examined > EXAMINED_MAX)
        return fail(scan, RLOCK_UNAVAILABLE, "the server's answer to scan can't be understood");
    scan->examined += examined;
    (void)snprintf(scan->cursor, sizeof scan->cursor, "%s", cursor);
    const enum rlock_status status = add_names(scan, names);
    if (status != RLOCK_OK)
        return status;
    if (goes_round(scan))
        return fail(scan, RLOCK_UNAVAILABLE, "the server's answers to scan go round in a circle");
    return RLOCK_AGAIN;
}

enum rlock_status rlock_scan_step(rlock_scan *scan, int64_t deadline_ms, int cancel_fd) {
    const struct rlock__limit limit = {deadline_ms, cancel_fd, NULL};
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
        .arg_count = 8,
        .args = {"", "0", "", "0", RLOCK__SPUBLISH, "0", scan->cursor, STEP},
        .most = RLOCK__RESP_LISTING};
    status = rlock__script_retry(scan->client, &scan->client->routes.at[scan->server], RLOCK__SCAN,
                                 &call, deadline_ms, cancel_fd, &answer, &in_doubt);
    if (status != RLOCK_OK)
        return status;
    status = read_answer(scan, answer.reply);
    rlock__reply_free(answer.reply);
    if (status == RLOCK_AGAIN && strcmp(scan->cursor, "0") == 0) {
        scan->node++;
        scan->been[0] = '\0';
        scan->steps = scan->moves_at = 0;
    }
    return status;
}

int64_t rlock_scan_looked(const rlock_scan *scan) {
    return scan->examined;
}

const char *rlock_scan_name(const rlock_scan *scan, size_t i) {
    return i < scan->count ? scan->names[i] : NULL;
}
