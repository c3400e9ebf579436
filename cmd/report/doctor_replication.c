/* doctor_replication.c: checks of replicas, Sentinels and clusters: what happens when a server
 * fails. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doctor.h"

enum {
    LAG_MAX_S = 3,
    DOWN_AFTER_MAX_MS = 10000, /* with the default lease, what is left of it is enough then */
    REPLICAS_MAX = 100,
};

static bool is_kind(const struct target *target, const char *scheme) {
    return strncmp(target->url, scheme, strlen(scheme)) == 0;
}

/* Those that are online and near: "ip=10.0.0.2,port=6379,state=online,offset=42,lag=0". */
static int64_t good_replicas(const struct target *target) {
    int64_t good = 0;
    for (int i = 0; i < REPLICAS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "slave%d", i);
        const char *replica = rlock_fact(target->facts, target->server, name);
        const char *lag = replica != NULL ? strstr(replica, "lag=") : NULL;
        if (replica == NULL)
            break;
        good += strstr(replica, "state=online") != NULL && lag != NULL &&
                strtol(lag + strlen("lag="), NULL, 10) <= LAG_MAX_S;
    }
    return good;
}

static bool has_wait(const struct target *target) {
    return strcmp(doctor_text(target, "probe.wait"), "no") != 0;
}

/* A cluster without WAIT, and nobody has said how many must acknowledge. */
static bool goes_without(const struct target *target) {
    return target->settings->replicas == RLOCK_REPLICAS_AUTO && is_kind(target, "cluster") &&
           !has_wait(target);
}

/* How many must acknowledge, as the library takes it. */
static int64_t wanted(const struct target *target, bool managed, int64_t known) {
    if (target->settings->replicas != RLOCK_REPLICAS_AUTO)
        return target->settings->replicas;
    return is_kind(target, "sentinel") ? known : managed && known > 0 && has_wait(target);
}

static bool judge_master(const struct target *target, int64_t known, struct verdict *out) {
    const bool managed = is_kind(target, "sentinel") || is_kind(target, "cluster");
    const int64_t good = good_replicas(target), want = wanted(target, managed, known);
    const int64_t least = doctor_number(target, "config.min-replicas-to-write");
    if (least > good)
        return doctor_say(out, DOCTOR_FINDING,
                          "see what is wrong with the replicas, or lower min-replicas-to-write",
                          "min-replicas-to-write is %" PRId64 " and %" PRId64 " of %" PRId64
                          " replicas are there: it refuses to write, no lock is taken",
                          least, good, known);
    if (want > good)
        return doctor_say(out, DOCTOR_FINDING, "see what is wrong with the replicas, or give fewer",
                          "--replicas %" PRId64 " and %" PRId64 " of %" PRId64
                          " replicas are there: no lock is taken",
                          want, good, known);
    if (good < known)
        return doctor_say(out, DOCTOR_FINDING, "see what holds it up: INFO replication",
                          "%" PRId64 " of %" PRId64 " replicas are behind or not online",
                          known - good, known);
    if (managed && known == 0)
        return doctor_say(out, DOCTOR_FINDING, "add a replica",
                          "no replica: when this master fails nothing takes over");
    if (goes_without(target)) /* doctor_wait() tells */
        return doctor_say(out, DOCTOR_OK, NULL, "%" PRId64, known);
    if (managed && want == 0)
        return doctor_say(out, DOCTOR_FINDING, "leave --replicas at 1 or more",
                          "--replicas 0: a replica that takes over may not know of a lock, and two "
                          "have it");
    if (known > 0 && want == 0)
        return doctor_say(out, DOCTOR_NOTE, "give --replicas, should one ever take over",
                          "%" PRId64 ", and none has to acknowledge a lock", known);
    return doctor_say(out, DOCTOR_OK, NULL,
                      known == 0 ? "none" : "%" PRId64 ", %" PRId64 " must acknowledge a lock",
                      known, want);
}

bool doctor_replicas(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const int64_t known = doctor_number(target, "connected_slaves");
    const char *role = doctor_text(target, "role");
    if (*role == '\0')
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: no right to INFO");
    if (strcmp(role, "master") != 0)
        return doctor_say(out, DOCTOR_FINDING,
                          "give the master's URL, or sentinel://, which finds it",
                          "it is a replica itself, and takes no locks");
    return judge_master(target, known, out);
}

