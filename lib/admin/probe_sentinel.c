/* probe_sentinel.c: what each of the Sentinels says that the URL names. */
#include <string.h>

#include "admin/admin.h"

static void note_master(struct rlock__probe *probe, const rlock__reply *row) {
    for (size_t i = 0; i + 1 < rlock__reply_count(row); i += 2) {
        const char *name = rlock__reply_text(row, i), *value = rlock__reply_text(row, i + 1);
        int64_t others;
        if (name == NULL || value == NULL)
            continue;
        if (strcmp(name, "down-after-milliseconds") == 0)
            rlock__fact_add(probe, "sentinel.down_after_ms", "%s", value);
        if (strcmp(name, "num-other-sentinels") == 0 && rlock__resp_whole(value, &others))
            rlock__fact_add_number(probe, "sentinel.known", 1 + rlock__resp_bounded(others));
    }
}

/* The first one that answers is asked for all; of the others it counts that they do. */
static void ask_one(struct rlock__probe *sentinel, const char *master, bool first) {
    const char *about[] = {"SENTINEL", "MASTER", master};
    const char *quorum[] = {"SENTINEL", "CKQUORUM", master};
    const char *others[] = {"SENTINEL", "SENTINELS", master};
    rlock__reply *reply = rlock__probe_ask(sentinel, 3, about);
    if (reply != NULL && first)
        note_master(sentinel, reply);
    rlock__reply_free(reply);
    if (sentinel->status != RLOCK_OK || !first)
        return;
    reply = rlock__probe_ask(sentinel, 3, quorum);
    rlock__fact_add(sentinel, "sentinel.ckquorum", "%s",
                    reply != NULL ? "OK" : sentinel->link->error->text);
    rlock__reply_free(reply);
    reply = rlock__probe_ask(sentinel, 3, others);
    rlock__fact_add(sentinel, "sentinel.others", "%s",
                    reply != NULL ? "OK" : sentinel->link->error->text);
    rlock__reply_free(reply);
}

static bool answers(struct rlock__probe *probe, const struct rlock__host *host, bool first) {
    const struct rlock__site *site = &probe->client->sites[0];
    struct rlock__access access;
    struct rlock__error error;
    struct rlock__link link;
    struct rlock__probe sentinel = *probe;
    bool answered = false;
    const char *where[] = {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", site->server.master};
    for (unsigned login = 0; !answered && rlock__sentinel_login(&access, &site->finder, login);
         login++) {
        rlock__link_init(&link, host->name, host->port, &access, &error);
        sentinel.link = &link;
        sentinel.status = RLOCK_OK;
        rlock__reply *reply = rlock__probe_ask(&sentinel, 3, where);
        answered = reply != NULL;
        rlock__reply_free(reply);
        if (answered)
            ask_one(&sentinel, site->server.master, first);
        rlock__link_close(&link);
    }
    return answered;
}

void rlock__probe_sentinels(struct rlock__probe *probe) {
    const struct rlock__server *server = &probe->client->sites[0].server;
    size_t answered = 0;
    for (size_t i = 0; i < server->host_count; i++) {
        const struct rlock__host *host = &server->hosts[i];
        if (answers(probe, host, answered == 0))
            answered++;
        else
            rlock__fact_add(probe, "sentinel.silent", "%s:%s", host->name, host->port);
    }
    rlock__fact_add_number(probe, "sentinel.given", (int64_t)server->host_count);
    rlock__fact_add_number(probe, "sentinel.answered", (int64_t)answered);
    rlock__fact_add_number(probe, "sentinel.missing", (int64_t)(server->host_count - answered));
}
