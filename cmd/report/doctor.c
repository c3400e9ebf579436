/* doctor.c: the table of checks. */
#include "report/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* To add a check: a row, and its function. */
static const struct {
    const char *name;
    doctor_check *check;
    const char *about; /* for functions that serve several rows */
} checks[] = {
    {"setting", doctor_setting, NULL},
    {"local", doctor_local, NULL},
    {"version", doctor_version, NULL},
    {"config", doctor_config, NULL},
    {"eviction", doctor_eviction, NULL},
    {"memory", doctor_memory, NULL},
    {"persistence", doctor_persistence, NULL},
    {"replicas", doctor_replicas, NULL},
    {"wait", doctor_wait, NULL},
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

const char *doctor_set(char text[DOCTOR_ADVICE_SIZE], const struct target *target,
                       const char *setting, const char *behind) {
    const char *file = rlock_fact(target->facts, target->server, "config_file");
    if (file != NULL && *file == '\0')
        snprintf(text, DOCTOR_ADVICE_SIZE,
                 "start it with a redis.conf that has %s: it has no file now, and what CONFIG SET "
                 "sets is lost when it restarts%s",
                 setting, behind);
    else
        snprintf(text, DOCTOR_ADVICE_SIZE,
                 "CONFIG SET %s and CONFIG REWRITE, which keeps it in %s: without, it is lost when "
                 "the server restarts%s",
                 setting, file != NULL ? file : "redis.conf", behind);
    return text;
}

const char *doctor_text(const struct target *target, const char *fact) {
    const char *text = rlock_fact(target->facts, target->server, fact);
    return text != NULL ? text : "";
}

int64_t doctor_number(const struct target *target, const char *fact) {
    const char *text = doctor_text(target, fact);
    char *end;
    const long long number = strtoll(text, &end, 10);
    return end != text && *end == '\0' ? number : -1;
}

static bool is_rights(size_t i) {
    return strncmp(checks[i].name, "rights ", strlen("rights ")) == 0;
}

/* Where all rights are there, or none is known, one line is enough for people. */
static bool report_rights(const struct target *target, const char *server, doctor_report *report,
                          void *context) {
    struct verdict verdict, first = {.level = DOCTOR_FINDING};
    size_t count = 0;
    if (target->settings->json || target->settings->kind != NULL)
        return false;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (!is_rights(i))
            continue;
        if (!checks[i].check(target, checks[i].about, &verdict))
            return false;
        if (count++ == 0)
            first = verdict;
        if (verdict.level != first.level)
            return false;
    }
    if (first.level != DOCTOR_OK && first.level != DOCTOR_UNKNOWN)
        return false;
    if (first.level == DOCTOR_OK)
        doctor_say(&first, DOCTOR_OK, NULL,
                   "all that run, fair, read, write, sem, latch, status and break need");
    report(context, "rights", server, &first);
    return true;
}

int doctor_examine(const struct target *target, doctor_report *report, void *context) {
    const char *server = doctor_text(target, "probe.server");
    const char *error = rlock_fact(target->facts, target->server, "probe.error");
    struct verdict verdict = {.level = DOCTOR_OK};
    int findings = 0;
    if (error != NULL) {
        doctor_say(&verdict, DOCTOR_FINDING, "start it, or see why it can't be reached from here",
                   "%s", error);
        report(context, "reached", server, &verdict);
        return 1;
    }
    bool rights_reported = false, rights_met = false;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (is_rights(i) && !rights_met) {
            rights_met = true;
            rights_reported = report_rights(target, server, report, context);
        }
        if ((is_rights(i) && rights_reported) ||
            !checks[i].check(target, checks[i].about, &verdict))
            continue;
        findings += verdict.level == DOCTOR_FINDING;
        report(context, checks[i].name, server, &verdict);
    }
    return findings;
}
