/* doctor_client.c: checks of what it is like to use a server: rights, clocks, and how long it
 * takes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/proc.h"
#include "report/doctor.h"

enum { AHEAD_MAX_MS = 1000, ROUND_TRIP_MAX_US = 100000, CYCLE_MAX_US = 500000 };

bool doctor_scripts(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const char *refused = doctor_text(target, "rights.refused");
    if (*refused != '\0')
        return doctor_say(out, DOCTOR_FINDING,
                          "allow +eval +evalsha +time; see rlock-server(7), ACCESS CONTROL", "%s",
                          refused);
    const char *unknown = doctor_text(target, "rights.unknown");
    if (*unknown != '\0' && *doctor_text(target, "probe.cycle_error") != '\0')
        return doctor_say(out, DOCTOR_FINDING, "see rlock-server(7), SERVERS", "%s", unknown);
    return doctor_say(out, DOCTOR_OK, NULL, "they run");
}

static bool judge_rights(const struct target *target, const char *about, enum doctor_level lack,
                         const char *advice, struct verdict *out) {
    char fact[64];
    snprintf(fact, sizeof fact, "rights.%s", about);
    const char *missing = rlock_fact(target->facts, target->server, fact);
    if (missing == NULL && *doctor_text(target, "rights.refused") != '\0')
        return false; /* said already */
    const char *why = doctor_text(target, "rights.unknown");
    if (missing == NULL)
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: %s",
                          *why != '\0' ? why : "only Redis 7.0 or newer can");
    if (*missing == '\0')
        return doctor_say(out, DOCTOR_OK, NULL, "all that it needs");
    return doctor_say(out, lack, advice, "missing: %s", missing);
}

/* To take locks of a kind, to renew them and to give them back. */
bool doctor_rights(const struct target *target, const char *about, struct verdict *out) {
    if (target->settings->kind != NULL && strstr(about, target->settings->kind) == NULL)
        return false;
    return judge_rights(
        target, about, DOCTOR_FINDING,
        target->settings->name_count > 0
            ? "ACL SETUSER with these, if this user takes such locks; see rlock-server(7), ACCESS "
              "CONTROL"
            : "ACL SETUSER with these, if this user takes such locks; where it has rights to some "
              "names only give the beginning of one",
        out);
}

/* What who takes locks can do without, and often should. */
bool doctor_rights_beyond(const struct target *target, const char *about, struct verdict *out) {
    if (target->settings->kind != NULL)
        return false;
    return judge_rights(
        target, about, DOCTOR_NOTE,
        "ACL SETUSER with these, if this user is to do that; see rlock-server(7), ACCESS CONTROL",
        out);
}

bool doctor_clock(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const char *text = doctor_text(target, "probe.clock_ms");
    const int64_t ahead_ms = strtoll(text, NULL, 10);
    if (*text == '\0')
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: no right to TIME");
    const int64_t off_ms = ahead_ms < 0 ? -ahead_ms : ahead_ms;
    return doctor_say(out, off_ms > AHEAD_MAX_MS ? DOCTOR_NOTE : DOCTOR_OK,
                      off_ms > AHEAD_MAX_MS ? "no harm to locks, but times in messages are the "
                                              "server's: set the clocks by NTP"
                                            : NULL,
                      "the server's is %" PRId64 " ms %s this machine's", off_ms,
                      ahead_ms < 0 ? "behind" : "ahead of");
}

bool doctor_round_trip(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const int64_t us = doctor_number(target, "probe.rtt_us");
    const bool slow = us > ROUND_TRIP_MAX_US;
    return doctor_say(out, slow ? DOCTOR_FINDING : DOCTOR_OK,
                      slow ? "use a server that is nearer, or leases of a minute and more" : NULL,
                      "%" PRId64 ".%03d ms", us / 1000, (int)(us % 1000));
}

bool doctor_cycle(const struct target *target, const char *about, struct verdict *out) {
    (void)about;
    const char *error = doctor_text(target, "probe.cycle_error");
    const int64_t us = doctor_number(target, "probe.cycle_us");
    if (*error != '\0')
        return doctor_say(out, DOCTOR_FINDING, "see the findings above, or the server's log",
                          "cannot take and give back a lock: %s", error);
    if (us < 0)
        return false; /* of another master of a cluster */
    const bool slow = us > CYCLE_MAX_US;
    return doctor_say(out, slow ? DOCTOR_FINDING : DOCTOR_OK,
                      slow ? "see the round trip, the disk (appendfsync) and the replicas" : NULL,
                      "%" PRId64 ".%03d ms to take a lock and to give it back", us / 1000,
                      (int)(us % 1000));
}

/* Whether a command can be run here: it is, only where all that it starts can be ended. */
bool doctor_processes(const struct target *target, const char *about, struct verdict *out) {
    const char *why;
    (void)target;
    (void)about;
    if (proc_is_ours(&why))
        return doctor_say(out, DOCTOR_OK, NULL, "a command's processes can be found and stopped");
    return doctor_say(out, DOCTOR_FINDING, "see rlock-internals(7), THE GUARDIAN",
                      "no command can be run: %s", why);
}
