/* doctor_server.c: checks of what a server is, and of how it is set up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doctor.h"

enum { NEARLY_FULL = 90 /* % */, CROWDED = 80 /* % */, SLOW_US = 100000 };

static const char no_config[] = "no right to CONFIG GET";

bool doctor_version(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const char *valkey = doctor_text(target, "valkey_version");
    const char *version = doctor_text(target, "redis_version");
    if (*version == '\0')
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: no right to INFO");
    if (*valkey != '\0')
        return doctor_say(out, DOCTOR_OK, NULL, "Valkey %s", valkey);
    char *rest;
    const long major = strtol(version, &rest, 10);
    const long minor = *rest == '.' ? strtol(rest + 1, &rest, 10) : 0;
    const long patch = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;
    if (major < 6)
        return doctor_say(out, DOCTOR_FINDING, "use 6.0 or newer: no lock is taken on this one",
                          "Redis %s is too old", version);
    if (major == 6 && minor == 0 && patch < 6)
        return doctor_say(out, DOCTOR_FINDING,
                          "use 6.0.6 or newer: before, nobody can wait for a fair lock (LPOS)",
                          "Redis %s is too old", version);
    if (major < 7)
        return doctor_say(out, DOCTOR_NOTE,
                          "use 7.0 or newer: before, a right that is missing may show only after a "
                          "lock was taken, and a cluster has no sharded channels",
                          "Redis %s", version);
    return doctor_say(out, DOCTOR_OK, NULL, "Redis %s", version);
}

/* What was set by CONFIG SET alone will not last. */
bool doctor_config(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const char *file = rlock_fact(target->facts, target->server, "config_file");
    if (file == NULL || strncmp(target->url, "local:", 6) == 0)
        return false;
    if (*file != '\0')
        return doctor_say(out, DOCTOR_OK, NULL, "%s", file);
    return doctor_say(out, DOCTOR_NOTE,
                      "start it with a redis.conf, or with all settings on its command line",
                      "no configuration file: what CONFIG SET has set is lost when it restarts");
}

bool doctor_eviction(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const char *policy = doctor_text(target, "config.maxmemory-policy");
    const int64_t limit = doctor_number(target, "maxmemory");
    char advice[DOCTOR_ADVICE_SIZE];
    if (*policy == '\0')
        policy = doctor_text(target, "maxmemory_policy");
    if (*policy == '\0')
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: no right to INFO");
    if (strcmp(policy, "noeviction") == 0)
        return doctor_say(out, DOCTOR_OK, NULL, "noeviction");
    if (limit == 0)
        return doctor_say(out, DOCTOR_NOTE,
                          doctor_set(advice, target, "maxmemory-policy noeviction",
                                     "; do it before someone sets a limit"),
                          "%s, but there is no maxmemory", policy);
    return doctor_say(out, DOCTOR_FINDING,
                      doctor_set(advice, target, "maxmemory-policy noeviction",
                                 "; or give locks a server of their own"),
                      "%s: when memory is short the server throws locks away that are held",
                      policy);
}

bool doctor_memory(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const int64_t used = doctor_number(target, "used_memory");
    const int64_t limit = doctor_number(target, "maxmemory");
    if (used < 0 || limit <= 0)
        return false;
    const int percent = (int)(used / (limit / 100 + 1));
    if (percent < NEARLY_FULL)
        return doctor_say(out, DOCTOR_OK, NULL, "%d%% of maxmemory used", percent);
    return doctor_say(out, DOCTOR_FINDING, "raise maxmemory, or find out what fills it",
                      "%d%% of maxmemory used: a full server takes no locks", percent);
}

/* The server then refuses to write, unless it is configured not to. */
static bool snapshots_fail(const struct target *target) {
    return strcmp(doctor_text(target, "rdb_last_bgsave_status"), "err") == 0 &&
           *doctor_text(target, "config.save") != '\0' &&
           strcmp(doctor_text(target, "config.stop-writes-on-bgsave-error"), "no") != 0;
}

