/* doctor_judge.c: the checks of `rlock doctor` that depend on more than one fact after the other:
 * on the settings, on this machine, or on several facts at once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/lines.h"
#include "options/local_url.h"
#include "output/duration.h"
#include "process/deadline.h"
#include "process/proc.h"
#include "report/doctor.h"
#include "rlock.h"
#include "server/server.h"

enum { SHORT_OUTAGE_MS = 5000 };

/* A host that has lost its own setting may have another's. */
bool doctor_setting(const struct target *target, struct verdict *out) {
    char from[OPT_ORIGIN_SIZE];
    return target->server == 0 && doctor_say(out, DOCTOR_OK, NULL, "the server is named by %s",
                                             server_origin(target->settings, from));
}

/* --- what a crash loses ----------------------------------------------------------------------- */

bool doctor_has_aof(const struct target *target) {
    return doctor_number(target, "aof_enabled") == 1;
}

/* A local: server's holders end with the machine. */
bool doctor_may_lose_locks(const struct target *target) {
    return doctor_has_aof(target) && !doctor_is(target, "local:");
}

/* The server then refuses to write, unless it is configured not to. */
bool doctor_snapshots_fail(const struct target *target) {
    return strcmp(doctor_text(target, "rdb_last_bgsave_status"), "err") == 0 &&
           *doctor_text(target, "config.save") != '\0' &&
           strcmp(doctor_text(target, "config.stop-writes-on-bgsave-error"), "no") != 0;
}

/* --- what the lease is enough for ------------------------------------------------------------- */

/* A holder between two renewals is idle; a subscriber is not, to Redis. */
bool doctor_timeout(const struct target *target, struct verdict *out) {
    const int64_t timeout_s = doctor_number(target, "config.timeout");
    const int64_t third_ms = target->settings->lock.lease_ms / 3;
    if (timeout_s < 0)
        return false;
    if (timeout_s == 0 || timeout_s * 1000 > third_ms)
        return doctor_say(out, DOCTOR_OK, NULL, timeout_s == 0 ? "none" : "%" PRId64 " s",
                          timeout_s);
    out->setting = "timeout 0";
    return doctor_say(out, DOCTOR_FINDING, NULL,
                      "the server closes idle connections after %" PRId64 " s, before a lock is "
                      "renewed (each %" PRId64 " ms): each renewal has to reconnect",
                      timeout_s, third_ms);
}

/* How long an outage may last before holders with this lease and --kill-after lose their locks,
 * counted from the first request that fails: the outage may begin just before a renewal. */
static int64_t tolerance_ms(int64_t lease_ms, int64_t kill_after_ms) {
    const struct deadline_plan plan = deadline_plan(lease_ms, kill_after_ms, false, 0);
    return lease_ms - rlock_drift_ms(lease_ms) - plan.grace_ms - lease_ms / 3;
}

bool doctor_lease(const struct target *target, struct verdict *out) {
    const int64_t lease_ms = target->settings->lock.lease_ms;
    const int64_t ms = tolerance_ms(lease_ms, target->settings->run.kill_after_ms);
    const bool is_short = ms < SHORT_OUTAGE_MS;
    char lease[DURATION_TEXT_SIZE];
    return target->server == 0 &&
           doctor_say(out, is_short ? DOCTOR_NOTE : DOCTOR_OK,
                      is_short ? "use longer leases: a restart or a failover takes longer than that"
                               : NULL,
                      "%s: holders survive an outage of %" PRId64 " %s",
                      duration_format(lease, lease_ms), ms < 1000 ? ms : ms / 1000,
                      ms < 1000 ? "ms" : "s");
}

/* --- reachable from elsewhere ----------------------------------------------------------------- */

static bool is_loopback(const char *host) {
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
           strcmp(host, "localhost") == 0;
}

/* Whether all addresses that it listens on are this machine's own, as far as it says. */
static bool listens_here_only(const struct target *target) {
    char bind[512], *rest = bind;
    (void)snprintf(bind, sizeof bind, "%s", doctor_text(target, "config.bind"));
    bool here = *bind != '\0';
    for (const char *word; here && (word = strsep(&rest, " ")) != NULL;)
        here = *word == '\0' || is_loopback(word + (*word == '-'));
    return here;
}

/* By another way than ours: through an address of its own, it may have to be asked differently. */
bool doctor_is_exposed(const struct target *target) {
    if (!is_loopback(doctor_text(target, "probe.host")))
        return true;
    return strcmp(doctor_text(target, "config.protected-mode"), "no") == 0 &&
           !listens_here_only(target);
}

bool doctor_tls(const struct target *target, struct verdict *out) {
    const bool tls = doctor_is(target, "rediss:") || doctor_is(target, "sentinels:") ||
                     doctor_is(target, "clusters:");
    if (tls && target->settings->server.tls.insecure)
        return doctor_say(out, DOCTOR_FINDING, "give --tls-ca instead of --tls-insecure",
                          "the certificate is not verified: anyone on the network path can read "
                          "and change the traffic");
    if (tls)
        return doctor_say(out, DOCTOR_OK, NULL, "encrypted, and its certificate verified");
    if (doctor_is(target, "unix:") || doctor_is(target, "local:"))
        return doctor_say(out, DOCTOR_OK, NULL, "not needed on a socket of this machine");
    return doctor_say(out, DOCTOR_NOTE, "use rediss:// where others can listen to the network",
                      "not encrypted; passwords are sent in clear text");
}

