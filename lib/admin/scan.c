/* scan.c: finds the locks on a server, in steps that do not keep it from its work: what is asked
 * are plain commands. With the next keys goes what is asked about the last ones, so that a line
 * that is slow costs one round trip a step. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/admin.h"
#include "lock/lock.h"
#include "os/clock.h"
#include "redis/script_retry.h"

enum {
    NAMES_SIZE = 32 * 1024 * 1024, /* of all names together: some 400,000 */
    NAME_SIZE = 32,                /* what one counts for besides its text */
    EXAMINED_MAX = 1000000,        /* keys, in one step */
    AT_ONCE = 1000                 /* keys: 0.2 ms of the server's */
};

struct rlock_scan {
    rlock_client *client;
    size_t server;
    struct place {
        size_t node; /* of a cluster */
        char cursor[24];
        bool has_keys; /* all of that node's */
        char been[24]; /* a cursor that was there before; it moves on less and less often */
        uint64_t steps, moves_at;
    } at;
    size_t at_once;
    struct rlock__key *keys; /* about which more is asked */
    size_t key_count;
    int64_t examined;
    void *tree;              /* the names so far: a lock's comes once for each of its keys */
    size_t count, size;      /* of them */
    const char **names;      /* sorted, after the last step; what the tree has */
    struct rlock__error why; /* it is incomplete; "": it is not */
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
    *scan =
        (rlock_scan){.client = client, .server = server, .at = {.cursor = "0"}, .at_once = AT_ONCE};
    return RLOCK_OK;
}

static void drop_keys(rlock_scan *scan) {
    for (size_t i = 0; i < scan->key_count; i++)
        rlock__key_free(&scan->keys[i]);
    scan->key_count = 0;
}

void rlock_scan_free(rlock_scan *scan) {
    if (scan == NULL)
        return;
    tdestroy(scan->tree, free);
    drop_keys(scan);
    free(scan->keys);
    free(scan->names);
    free(scan);
}

static enum rlock_status fail(rlock_scan *scan, enum rlock_status status, const char *why) {
    rlock__error_set(&scan->client->error, "%s", why);
    return status;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(a, b);
}

/* A server that goes wrong names new ones for ever. */
static enum rlock_status add_name(rlock_scan *scan, const char *name) {
    if (tfind(name, &scan->tree, by_bytes) != NULL)
        return RLOCK_OK;
    if (scan->size > NAMES_SIZE)
        return fail(scan, RLOCK_UNAVAILABLE, "there are too many locks to list: give a NAME");
    char *copy = strdup(name);
    if (copy == NULL || tsearch(copy, &scan->tree, by_bytes) == NULL) {
        free(copy);
        return fail(scan, RLOCK_SYSTEM, "no memory");
    }
    scan->count++;
    scan->size += strlen(copy) + NAME_SIZE;
    return RLOCK_OK;
}

static void append(const void *node, VISIT visit, void *end) {
    const char ***to = end;
    if (visit == postorder || visit == leaf)
        *(*to)++ = *(const char *const *)node;
}

/* Whether the cursor stands where it stood before: a real one never comes back, and this search
 * would have no end. (R. P. Brent's way to find a cycle without keeping what was seen.) */
static bool goes_round(struct place *at) {
    const bool back = strcmp(at->cursor, at->been) == 0;
    if (++at->steps >= at->moves_at) {
        memcpy(at->been, at->cursor, sizeof at->been);
        at->moves_at = 2 * at->steps;
    }
    return back;
}

/* --- what is asked --------------------------------------------------------------------------- */

static bool ask(const rlock_scan *scan, struct rlock__link *link) {
    char count[24];
    (void)snprintf(count, sizeof count, "%zu", scan->at_once);
    const char *const words[] = {"SCAN", scan->at.cursor, "COUNT", count};
    bool done = scan->at.has_keys || rlock__link_ask_words(link, 4, words);
    for (size_t i = 0; done && i < scan->key_count && i < 2 * scan->at_once; i++)
        done = rlock__key_ask(&scan->keys[i], link);
    link->most = RLOCK__RESP_LISTING;
    return done;
}

