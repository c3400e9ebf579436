/* replicas.c: which of a master's replicas could become the master, and whether they have what was
 * written.
 *
 * Counting replicas is not enough. In a planned failover a Sentinel promotes a replica about a
 * second before it announces it; another replica, new or never to be promoted, may acknowledge WAIT
 * on the old master in its place. ROLE, sent along with WAIT, lists the replicas: the promoted one
 * does not follow the old master any more. */
#include "redis/route.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    REPLICAS_MAX = 256, /* of one master */
    /* A Sentinel does not promote a replica that has missed five PINGs, one a second. */
    SILENT_MS = 5000,
    /* A lost connection alone proves nothing: a replica that is promoted drops all connections, and
     * Sentinels reconnect within a tenth of a second. */
    DISCONNECTED_MS = 2000,
    /* A Sentinel that is cut off receives nothing, from some servers for one PING longer. */
    LONGER_MS = 1500,
    SENTINELS_MAX = 64
};

/* The port that a follower has which is not a server, such as a backup by redis-cli. */
#define NO_SERVER "0"

/* --- reading the list ------------------------------------------------------------------------ */

/* A field in a row of names and values. */
static const char *field(const rlock__reply *row, const char *name) {
    for (size_t i = 0; i + 1 < rlock__reply_count(row); i += 2) {
        const char *is = rlock__reply_text(row, i);
        if (is != NULL && strcmp(is, name) == 0)
            return rlock__reply_text(row, i + 1);
    }
    return NULL;
}

static bool field_is(const rlock__reply *row, const char *name, const char *value) {
    const char *is = field(row, name);
    return is != NULL && strcmp(is, value) == 0;
}

/* A replaced master that still believes to be one: it is listed as a replica, but follows no
 * master. A replica that was promoted a moment ago has followed one, and counts. */
static bool was_master(const rlock__reply *row) {
    return field_is(row, "role-reported", "master") && field_is(row, "master-host", "?");
}

static int64_t ms_since(const rlock__reply *row, const char *what) {
    const char *since = field(row, what);
    return since != NULL ? strtoll(since, NULL, 10) : 0;
}

/* How long ago the Sentinel received the last reply from it. */
static int64_t silent_ms(const rlock__reply *row) {
    return ms_since(row, "last-ok-ping-reply");
}

/* Another Sentinel tells in its hello, every two seconds, of each new master. One that was cut off
 * hears answers to PING again before it knows of that. */
static int64_t sentinel_silent_ms(const rlock__reply *row) {
    const int64_t ping_ms = silent_ms(row), hello_ms = ms_since(row, "last-hello-message");
    return ping_ms > hello_ms ? ping_ms : hello_ms;
}

static bool is_gone(const rlock__reply *row) {
    const char *flags = field(row, "flags");
    const bool cut_off = flags != NULL && strstr(flags, "disconnected") != NULL;
    return (flags != NULL && strstr(flags, "_down") != NULL) ||
           silent_ms(row) > (cut_off ? DISCONNECTED_MS : SILENT_MS);
}

static bool read_row(struct rlock__replica *out, const rlock__reply *row) {
    const char *host = field(row, "ip"), *port = field(row, "port");
    if (host == NULL || port == NULL || !rlock__is_place(host, port))
        return false;
    (void)stpcpy(out->host, host);
    (void)stpcpy(out->port, port);
    out->promotable =
        !field_is(row, "slave-priority", "0") && !field_is(row, "replica-priority", "0");
    out->gone = is_gone(row);
    out->silent_ms = silent_ms(row);
    out->was_master = was_master(row);
    return true;
}

bool rlock__replicas_read(struct rlock__replicas *out, const rlock__reply *rows) {
    const size_t count = rlock__reply_count(rows);
    int64_t number;
    out->unknown = rlock__reply_error(rows) != NULL || rlock__reply_string(rows) != NULL ||
                   rlock__reply_number(rows, &number) || count > REPLICAS_MAX;
    if (out->unknown || count == 0)
        return true;
    out->at = calloc(count, sizeof *out->at);
    if (out->at == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const rlock__reply *row = rlock__reply_at(rows, i);
        if (field_is(row, "port", NO_SERVER))
            continue;
        if (read_row(&out->at[out->count], row))
            out->count++;
        else
            out->unknown = true;
    }
    return true;
}