/* No snapshots: `save ""`. Whether there are any INFO does not say. */
bool doctor_persistence(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const int64_t aof = doctor_number(target, "aof_enabled");
    const char *save = rlock_fact(target->facts, target->server, "config.save");
    const char *sync = doctor_text(target, "config.appendfsync");
    static const char or_wait[] = "; or let it stay down for longer than the longest lease before "
                                  "it is started again";
    char advice[DOCTOR_ADVICE_SIZE];
    if (strcmp(doctor_text(target, "aof_last_write_status"), "err") == 0 && aof == 1)
        return doctor_say(out, DOCTOR_FINDING, "see the server's log: is the disk full?",
                          "the append-only file can't be written: no lock is taken");
    if (snapshots_fail(target))
        return doctor_say(out, DOCTOR_FINDING,
                          "see the server's log: is the disk full, or memory short?",
                          "the last snapshot could not be written: no lock is taken");
    if (aof == 1 && strcmp(sync, "no") == 0)
        return doctor_say(
            out, DOCTOR_FINDING, doctor_set(advice, target, "appendfsync everysec", ""),
            "appendfsync no: a crash of the machine loses the locks of half a minute");
    if (aof == 1 && strcmp(sync, "always") != 0 && target->settings->server_count > 1)
        return doctor_say(
            out, DOCTOR_NOTE, doctor_set(advice, target, "appendfsync always", or_wait),
            "append-only file, appendfsync %s: a crash may lose a second of locks", sync);
    if (aof == 1)
        return doctor_say(out, DOCTOR_OK, NULL, "append-only file%s%s",
                          *sync != '\0' ? ", appendfsync " : "", sync);
    if (aof < 0)
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: no right to INFO");
    if (save == NULL)
        return doctor_say(out, DOCTOR_UNKNOWN, doctor_set(advice, target, "appendonly yes", ""),
                          "no append-only file; cannot tell whether there are snapshots: %s",
                          no_config);
    return doctor_say(out, DOCTOR_FINDING, doctor_set(advice, target, "appendonly yes", or_wait),
                      *save == '\0'
                          ? "no append-only file and no snapshots: all locks and tokens are "
                            "lost when it restarts"
                          : "snapshots only: the locks since the last one are lost when it "
                            "crashes");
}

bool doctor_clients(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const int64_t clients = doctor_number(target, "connected_clients");
    int64_t most = doctor_number(target, "maxclients");
    char advice[DOCTOR_ADVICE_SIZE], more[48];
    if (most < 0)
        most = doctor_number(target, "config.maxclients");
    if (clients < 0 || most <= 0)
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: no right to INFO");
    if (clients * 100 < most * CROWDED)
        return doctor_say(out, DOCTOR_OK, NULL, "%" PRId64 " of %" PRId64, clients, most);
    snprintf(more, sizeof more, "maxclients %" PRId64, 2 * most);
    return doctor_say(out, DOCTOR_FINDING,
                      doctor_set(advice, target, more, "; or find out who keeps so many open"),
                      "%" PRId64 " of %" PRId64
                      ": a holder that must connect again may be turned away, and loses its lock",
                      clients, most);
}

/* A subscriber is not idle to Redis; a holder between two renewals is. */
bool doctor_timeout(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const int64_t timeout_s = doctor_number(target, "config.timeout");
    const int64_t third_ms = target->settings->lease_ms / 3;
    char advice[DOCTOR_ADVICE_SIZE];
    if (timeout_s < 0)
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: %s", no_config);
    if (timeout_s == 0 || timeout_s * 1000 > third_ms)
        return doctor_say(out, DOCTOR_OK, NULL, timeout_s == 0 ? "none" : "%" PRId64 " s",
                          timeout_s);
    return doctor_say(out, DOCTOR_FINDING, doctor_set(advice, target, "timeout 0", ""),
                      "idle connections are closed after %" PRId64 " s, before a lock is renewed "
                      "(each %" PRId64 " ms): each renewal has to connect again",
                      timeout_s, third_ms);
}

bool doctor_slow(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const int64_t slowest_us = doctor_number(target, "slowlog.slowest_us");
    if (slowest_us < 0)
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: no right to SLOWLOG GET");
    if (slowest_us < SLOW_US)
        return doctor_say(out, DOCTOR_OK, NULL, "no slow command in the last hour");
    return doctor_say(out, DOCTOR_FINDING,
                      "see SLOWLOG GET, or give locks a server of their own: meanwhile no lock is "
                      "taken, renewed or given back",
                      "%s took %" PRId64 " ms within the last hour",
                      doctor_text(target, "slowlog.command"), slowest_us / 1000);
}

static bool begins(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

bool doctor_tls(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const char *url = target->url;
    const bool tls =
        begins(url, "rediss:") || begins(url, "sentinels:") || begins(url, "clusters:");
    if (tls && target->settings->tls.insecure)
        return doctor_say(out, DOCTOR_FINDING, "give --tls-ca instead of --tls-insecure",
                          "any certificate is taken: who stands in between reads and writes along");
    if (tls)
        return doctor_say(out, DOCTOR_OK, NULL, "encrypted, and its certificate verified");
    if (begins(url, "unix:") || begins(url, "local:"))
        return doctor_say(out, DOCTOR_OK, NULL, "not needed on a socket of this machine");
    return doctor_say(out, DOCTOR_NOTE, "use rediss:// where others can listen to the network",
                      "not encrypted, and passwords neither");
}
