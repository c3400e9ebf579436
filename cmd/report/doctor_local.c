/* doctor_local.c: what a local: server is: its process, its socket, and how to end it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/lines.h"
#include "options/local_url.h"
#include "report/doctor.h"

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
static bool judge(struct verdict *out, int64_t pid, const char *unit, const char *socket) {
    const bool own = *unit == '\0' || strncmp(unit, "rlock-local", strlen("rlock-local")) == 0;
    char advice[sizeof out->advice];
    (void)snprintf(advice, sizeof advice, "to end it: redis-cli -s %.200s shutdown%s", socket,
                   own ? ""
                       : "; to keep it when that unit ends: KillMode=process there, or "
                         "rlock-local.service; see rlock-server(7)");
    return doctor_say(out, DOCTOR_NOTE, advice,
                      "a private redis-server of user %ld alone, pid %" PRId64
                      "%s%.200s, on %.200s",
                      (long)geteuid(), pid, *unit != '\0' ? ", in " : "", unit, socket);
}

bool doctor_local(const struct target *target, const char *about, struct verdict *out) {
    char unit[UNIT_SIZE];
    (void)about;
    if (!local_is(target->url))
        return false;
    char *socket = local_socket(target->url);
    const int64_t pid = doctor_number(target, "process_id");
    find_unit(unit, pid);
    const bool judged = socket != NULL && judge(out, pid, unit, socket);
    free(socket);
    return judged;
}
