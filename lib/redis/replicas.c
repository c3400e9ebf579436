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
    /* A Sentinel that is cut off receives nothing, from some servers for one PING longer. */
    LONGER_MS = 1500
};

/* --- which could become it ------------------------------------------------------------------- */

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
        if (replicas->at[i].has_nothing)
            return true;
    }
    return false;
}

void rlock__replicas_believe(struct rlock__replicas *replicas, int64_t heard_ms) {
    for (size_t i = 0; i < replicas->count; i++) {
        struct rlock__replica *at = &replicas->at[i];
        at->gone = at->gone && heard_ms < at->silent_ms - LONGER_MS;
    }
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
    return must_there(replica) && !replica->has_nothing;
}

size_t rlock__replicas_wanted(const struct rlock__replicas *replicas, bool alive_too) {
    size_t wanted = 0;
    for (size_t i = 0; i < replicas->count; i++)
        wanted += must(&replicas->at[i]) ||
                  (alive_too && !replicas->at[i].gone && !replicas->at[i].has_nothing);
    return wanted == 0 && replicas->unknown ? 1 : wanted;
}

/* --- what they have -------------------------------------------------------------------------- */

/* Those that follow the master, by its answer to ROLE: {host, port, offset} each. */
struct followers {
    size_t count;
    const struct rlock__replica *as[RLOCK__REPLICAS_MAX]; /* which of the known it is */
    const rlock__reply *rows;
};

static int64_t offset_of(const struct followers *followers, size_t i) {
    const char *text = rlock__reply_text(rlock__reply_at(followers->rows, i), 2);
    return text != NULL ? strtoll(text, NULL, 10) : -1;
}

static bool is_server(const struct followers *followers, size_t i) {
    const char *port = rlock__reply_text(rlock__reply_at(followers->rows, i), 1);
    return port == NULL || strcmp(port, RLOCK__NO_SERVER) != 0;
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
    if (is == NULL || strcmp(is, "master") != 0 || out->rows == NULL ||
        out->count > RLOCK__REPLICAS_MAX)
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