/* --- what this user may do, and this machine can ---------------------------------------------- */

/* "app" of redis://app:secret@host. */
static void note_command(struct verdict *out, const struct target *target, const char *missing) {
    const char *host = strstr(target->url, "://"), *at = host != NULL ? strchr(host, '@') : NULL;
    const size_t length = at != NULL ? strcspn(host + 3, ":@") : 0;
    (void)snprintf(out->paste, sizeof out->paste, "ACL SETUSER %.*s %s",
                   length > 0 ? (int)length : (int)strlen("default"),
                   length > 0 ? host + 3 : "default", missing);
}

static const char *kind_of(const struct verdict *of_rights) {
    return of_rights->check + strlen("rights ");
}

/* To take locks of a kind, to renew them and to give them back; what a user can do without, and
 * often should, is a note. */
bool doctor_rights(const struct target *target, struct verdict *out) {
    const char *kind = target->settings->look.kind;
    char fact[64];
    (void)snprintf(fact, sizeof fact, "rights.%s", kind_of(out));
    const char *missing = doctor_fact(target, fact);
    const char *why = doctor_fact(target, "rights.unknown");
    if (kind != NULL && strstr(kind_of(out), kind) == NULL)
        return false;
    if (missing == NULL && doctor_fact(target, "rights.refused") != NULL)
        return false; /* "scripts" has told */
    if (missing == NULL && target->server > 0)
        return false; /* in a cluster only the first master is asked */
    if (missing == NULL)
        return doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: %s",
                          why != NULL ? why : "the server is older than Redis 7.0");
    if (*missing == '\0')
        return doctor_say(out, DOCTOR_OK, NULL, "all that it needs");
    note_command(out, target, missing);
    return doctor_say(out, out->level,
                      out->level == DOCTOR_FINDING
                          ? "ACL SETUSER with these, if this user takes such locks; see "
                            "rlock-server(7), ACCESS CONTROL"
                          : "ACL SETUSER with these, if this user is to do that; see "
                            "rlock-server(7), ACCESS CONTROL",
                      "missing: %s", missing);
}

/* The lock that was tried is one of run: of a user of other kinds its refusal says nothing. */
bool doctor_cycle(const struct target *target, struct verdict *out) {
    const char *why = doctor_fact(target, "probe.cycle_denied");
    const char *kind = target->settings->look.kind;
    const bool is_tried = kind == NULL || strcmp(kind, "run") == 0 || strcmp(kind, "fair") == 0;
    return why != NULL && !is_tried &&
           doctor_say(out, DOCTOR_UNKNOWN, NULL, "cannot tell: one of run was tried: %s", why);
}

/* rlock runs a command only where it can end all that the command starts. */
bool doctor_processes(const struct target *target, struct verdict *out) {
    const char *why;
    (void)target;
    if (proc_is_ours(&why))
        return doctor_say(out, DOCTOR_OK, NULL, "a command's processes can be found and stopped");
    return doctor_say(out, DOCTOR_FINDING, "see rlock-internals(7), THE GUARDIAN",
                      "no command can be run: %s", why);
}

/* --- a local: server: its process, its socket, and how to end it ------------------------------ */

enum { UNIT_SIZE = 256 };

/* The systemd unit that a process belongs to, and ends with; "": none. A scope is a login's. */
static void find_unit(char unit[UNIT_SIZE], int64_t pid) {
    char path[64];
    const char *wrong;
    struct lines lines;
    unit[0] = '\0';
    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/cgroup", pid);
    if (!lines_open(&lines, path, false, &wrong))
        return;
    while (lines_next(&lines, &wrong)) {
        const char *last = strrchr(lines.text, '/');
        const char *ending = last != NULL ? strrchr(last, '.') : NULL;
        if (ending != NULL && (strcmp(ending, ".service") == 0 || strcmp(ending, ".scope") == 0))
            (void)snprintf(unit, UNIT_SIZE, "%s", last + 1);
    }
    lines_close(&lines);
}

/* One that a unit of somebody else's has started ends with that unit. */
static bool judge_local(struct verdict *out, int64_t pid, const char *unit, const char *dir) {
    const bool own = *unit == '\0' || strncmp(unit, "rlock-local", strlen("rlock-local")) == 0;
    char advice[sizeof out->advice];
    (void)snprintf(advice, sizeof advice, "to end it: redis-cli -s %.200s/redis.sock shutdown%s",
                   dir,
                   own ? ""
                       : "; to keep it when that unit ends: KillMode=process there, or "
                         "rlock-local.service; see rlock-server(7)");
    return doctor_say(out, DOCTOR_NOTE, advice,
                      "a private redis-server of user %ld alone, pid %" PRId64
                      "%s%.200s, on %.200s/redis.sock",
                      (long)geteuid(), pid, *unit != '\0' ? ", in " : "", unit, dir);
}

bool doctor_local(const struct target *target, struct verdict *out) {
    char unit[UNIT_SIZE];
    if (!local_is(target->url))
        return false;
    char *dir = local_dir(target->url);
    const int64_t pid = doctor_number(target, "process_id");
    find_unit(unit, pid);
    const bool judged = dir != NULL && judge_local(out, pid, unit, dir);
    free(dir);
    return judged;
}
