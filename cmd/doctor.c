/* doctor.c: the table of checks. */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* To add a check: a row, and its function. */
static const struct {
    const char *name;
    doctor_check *check;
    const char *about; /* for functions that serve several rows */
} checks[] = {
    {"version", doctor_version, NULL},
    {"eviction", doctor_eviction, NULL},
    {"memory", doctor_memory, NULL},
    {"persistence", doctor_persistence, NULL},
    {"replicas", doctor_replicas, NULL},
    {"sentinel", doctor_sentinel, NULL},
    {"cluster", doctor_cluster, NULL},
    {"clients", doctor_clients, NULL},
    {"timeout", doctor_timeout, NULL},
    {"slow", doctor_slow, NULL},
    {"tls", doctor_tls, NULL},
    {"scripts", doctor_scripts, NULL},
    {"rights run", doctor_rights, "run"},
    {"rights fair", doctor_rights, "fair"},
    {"rights read, write", doctor_rights, "read, write"},
    {"rights sem", doctor_rights, "sem"},
    {"rights sem --plain", doctor_rights, "sem --plain"},
    {"rights sem --resize", doctor_rights, "sem --resize"},
    {"rights latch set", doctor_rights, "latch set"},
    {"rights latch down", doctor_rights, "latch down"},
    {"rights latch wait", doctor_rights, "latch wait"},
    {"rights status", doctor_rights_beyond, "status"},
    {"rights status, all", doctor_rights_beyond, "status, all"},
    {"rights break", doctor_rights_beyond, "break"},
    {"processes", doctor_processes, NULL},
    {"clock", doctor_clock, NULL},
    {"round trip", doctor_round_trip, NULL},
    {"lock cycle", doctor_cycle, NULL},
};

bool doctor_say(struct verdict *out, enum doctor_level level, const char *advice,
                const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->found, sizeof out->found, format, arguments);
    va_end(arguments);
    snprintf(out->advice, sizeof out->advice, "%s", advice != NULL ? advice : "");
    out->level = level;
    return true;
}

const char *doctor_text(const struct patient *patient, const char *fact) {
    const char *text = rlock_fact(patient->facts, patient->server, fact);
    return text != NULL ? text : "";
}

int64_t doctor_number(const struct patient *patient, const char *fact) {
    const char *text = doctor_text(patient, fact);
    char *end;
    const long long number = strtoll(text, &end, 10);
    return end != text && *end == '\0' ? number : -1;
}

int doctor_examine(const struct patient *patient, doctor_teller *tell, void *context) {
    const char *server = doctor_text(patient, "probe.server");
    const char *error = rlock_fact(patient->facts, patient->server, "probe.error");
    struct verdict verdict = {.level = DOCTOR_OK};
    int findings = 0;
    if (error != NULL) {
        doctor_say(&verdict, DOCTOR_FINDING, "start it, or see why it can't be reached from here",
                   "%s", error);
        tell(context, "reached", server, &verdict);
        return 1;
    }
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (!checks[i].check(patient, checks[i].about, &verdict))
            continue;
        findings += verdict.level == DOCTOR_FINDING;
        tell(context, checks[i].name, server, &verdict);
    }
    return findings;
}
