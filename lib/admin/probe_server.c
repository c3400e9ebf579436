/* probe_server.c: what a server says of itself: INFO, its configuration, its clock, its slow log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/admin.h"
#include "os/clock.h"

enum {
    ROUND_TRIPS = 5,
    SLOTS = 16384,
    LINES_MAX = 4096, /* of a text */
    RECENT_S = 3600,  /* of the slow log */
    SLOW_TIME = 1,    /* the fields of one of its entries */
    SLOW_TOOK_US,
    SLOW_WORDS,
};

struct rlock__limit rlock__probe_limit(const struct rlock__probe *probe) {
    return rlock__client_call_limit(probe->client, rlock_now_ms(), true,
                                    probe->options->deadline_ms, probe->options->cancel_fd);
}

/* The reply, which may be an error; NULL: none. */
static rlock__reply *call(struct rlock__probe *probe, size_t count, const char *const *words) {
    rlock__reply *reply;
    const struct rlock__limit limit = rlock__probe_limit(probe);
    probe->link->most = RLOCK__RESP_MAP; /* a slow log may be as long */
    probe->answer = rlock__link_query(probe->link, count, words, &limit, &reply);
    probe->status = reply != NULL ? RLOCK_OK : probe->answer;
    return reply;
}

rlock__reply *rlock__probe_ask(struct rlock__probe *probe, size_t count, const char *const *words) {
    rlock__reply *reply = probe->status == RLOCK_OK ? call(probe, count, words) : NULL;
    if (probe->answer == RLOCK_OK)
        return reply;
    rlock__reply_free(reply);
    return NULL;
}