bool rlock__replicas_copy(struct rlock__replicas *out, const struct rlock__replicas *from) {
    *out = (struct rlock__replicas){.unknown = from->unknown};
    if (from->count == 0)
        return true;
    out->at = malloc(from->count * sizeof *out->at);
    if (out->at == NULL)
        return false;
    memcpy(out->at, from->at, from->count * sizeof *out->at);
    out->count = from->count;
    return true;
}

void rlock__replicas_free(struct rlock__replicas *replicas) {
    free(replicas->at);
    *replicas = (struct rlock__replicas){.count = 0};
}

static bool is_number(const char *host, unsigned char number[16]) {
    memset(number, 0, 16);
    return inet_pton(AF_INET, host, number) == 1 || inet_pton(AF_INET6, host, number) == 1;
}

static bool same_host(const char *a, const char *b) {
    unsigned char x[16], y[16];
    return strcasecmp(a, b) == 0 ||
           (is_number(a, x) && is_number(b, y) && memcmp(x, y, sizeof x) == 0);
}

static bool is_at(const struct rlock__replica *replica, const char *host, const char *port) {
    return strcmp(replica->port, port) == 0 && same_host(replica->host, host);
}

void rlock__replicas_without(struct rlock__replicas *replicas, const char *host, const char *port) {
    for (size_t i = replicas->count; i > 0; i--) {
        struct rlock__replica *at = &replicas->at[i - 1];
        if (is_at(at, host, port))
            *at = replicas->at[--replicas->count];
    }
}

bool rlock__replicas_some_gone(const struct rlock__replicas *replicas) {
    for (size_t i = 0; i < replicas->count; i++) {
        if (replicas->at[i].promotable && replicas->at[i].gone)
            return true;
    }
    return false;
}

bool rlock__replicas_some_replaced(const struct rlock__replicas *replicas) {
    for (size_t i = 0; i < replicas->count; i++) {
        if (replicas->at[i].was_master)
            return true;
    }
    return false;
}

/* For how long a Sentinel has not heard so many others that they are a majority with it. */
static int64_t majority_silent_ms(const rlock__reply *others) {
    int64_t silences[SENTINELS_MAX] = {0};
    const size_t count = rlock__reply_count(others), wanted = (count + 1) / 2;
    if (count > SENTINELS_MAX)
        return INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const int64_t ms = sentinel_silent_ms(rlock__reply_at(others, i));
        size_t at = i;
        for (; at > 0 && silences[at - 1] > ms; at--)
            silences[at] = silences[at - 1];
        silences[at] = ms;
    }
    return wanted > 0 ? silences[wanted - 1] : 0;
}

void rlock__replicas_believe(struct rlock__replicas *replicas, const rlock__reply *others) {
    int64_t number;
    const bool is_list = others != NULL && rlock__reply_error(others) == NULL &&
                         rlock__reply_string(others) == NULL &&
                         !rlock__reply_number(others, &number);
    const int64_t heard_ms = is_list ? majority_silent_ms(others) : INT64_MAX;
    for (size_t i = 0; i < replicas->count; i++) {
        struct rlock__replica *at = &replicas->at[i];
        at->gone = at->gone && heard_ms < at->silent_ms - LONGER_MS;
    }
}

bool rlock__replicas_hears(const rlock__reply *row, const char **host, const char **port) {
    *host = field(row, "ip");
    *port = field(row, "port");
    return *host != NULL && *port != NULL && rlock__is_place(*host, *port) && !is_gone(row);
}

static bool may_hear(const struct rlock__replicas *theirs, const struct rlock__replica *replica) {
    bool heard = theirs->unknown;
    for (size_t i = 0; i < theirs->count; i++)
        heard =
            heard || (is_at(&theirs->at[i], replica->host, replica->port) && !theirs->at[i].gone);
    return heard;
}

void rlock__replicas_agree(struct rlock__replicas *replicas, const struct rlock__replicas *theirs) {
    for (size_t i = 0; i < replicas->count; i++) {
        struct rlock__replica *at = &replicas->at[i];
        at->gone = at->gone && !may_hear(theirs, at);
    }
}

/* Where it follows the master, and whether it does or not. */
static bool must_there(const struct rlock__replica *replica) {
    return replica->promotable && !replica->gone;
}

static bool must(const struct rlock__replica *replica) {
    return must_there(replica) && !replica->was_master;
}

