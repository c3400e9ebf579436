/* sentinel.c: asks Sentinels which server is the master.
 *
 * As the guidelines for Redis clients with Sentinel support have it; but that the server's own word
 * (ROLE) is not asked for: it would cost every run a round trip, and a server that is not the
 * master says so (READONLY), or has no replica to acknowledge what it did (WAIT). */
#include "redis/route.h"

#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "redis/link.h"

enum {
    PATIENCE_MS = 500, /* with one Sentinel, if there are others to ask */
    /* A Sentinel does not promote a replica that has missed five PINGs, one a second. */
    SILENT_MS = 5000,
    /* A lost connection alone proves nothing: a replica that is promoted drops all connections, and
     * Sentinels reconnect within a tenth of a second. */
    DISCONNECTED_MS = 2000,
    SENTINELS_MAX = 64
};

/* --- what they say of replicas, and of each other --------------------------------------------- */

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

/* A replaced master that still believes to be one: it is listed as a replica, but follows no
 * master. A replica that was promoted a moment ago has followed one, and counts. */
static bool is_replaced_master(const rlock__reply *row) {
    return field_is(row, "role-reported", "master") && field_is(row, "master-host", "?");
}

/* A replica that has had nothing of its master since it was started: it loads its file, or waits
 * for all of the data. Then its offset is 1; one that has lost the connection keeps its own. */
static bool is_unsynced(const rlock__reply *row) {
    return field_is(row, "master-link-status", "err") && field_is(row, "slave-repl-offset", "1");
}

/* About a replica, or another Sentinel, of which less is known. False: it is nowhere. */
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
    out->has_nothing = is_replaced_master(row) || is_unsynced(row);
    return true;
}

/* Reads the answer to SENTINEL REPLICAS; *out is empty at first. False: out of memory. */
static bool read_replicas(struct rlock__replicas *out, const rlock__reply *rows) {
    const size_t count = rlock__reply_count(rows);
    out->unknown = !rlock__reply_is_list(rows) || count > RLOCK__REPLICAS_MAX;
    if (out->unknown || count == 0)
        return true;
    out->at = calloc(count, sizeof *out->at);
    if (out->at == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const rlock__reply *row = rlock__reply_at(rows, i);
        if (field_is(row, "port", RLOCK__NO_SERVER))
            continue;
        if (read_row(&out->at[out->count], row))
            out->count++;
        else
            out->unknown = true;
    }
    return true;
}

/* For how long a Sentinel has not heard so many others that they are a majority with it, by its
 * answer to SENTINEL SENTINELS. */
static int64_t majority_silent_ms(const rlock__reply *others) {
    const size_t count = rlock__reply_count(others), wanted = (count + 1) / 2;
    int64_t least_ms = count > 0 || !rlock__reply_is_list(others) ? INT64_MAX : 0;
    for (size_t i = 0; i < count && count <= SENTINELS_MAX; i++) {
        const int64_t ms = sentinel_silent_ms(rlock__reply_at(others, i));
        size_t heard = 0;
        for (size_t k = 0; k < count; k++)
            heard += sentinel_silent_ms(rlock__reply_at(others, k)) <= ms;
        if (heard >= wanted)
            least_ms = rlock__sooner_ms(least_ms, ms);
    }
    return least_ms;
}

/* --- asking them ------------------------------------------------------------------------------ */

struct inquiry {
    const struct rlock__site *site;
    struct rlock__access access;
    unsigned login; /* the one of the site's finder that is in access */
    struct rlock__link link;
    struct rlock__error error;
};

bool rlock__sentinel_login(struct rlock__access *access, const struct rlock__access *finder,
                           unsigned login) {
    if (login > 2 || (login > 0 && finder->password == NULL) ||
        (login == 2 && finder->user == NULL))
        return false;
    *access = *finder;
    access->user = login == 1 ? finder->user : NULL;
    access->password = login > 0 ? finder->password : NULL;
    return true;
}

/* After a query that was denied, or a login that was refused: whether there is another login. */
static bool log_in(struct inquiry *inquiry, const rlock__reply *reply) {
    if ((reply == NULL) != (inquiry->login > 0) ||
        !rlock__sentinel_login(&inquiry->access, &inquiry->site->finder, inquiry->login + 1))
        return false;
    inquiry->login++;
    rlock__link_close(&inquiry->link);
    return true;
}

/* One query to the Sentinel. */
static enum rlock_status ask(struct inquiry *inquiry, const char *what,
                             const struct rlock__limit *limit, rlock__reply **reply) {
    const char *words[] = {"SENTINEL", what, inquiry->site->server.master};
    enum rlock_status status;
    *reply = NULL;
    do {
        rlock__reply_free(*reply);
        status = rlock__link_query(&inquiry->link, 3, words, limit, reply);
    } while (status == RLOCK_DENIED && log_in(inquiry, *reply));
    return status;
}

static enum rlock_status read_master(struct inquiry *inquiry, const rlock__reply *reply,
                                     struct rlock__master *out) {
    const char *host = rlock__reply_text(reply, 0), *port = rlock__reply_text(reply, 1);
    const bool named = host != NULL && port != NULL;
    if (named && rlock__is_place(host, port)) {
        (void)stpcpy(out->host, host);
        (void)stpcpy(out->port, port);
        return RLOCK_OK;
    }
    rlock__error_set(&inquiry->error,
                     named ? "it gives no usable address for the master %s"
                           : "it knows no master %s",
                     inquiry->site->server.master);
    return RLOCK_UNAVAILABLE;
}

/* Queried before the master: if the master is replaced in between, these are the old one's
 * replicas, including the new master. If the user may not query them, all that follow the master
 * count. */