/* --- what is answered ------------------------------------------------------------------------ */

/* Some more keys. */
static enum rlock_status read_keys(rlock_scan *scan, const rlock__reply *reply) {
    const char *cursor = rlock__reply_text(reply, 0);
    const rlock__reply *keys = rlock__reply_at(reply, 1);
    const size_t count = rlock__reply_count(keys);
    if (cursor == NULL || strlen(cursor) >= sizeof scan->at.cursor || keys == NULL ||
        count > EXAMINED_MAX)
        return fail(scan, RLOCK_UNAVAILABLE, "the server's answer to scan can't be understood");
    struct rlock__key *larger = realloc(scan->keys, (scan->key_count + count + 1) * sizeof *larger);
    if (larger == NULL)
        return fail(scan, RLOCK_SYSTEM, "no memory");
    scan->keys = larger;
    for (size_t i = 0; i < count; i++) {
        const char *key = rlock__reply_text(keys, i);
        if (key != NULL && rlock__key_begin(&scan->keys[scan->key_count], key))
            scan->key_count++;
    }
    scan->examined += (int64_t)count;
    (void)snprintf(scan->at.cursor, sizeof scan->at.cursor, "%s", cursor);
    scan->at.has_keys = strcmp(cursor, "0") == 0;
    if (goes_round(&scan->at))
        return fail(scan, RLOCK_UNAVAILABLE, "the server's answers to scan go round in a circle");
    return RLOCK_OK;
}

/* What the first keys are by their answers. Those about which more is to be asked stay. */
static enum rlock_status read_answers(rlock_scan *scan, rlock__reply *const *replies,
                                      size_t count) {
    enum rlock_status status = RLOCK_OK;
    size_t kept = 0;
    for (size_t i = 0; i < scan->key_count; i++) {
        struct rlock__key *key = &scan->keys[i];
        const bool more = i >= count || rlock__key_hear(key, replies[i]);
        if (!more && key->is_lock && rlock_name_fault(key->name) == NULL && status == RLOCK_OK)
            status = add_name(scan, key->name);
        if (more)
            scan->keys[kept++] = *key;
        else
            rlock__key_free(key);
    }
    scan->key_count = kept;
    return status;
}

/* A key that this user has no access to, or that has gone to another node, is not there for it. */
static bool is_about_key(const char *error) {
    static const char *const elsewhere[] = {"MOVED ", "ASK ", "TRYAGAIN ", "WRONGTYPE "};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (strncmp(error, elsewhere[i], strlen(elsewhere[i])) == 0)
            return true;
    }
    return strncmp(error, "NOPERM ", strlen("NOPERM ")) == 0 && strstr(error, "access") != NULL;
}

/* Whether the server has carried out all that it was asked. */
static enum rlock_status judge(struct rlock__link *link, rlock__reply *const *replies,
                               size_t count) {
    enum rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < count && status == RLOCK_OK; i++) {
        const char *error = rlock__reply_error(replies[i]);
        if (error != NULL && !is_about_key(error))
            status = rlock__reply_judge(link, replies[i]);
    }
    return status;
}

/* One request, and its answers. RLOCK_AGAIN: not now; nothing is changed. */
static enum rlock_status ask_once(rlock_scan *scan, struct rlock__link *link,
                                  const struct rlock__limit *limit) {
    const size_t first = scan->at.has_keys ? 0 : 1;
    size_t count;
    enum rlock_status status = RLOCK_SYSTEM;
    if (ask(scan, link))
        status = rlock__link_call(link, limit);
    if (status != RLOCK_OK)
        return status;
    rlock__reply **replies = rlock__link_take_replies(link, &count);
    status = judge(link, replies, count);
    if (status == RLOCK_OK)
        status = read_answers(scan, replies + first, count - first);
    if (status == RLOCK_OK && first > 0)
        status = read_keys(scan, replies[0]);
    for (size_t i = 0; i < count; i++)
        rlock__reply_free(replies[i]);
    free(replies);
    return status;
}