/* Only of who wants a replica to acknowledge a lock, be it without having said so. */
bool doctor_wait(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const char *denied = doctor_text(target, "probe.wait_denied");
    const bool managed = is_kind(target, "sentinel") || is_kind(target, "cluster");
    if (target->settings->replicas == 0 ||
        (target->settings->replicas == RLOCK_REPLICAS_AUTO && !managed))
        return false;
    if (*denied != '\0')
        return doctor_say(out, DOCTOR_FINDING, "ACL SETUSER with +wait",
                          "no right to WAIT, which tells what a replica has: no lock is taken: %s",
                          denied);
    if (has_wait(target))
        return false;
    if (goes_without(target))
        return doctor_say(out, DOCTOR_FINDING,
                          "connect to the nodes themselves if this is a proxy, or use a server "
                          "that has it; with --replicas 0 rlock does not warn of it each time",
                          "the server has no WAIT, so no replica acknowledges a lock: one that "
                          "takes over may not know of it, and two have it");
    return doctor_say(out, DOCTOR_FINDING,
                      "connect to the server itself if this is a proxy, use one that has it, or "
                      "give --replicas 0",
                      "the server has no WAIT, which tells what a replica has: no lock is taken");
}

bool doctor_sentinel(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const int64_t given = doctor_number(target, "sentinel.given");
    const int64_t answered = doctor_number(target, "sentinel.answered");
    const int64_t others = doctor_number(target, "sentinel.num-other-sentinels");
    const int64_t down_after_ms = doctor_number(target, "sentinel.down-after-milliseconds");
    const char *quorum = doctor_text(target, "sentinel.ckquorum");
    if (given < 0)
        return false;
    if (strcmp(quorum, "OK") != 0)
        return doctor_say(out, DOCTOR_FINDING, "start the Sentinels that are missing",
                          "no failover is possible now: %s",
                          *quorum != '\0' ? quorum : "no Sentinel answers");
    if (answered < given)
        return doctor_say(out, DOCTOR_FINDING, "start it, or take it out of the URL",
                          "%" PRId64 " of %" PRId64 " Sentinels do not answer, such as %s",
                          given - answered, given, doctor_text(target, "sentinel.silent"));
    if (others >= 0 && others < 2)
        return doctor_say(out, DOCTOR_FINDING, "run three, each on a machine of its own",
                          "fewer than three Sentinels, %" PRId64
                          ": when one fails there is no majority for a failover",
                          others + 1);
    if (down_after_ms > DOWN_AFTER_MAX_MS)
        return doctor_say(out, DOCTOR_FINDING,
                          "SENTINEL SET NAME down-after-milliseconds 5000, or use longer leases",
                          "down-after-milliseconds is %" PRId64
                          ": a failover takes longer than a lease of 30s can bridge, and commands "
                          "are stopped",
                          down_after_ms);
    if (given < 2)
        return doctor_say(out, DOCTOR_NOTE, "name all of them in the URL",
                          "%" PRId64
                          " Sentinels, one of them in the URL: who finds the master when "
                          "that one is down?",
                          others + 1);
    return doctor_say(out, DOCTOR_OK, NULL,
                      "%" PRId64 " of %" PRId64 " answer, a failover is possible", answered, given);
}

bool doctor_cluster(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const char *state = doctor_text(target, "cluster_state");
    const int64_t assigned = doctor_number(target, "cluster_slots_assigned");
    const int64_t failing = doctor_number(target, "cluster_slots_fail");
    const int64_t masters = doctor_number(target, "cluster_size");
    enum { SLOTS = 16384 };
    if (!is_kind(target, "cluster"))
        return false;
    if (*state == '\0')
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: no right to CLUSTER INFO");
    if (assigned < SLOTS)
        return doctor_say(out, DOCTOR_FINDING, "assign all: redis-cli --cluster fix",
                          "%" PRId64
                          " of %d slots are served by nobody: names in them have no locks",
                          SLOTS - assigned, SLOTS);
    if (strcmp(state, "ok") != 0 || failing > 0)
        return doctor_say(out, DOCTOR_FINDING, "see redis-cli --cluster check",
                          "the cluster's state is %s, %" PRId64 " slots are down", state, failing);
    if (masters < 3)
        return doctor_say(out, DOCTOR_FINDING, "use three masters or more",
                          "fewer than three masters, %" PRId64
                          ": when one fails there is no majority for a failover",
                          masters);
    return doctor_say(out, DOCTOR_OK, NULL, "%" PRId64 " masters, all slots are served", masters);
}