size_t rlock__replicas_wanted(const struct rlock__replicas *replicas, bool alive_too) {
    size_t wanted = 0;
    for (size_t i = 0; i < replicas->count; i++)
        wanted += must(&replicas->at[i]) ||
                  (alive_too && !replicas->at[i].gone && !replicas->at[i].was_master);
    return wanted == 0 && replicas->unknown ? 1 : wanted;
}

/* --- what they have -------------------------------------------------------------------------- */

/* Those that follow the master, by its answer to ROLE: {host, port, offset} each. */
struct followers {
    size_t count;
    const struct rlock__replica *as[REPLICAS_MAX]; /* which of the known it is */
    const rlock__reply *rows;
};

static int64_t offset_of(const struct followers *followers, size_t i) {
    const char *text = rlock__reply_text(rlock__reply_at(followers->rows, i), 2);
    return text != NULL ? strtoll(text, NULL, 10) : -1;
}

static bool is_server(const struct followers *followers, size_t i) {
    const char *port = rlock__reply_text(rlock__reply_at(followers->rows, i), 1);
    return port == NULL || strcmp(port, NO_SERVER) != 0;
}

/* WAIT has counted those that were furthest. */
static bool has_it(const struct followers *followers, size_t which, int64_t acked) {
    const int64_t own = offset_of(followers, which);
    int64_t further = 0;
    for (size_t i = 0; i < followers->count; i++)
        further += offset_of(followers, i) > own;
    return further < acked;
}

/* A name on one side and a number on the other may be one host. */
static bool may_be_same_host(const char *a, const char *b) {
    unsigned char number[16];
    return is_number(a, number) != is_number(b, number);
}

static void recognize(struct followers *followers, const struct rlock__replica *replica,
                      bool (*is_host)(const char *a, const char *b)) {
    for (size_t i = 0; i < followers->count; i++) {
        const rlock__reply *row = rlock__reply_at(followers->rows, i);
        const char *host = rlock__reply_text(row, 0), *port = rlock__reply_text(row, 1);
        if (followers->as[i] == NULL && host != NULL && port != NULL &&
            strcmp(port, replica->port) == 0 && is_host(host, replica->host)) {
            followers->as[i] = replica;
            return;
        }
    }
}

static bool is_recognized(const struct followers *followers, const struct rlock__replica *replica) {
    for (size_t i = 0; i < followers->count; i++) {
        if (followers->as[i] == replica)
            return true;
    }
    return false;
}

static bool read_role(struct followers *out, const struct rlock__replicas *replicas,
                      const rlock__reply *role) {
    const char *is = rlock__reply_text(role, 0);
    out->rows = rlock__reply_at(role, 2);
    out->count = out->rows != NULL ? rlock__reply_count(out->rows) : 0;
    if (is == NULL || strcmp(is, "master") != 0 || out->rows == NULL || out->count > REPLICAS_MAX)
        return false;
    memset(out->as, 0, sizeof out->as);
    for (size_t i = 0; i < replicas->count; i++)
        recognize(out, &replicas->at[i], same_host);
    for (size_t i = 0; i < replicas->count; i++) {
        if (!is_recognized(out, &replicas->at[i]))
            recognize(out, &replicas->at[i], may_be_same_host);
    }
    return true;
}

enum rlock__having rlock__replicas_have(const struct rlock__replicas *replicas,
                                        const rlock__reply *role, int64_t acked,
                                        const struct rlock__replica **which) {
    struct followers followers;
    *which = NULL;
    if (!read_role(&followers, replicas, role) || (replicas->unknown && followers.count == 0))
        return RLOCK__ONE_IS_AWAY;
    for (size_t i = 0; i < replicas->count; i++) {
        if (must(&replicas->at[i]) && !is_recognized(&followers, &replicas->at[i])) {
            *which = &replicas->at[i];
            return RLOCK__ONE_IS_AWAY;
        }
    }
    /* One that the Sentinel has not found yet, or still takes for a master, another one may know
     * better, and promote. */
    for (size_t i = 0; i < followers.count; i++) {
        const struct rlock__replica *replica = followers.as[i];
        const bool counts = replica != NULL ? must_there(replica) : is_server(&followers, i);
        if (counts && !has_it(&followers, i, acked)) {
            *which = replica;
            return RLOCK__SOME_WILL;
        }
    }
    return RLOCK__ALL_HAVE_IT;
}
