/* doctor_replicas.c: the checks of `rlock doctor` on what a replica has when it takes over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doctor.h"

enum { LAG_MAX_S = 3, REPLICAS_MAX = 100 };

/* Those that are online and do not lag: "ip=10.0.0.2,port=6379,state=online,offset=42,lag=0". */
static int64_t good_replicas(const struct target *target) {
    int64_t good = 0;
    for (int i = 0; i < REPLICAS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "slave%d", i);
        const char *replica = doctor_fact(target, name);
        const char *lag = replica != NULL ? strstr(replica, "lag=") : NULL;
        if (replica == NULL)
            break;
        good += strstr(replica, "state=online") != NULL && lag != NULL &&
                strtol(lag + strlen("lag="), NULL, 10) <= LAG_MAX_S;
    }
    return good;
}

static bool is_managed(const struct target *target) {
    return doctor_is(target, "sentinel") || doctor_is(target, "cluster");
}

static bool has_wait(const struct target *target) {
    return strcmp(doctor_text(target, "probe.wait"), "no") != 0;
}

bool doctor_goes_without(const struct target *target) {
    return target->settings->server.replicas == RLOCK_REPLICAS_AUTO &&
           doctor_is(target, "cluster") && !has_wait(target);
}

/* How many must acknowledge, as the library takes it. */
static int64_t wanted(const struct target *target, int64_t known) {
    if (target->settings->server.replicas != RLOCK_REPLICAS_AUTO)
        return target->settings->server.replicas;
    return doctor_is(target, "sentinel") ? known
                                         : is_managed(target) && known > 0 && has_wait(target);
}

static bool judge_master(const struct target *target, int64_t known, struct verdict *out) {
    const bool managed = is_managed(target);
    const int64_t good = good_replicas(target), want = wanted(target, known);
    const int64_t least = doctor_number(target, "config.min-replicas-to-write");
    if (least > good)
        return doctor_say(out, DOCTOR_FINDING,
                          "see what is wrong with the replicas, or lower min-replicas-to-write",
                          "min-replicas-to-write is %" PRId64 " and %" PRId64 " of %" PRId64
                          " replicas are there: the server refuses to write, and grants no locks",
                          least, good, known);
    if (want > good)
        return doctor_say(out, DOCTOR_FINDING, "see what is wrong with the replicas, or give fewer",
                          "--replicas %" PRId64 " and %" PRId64 " of %" PRId64
                          " replicas are there: no lock can be taken",
                          want, good, known);
    if (good < known)
        return doctor_say(out, DOCTOR_FINDING, "see what holds them up: INFO replication",
                          "%" PRId64 " of %" PRId64 " replicas are behind or not online",
                          known - good, known);
    if (managed && known == 0)
        return doctor_say(out, DOCTOR_FINDING, "add a replica",
                          "no replica: when this master fails, nothing takes over");
    if (doctor_goes_without(target)) /* the check "wait" tells */
        return doctor_say(out, DOCTOR_OK, NULL, "%" PRId64, known);
    if (managed && want == 0)
        return doctor_say(out, DOCTOR_FINDING, "leave --replicas at 1 or more",
                          "--replicas 0: a replica that takes over may not know of a lock, and "
                          "grant it again");
    if (known > 0 && want == 0)
        return doctor_say(out, DOCTOR_NOTE, "give --replicas if one may ever take over",
                          "%" PRId64 ", and none has to acknowledge a lock", known);
    return doctor_say(out, DOCTOR_OK, NULL,
                      known == 0 ? "none" : "%" PRId64 ", %" PRId64 " must acknowledge a lock",
                      known, want);
}

bool doctor_replicas(const struct target *target, struct verdict *out) {
    const int64_t known = doctor_number(target, "connected_slaves");
    if (strcmp(doctor_text(target, "role"), "master") != 0)
        return doctor_say(out, DOCTOR_FINDING,
                          "give the master's URL, or sentinel://, which finds it",
                          "it is a replica itself, and grants no locks");
    return judge_master(target, known, out);
}

bool doctor_needs_wait(const struct target *target) {
    const int replicas = target->settings->server.replicas;
    return replicas == RLOCK_REPLICAS_AUTO ? is_managed(target) : replicas > 0;
}