static bool begins(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

/* A server that answers with an error does answer, but one that is not ready for us, or wants a
 * password, is of no use. One that can't write to its disk (MISCONF) says so to every PING. */
static void ask_first(struct rlock__probe *probe) {
    static const char *const words[] = {"PING"};
    rlock__reply *reply = call(probe, 1, words);
    const char *error = reply != NULL ? rlock__reply_error(reply) : NULL;
    if (error != NULL && !begins(error, "NOPERM ") && !begins(error, "MISCONF "))
        probe->status = probe->answer;
    rlock__reply_free(reply);
}

static int by_number(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The middle of some: one that a busy machine held up says nothing of the network. */
static void time_round_trips(struct rlock__probe *probe) {
    static const char *const words[] = {"PING"};
    int64_t took_us[ROUND_TRIPS];
    for (size_t i = 0; i < ROUND_TRIPS && probe->status == RLOCK_OK; i++) {
        const int64_t begun_us = rlock__now_us();
        rlock__reply_free(rlock__probe_ask(probe, 1, words));
        took_us[i] = rlock__now_us() - begun_us;
    }
    if (probe->status != RLOCK_OK)
        return;
    qsort(took_us, ROUND_TRIPS, sizeof *took_us, by_number);
    rlock__fact_add_number(probe, "probe.rtt_us", took_us[ROUND_TRIPS / 2]);
}

/* Why something is unknown, for people: "refused.INFO". A server may not have the command at all.
 */
static void note_refusal(struct rlock__probe *probe, const char *command) {
    char name[64] = "refused.";
    if (probe->status == RLOCK_OK)
        rlock__fact_add(probe, strncat(name, command, sizeof name - 9), "%s%s",
                        probe->answer == RLOCK_DENIED ? "no right to " : "the server refuses ",
                        command);
}

/* The lines NAME:VALUE of a text such as INFO's, which has some 200. */
static void add_lines(const struct rlock__probe *probe, const char *text) {
    char name[64];
    for (size_t lines = 0; *text != '\0' && lines < LINES_MAX; lines++) {
        const int length = (int)strcspn(text, "\r\n"), before = (int)strcspn(text, ":\r\n");
        (void)snprintf(name, sizeof name, "%.*s", before, text);
        if (before < length && *text != '#')
            rlock__fact_add(probe, name, "%.*s", length - before - 1, text + before + 1);
        text += length;
        text += strspn(text, "\r\n");
    }
}

static void ask_lines(struct rlock__probe *probe, size_t count, const char *const *words,
                      const char *command) {
    rlock__reply *reply = rlock__probe_ask(probe, count, words);
    const char *text = reply != NULL ? rlock__reply_string(reply) : NULL;
    if (text != NULL)
        add_lines(probe, text);
    else
        note_refusal(probe, command);
    rlock__reply_free(reply);
}

/* What INFO has said stands before it, and is what rlock_fact() finds. */
static void ask_config(struct rlock__probe *probe) {
    static const struct {
        const char *parameter, *fact;
    } rows[] = {{"save", "config.save"},
                {"stop-writes-on-bgsave-error", "config.stop-writes-on-bgsave-error"},
                {"appendfsync", "config.appendfsync"},
                {"min-replicas-to-write", "config.min-replicas-to-write"},
                {"timeout", "config.timeout"},
                {"bind", "config.bind"},
                {"protected-mode", "config.protected-mode"},
                {"maxclients", "maxclients"},
                {"maxmemory-policy", "maxmemory_policy"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *words[] = {"CONFIG", "GET", rows[i].parameter};
        rlock__reply *reply = rlock__probe_ask(probe, 3, words);
        const char *value = reply != NULL ? rlock__reply_text(reply, 1) : NULL;
        if (value != NULL)
            rlock__fact_add(probe, rows[i].fact, "%s", value);
        if (reply == NULL)
            note_refusal(probe, "CONFIG GET");
        rlock__reply_free(reply);
    }
}

/* How much the server's clock is ahead of ours, in the middle of the question. */
static void ask_time(struct rlock__probe *probe, int64_t *now_s) {
    static const char *const words[] = {"TIME"};
    const int64_t before_ms = rlock__epoch_ms();
    rlock__reply *reply = rlock__probe_ask(probe, 1, words);
    const int64_t after_ms = rlock__epoch_ms();
    const char *seconds = reply != NULL ? rlock__reply_text(reply, 0) : NULL;
    const char *micros = reply != NULL ? rlock__reply_text(reply, 1) : NULL;
    int64_t micro = 0;
    *now_s = before_ms / 1000;
    if (reply == NULL)
        note_refusal(probe, "TIME");
    if (seconds != NULL && micros != NULL && rlock__resp_whole(seconds, now_s) &&
        rlock__resp_whole(micros, &micro)) {
        *now_s = rlock__resp_bounded(*now_s);
        const int64_t server_ms = *now_s * 1000 + rlock__resp_bounded(micro) / 1000;
        const int64_t ahead_ms = server_ms - (before_ms + after_ms) / 2;
        rlock__fact_add_number(probe, "probe.clock_off_ms", ahead_ms < 0 ? -ahead_ms : ahead_ms);
        rlock__fact_add(probe, "probe.clock_side", ahead_ms < 0 ? "behind" : "ahead of");
    }
    rlock__reply_free(reply);
}

/* The slowest command of the last hour: while one runs, all locks stand still. */
static void ask_slow_log(struct rlock__probe *probe, int64_t now_s) {
    static const char *const words[] = {"SLOWLOG", "GET", "128"};
    rlock__reply *reply = rlock__probe_ask(probe, 3, words);
    const char *command = "";
    int64_t slowest_us = 0, at_s, took_us;
    if (reply == NULL) {
        note_refusal(probe, "SLOWLOG GET");
        return;
    }
    for (size_t i = 0; i < rlock__reply_count(reply); i++) {
        const rlock__reply *entry = rlock__reply_at(reply, i);
        const rlock__reply *said = rlock__reply_at(entry, SLOW_WORDS);
        if (said == NULL || !rlock__reply_integer(entry, SLOW_TIME, &at_s) ||
            !rlock__reply_integer(entry, SLOW_TOOK_US, &took_us) || at_s < now_s - RECENT_S ||
            took_us <= slowest_us || rlock__reply_text(said, 0) == NULL)
            continue;
        slowest_us = took_us;
        command = rlock__reply_text(said, 0);
    }
    rlock__fact_add_number(probe, "slowlog.slowest_ms", slowest_us / 1000);
    rlock__fact_add(probe, "slowlog.command", "%s", command);
    rlock__reply_free(reply);
}

/* Whether it can tell what its replicas have. Nothing is waited for. */
static void ask_wait(struct rlock__probe *probe) {
    static const char *const words[] = {"WAIT", "0", "1"};
    rlock__reply_free(rlock__probe_ask(probe, 3, words));
    if (probe->status != RLOCK_OK)
        return;
    rlock__fact_add(probe, "probe.wait", "%s", probe->answer == RLOCK_UNAVAILABLE ? "no" : "yes");
    if (probe->answer == RLOCK_DENIED)
        rlock__fact_add(probe, "probe.wait_denied", "%s", probe->link->error->text);
}

/* Whether it obeys clients without a password. */
static void ask_as_stranger(struct rlock__probe *probe) {
    static const char *const words[] = {"PING"};
    struct rlock__access access = *probe->link->access;
    struct rlock__error error;
    struct rlock__link link;
    struct rlock__probe stranger = *probe;
    if (probe->status != RLOCK_OK || *probe->link->port == '\0')
        return;
    access.user = access.password = NULL;
    rlock__link_like(&link, probe->link, &access, &error);
    stranger.link = &link;
    rlock__reply *reply = rlock__probe_ask(&stranger, 1, words);
    rlock__fact_add(probe, "probe.open", reply != NULL ? "yes" : "no");
    rlock__fact_add(probe, "probe.host", "%s", probe->link->host);
    rlock__reply_free(reply);
    rlock__link_close(&link);
}

/* "6.0.16" as 60016. */
static void note_version(const struct rlock__probe *probe) {
    const char *rest = rlock_fact(probe->facts, probe->server, "redis_version");
    int64_t number = 0;
    for (int i = 0; rest != NULL && i < 3; i++) {
        const unsigned long part = strtoul(rest, (char **)&rest, 10);
        number = number * 100 + (int64_t)(part > 99 ? 99 : part);
        rest += *rest == '.';
    }
    if (rest != NULL)
        rlock__fact_add_number(probe, "probe.version", number);
}

/* What follows from several facts, so that each check can look at one. */
static void conclude(const struct rlock__probe *probe) {
    const rlock_facts *facts = probe->facts;
    int64_t part = -1, whole = -1;
    const struct {
        const char *part, *whole, *name;
    } percents[] = {{"used_memory", "maxmemory", "probe.memory_percent"},
                    {"connected_clients", "maxclients", "probe.clients_percent"}};
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        if (rlock_fact_number(facts, probe->server, percents[i].part, &part) &&
            rlock_fact_number(facts, probe->server, percents[i].whole, &whole) && whole > 0)
            rlock__fact_add_number(probe, percents[i].name,
                                   (int64_t)((double)part * 100 / (double)whole));
    }
    if (rlock_fact_number(facts, probe->server, "cluster_slots_assigned", &part))
        rlock__fact_add_number(probe, "probe.slots_missing", SLOTS - rlock__resp_bounded(part));
    note_version(probe);
}

void rlock__probe_server(struct rlock__probe *probe) {
    static const char *const info[] = {"INFO"}, *const cluster[] = {"CLUSTER", "INFO"};
    int64_t now_s;
    ask_first(probe);
    time_round_trips(probe);
    ask_lines(probe, 1, info, "INFO");
    ask_config(probe);
    ask_time(probe, &now_s);
    ask_slow_log(probe, now_s);
    ask_wait(probe);
    if (probe->client->sites[0].server.topology == RLOCK__CLUSTER)
        ask_lines(probe, 2, cluster, "CLUSTER INFO");
    ask_as_stranger(probe);
    conclude(probe);
}