/* What has been asked for in vain is asked for in a smaller portion. *more: false after the last
 * node. */
static enum rlock_status try_once(rlock_scan *scan, const struct rlock__limit *limit, bool *more) {
    struct rlock__route *route = &scan->client->routes.at[scan->server];
    struct rlock__link *link = NULL;
    enum rlock_status status = rlock__route_node(route, &scan->at.node, limit, &link);
    *more = link != NULL;
    if (status == RLOCK_OK && link != NULL) {
        scan->client->error.text[0] = '\0';
        status = ask_once(scan, link, limit);
        route->answered = route->answered || link->answered;
    }
    if (status != RLOCK_OK && (link == NULL || scan->client->error.text[0] == '\0'))
        scan->client->error = route->error;
    if (status == RLOCK_AGAIN) {
        rlock__route_doubt(route);
        scan->at_once = rlock__smaller(scan->at_once);
    }
    return status;
}

/* Again and again until it is answered. RLOCK_AGAIN: it was not, in time. */
static enum rlock_status try_until(rlock_scan *scan, int64_t deadline_ms, int cancel_fd,
                                   bool *more) {
    const struct rlock__routes one = {.count = 1, .at = &scan->client->routes.at[scan->server]};
    struct rlock__tries tries = {.client = scan->client,
                                 .routes = &one,
                                 .began_ms = rlock_now_ms(),
                                 .deadline_ms = deadline_ms,
                                 .cancel_fd = cancel_fd};
    for (;;) {
        const struct rlock__limit limit = rlock__tries_limit(&tries);
        enum rlock_status status = try_once(scan, &limit, more);
        if (status != RLOCK_AGAIN)
            return status;
        status = rlock__tries_pause(&tries);
        if (status != RLOCK_AGAIN)
            return status == RLOCK_UNAVAILABLE ? RLOCK_AGAIN : status;
    }
}

/* Nothing more is asked about its keys. The other nodes are searched. */
static void give_up_node(rlock_scan *scan) {
    drop_keys(scan);
    scan->at_once = AT_ONCE;
    scan->why = scan->client->error;
}

/* Lists the names. */
static enum rlock_status end(rlock_scan *scan) {
    free(scan->names);
    const char **to = scan->names = calloc(scan->count + 1, sizeof *scan->names);
    if (to == NULL)
        return fail(scan, RLOCK_SYSTEM, "no memory");
    twalk_r(scan->tree, append, &to);
    return scan->why.text[0] != '\0' ? fail(scan, RLOCK_UNAVAILABLE, scan->why.text) : RLOCK_OK;
}

enum rlock_status rlock_scan_step(rlock_scan *scan, int64_t deadline_ms, int cancel_fd) {
    const bool in_cluster = scan->client->routes.at[scan->server].cluster != NULL;
    bool more = false;
    const enum rlock_status status = try_until(scan, deadline_ms, cancel_fd, &more);
    if (status == RLOCK_AGAIN && !(more && in_cluster))
        return RLOCK_UNAVAILABLE;
    if (status != RLOCK_OK && status != RLOCK_AGAIN)
        return status;
    if (!more)
        return end(scan);
    if (status == RLOCK_AGAIN)
        give_up_node(scan);
    if (status == RLOCK_AGAIN || (scan->at.has_keys && scan->key_count == 0))
        scan->at = (struct place){.node = scan->at.node + 1, .cursor = "0"};
    return RLOCK_AGAIN;
}

int64_t rlock_scan_looked(const rlock_scan *scan) {
    return scan->examined;
}

const char *rlock_scan_name(const rlock_scan *scan, size_t i) {
    return scan->names != NULL && i < scan->count ? scan->names[i] : NULL;
}