static enum rlock_status ask_replicas(struct inquiry *inquiry, const struct rlock__limit *limit,
                                      struct rlock__replicas *out) {
    rlock__reply *reply;
    enum rlock_status status = ask(inquiry, "REPLICAS", limit, &reply);
    out->unknown = true;
    if (reply != NULL)
        status = read_replicas(out, reply) ? RLOCK_OK : RLOCK_SYSTEM;
    rlock__reply_free(reply);
    return status;
}

/* What one Sentinel may take: those that hang must leave enough for the others, and for the way to
 * the master. */
static struct rlock__limit share(const struct rlock__limit *limit, size_t left) {
    const int64_t now = rlock_now_ms();
    const int64_t part_ms = rlock__share_ms(now, limit->deadline_ms, left + 1);
    if (left == 1)
        return *limit;
    return (struct rlock__limit){rlock__sooner_ms(part_ms, now + PATIENCE_MS), limit->cancel_fd};
}

/* Whether a replica is down each Sentinel judges for itself, and the one that leads a failover
 * promotes what it hears. */
static enum rlock_status ask_other(const struct inquiry *inquiry, const rlock__reply *row,
                                   const struct rlock__limit *limit,
                                   struct rlock__replicas *replicas) {
    struct inquiry other = {
        .site = inquiry->site, .access = inquiry->access, .login = inquiry->login};
    struct rlock__replicas theirs = {.count = 0};
    struct rlock__replica at;
    if (!read_row(&at, row) || at.gone)
        return RLOCK_OK;
    rlock__link_init(&other.link, at.host, at.port, &other.access, &other.error);
    const enum rlock_status status = ask_replicas(&other, limit, &theirs);
    rlock__replicas_agree(replicas, &theirs);
    rlock__replicas_free(&theirs);
    rlock__link_close(&other.link);
    return status == RLOCK_CANCELLED || status == RLOCK_SYSTEM ? status : RLOCK_OK;
}

static enum rlock_status ask_others(const struct inquiry *inquiry, const rlock__reply *others,
                                    const struct rlock__limit *limit,
                                    struct rlock__replicas *replicas) {
    const size_t count = rlock__reply_count(others);
    enum rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < count && status == RLOCK_OK && rlock__replicas_some_gone(replicas);
         i++) {
        const struct rlock__limit patience = share(limit, count - i);
        status = ask_other(inquiry, rlock__reply_at(others, i), &patience, replicas);
    }
    return status;
}

/* Replicas that are down are none, when the Sentinel hears a majority of the others, and these miss
 * them, too; one that is cut off may just not see them, and may see a master that is none any more.
 * Not by CKQUORUM: the others are down for it some time after the replicas are. */
static enum rlock_status settle_replicas(struct inquiry *inquiry, const struct rlock__limit *limit,
                                         struct rlock__master *out) {
    rlock__replicas_without(&out->replicas, out->host, out->port);
    if (!rlock__replicas_some_gone(&out->replicas))
        return RLOCK_OK;
    rlock__reply *reply = NULL;
    enum rlock_status status = ask(inquiry, "SENTINELS", limit, &reply);
    if (reply != NULL) {
        rlock__replicas_believe(&out->replicas, majority_silent_ms(reply));
        status = ask_others(inquiry, reply, limit, &out->replicas);
    }
    rlock__reply_free(reply);
    return status;
}

static enum rlock_status ask_one(struct inquiry *inquiry, const struct rlock__limit *limit,
                                 struct rlock__master *out) {
    rlock__reply *reply = NULL;
    *out = (struct rlock__master){.host = ""};
    enum rlock_status status = RLOCK_OK;
    if (inquiry->site->replicas == RLOCK_REPLICAS_AUTO)
        status = ask_replicas(inquiry, limit, &out->replicas);
    if (status == RLOCK_OK)
        status = ask(inquiry, "GET-MASTER-ADDR-BY-NAME", limit, &reply);
    if (status == RLOCK_OK)
        status = read_master(inquiry, reply, out);
    rlock__reply_free(reply);
    if (status == RLOCK_OK)
        status = settle_replicas(inquiry, limit, out);
    if (status != RLOCK_OK)
        rlock__replicas_free(&out->replicas);
    return status;
}

enum rlock_status rlock__sentinel_ask(const struct rlock__site *site,
                                      const struct rlock__limit *limit, size_t *first,
                                      struct rlock__master *out, struct rlock__error *error) {
    const struct rlock__server *server = &site->server;
    enum rlock_status worst = RLOCK_AGAIN;
    for (size_t i = 0; i < server->host_count; i++) {
        const size_t which = (*first + i) % server->host_count;
        struct inquiry inquiry = {.site = site};
        (void)rlock__sentinel_login(&inquiry.access, &site->finder, 0);
        const struct rlock__host *host = &server->hosts[which];
        rlock__link_init(&inquiry.link, host->name, host->port, &inquiry.access, &inquiry.error);
        const struct rlock__limit patience = share(limit, server->host_count - i);
        const enum rlock_status status = ask_one(&inquiry, &patience, out);
        rlock__link_close(&inquiry.link);
        if (status == RLOCK_OK) {
            *first = which;
            return RLOCK_OK;
        }
        const bool tells_more = worst == RLOCK_AGAIN && status != RLOCK_AGAIN;
        if (i == 0 || status == RLOCK_CANCELLED || tells_more) {
            worst = status;
            rlock__error_set(error, "Sentinel %s:%s: %s", host->name, host->port,
                             inquiry.error.text);
        }
        if (status == RLOCK_CANCELLED)
            break;
    }
    return worst;
}
