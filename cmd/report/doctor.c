/* doctor.c: examines a server by the rules of doctor_rules.c. */
#include "report/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what rules and functions use ------------------------------------------------------------- */

bool doctor_say(struct verdict *out, enum doctor_level level, const char *advice,
                const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->found, sizeof out->found, format, arguments);
    va_end(arguments);
    (void)snprintf(out->advice, sizeof out->advice, "%s", advice != NULL ? advice : "");
    out->level = level;
    return true;
}

bool doctor_set(struct verdict *out, enum doctor_level level, const char *setting,
                const char *advice, const char *found) {
    out->setting = setting;
    return doctor_say(out, level, advice, "%s", found);
}

bool doctor_is(const struct target *target, const char *scheme) {
    return strncmp(target->url, scheme, strlen(scheme)) == 0;
}

const char *doctor_text(const struct target *target, const char *fact) {
    const char *text = rlock_fact(target->facts, target->server, fact);
    return text != NULL ? text : "";
}

int64_t doctor_number(const struct target *target, const char *fact) {
    int64_t number = -1;
    (void)rlock_fact_number(target->facts, target->server, fact, &number);
    return number;
}

/* --- rules ----------------------------------------------------------------------------------- */

static bool fits(const struct target *target, const struct rule *rule) {
    const char *text =
        rule->fact != NULL ? rlock_fact(target->facts, target->server, rule->fact) : NULL;
    int64_t number;
    const bool is_number =
        rule->fact != NULL && rlock_fact_number(target->facts, target->server, rule->fact, &number);
    switch (rule->test) {
    case ALWAYS: return true;
    case UNKNOWN: return text == NULL;
    case KNOWN: return text != NULL;
    case IS: return text != NULL && strcmp(text, rule->word) == 0;
    case IS_NOT: return text != NULL && strcmp(text, rule->word) != 0;
    case BELOW: return is_number && number < rule->limit;
    case ABOVE: return is_number && number > rule->limit;
    case IS_LOCAL: return doctor_is(target, "local:");
    }
    return false;
}

/* Replaces each {FACT}. */
static void fill(char *to, size_t size, const char *from, const struct target *target) {
    char name[64];
    while (*from != '\0' && size > 1) {
        const size_t plain = strcspn(from, "{"), length = strcspn(from + plain, "}");
        int written = snprintf(to, size, "%.*s", (int)plain, from);
        from += plain;
        if (*from == '{') {
            (void)snprintf(name, sizeof name, "%.*s", (int)length - 1, from + 1);
            const bool is_us = length > 4 && strncmp(from + length - 3, "_us", 3) == 0;
            const int64_t us = is_us ? doctor_number(target, name) : 0;
            const size_t at = (size_t)written < size ? (size_t)written : size - 1;
            written += is_us ? snprintf(to + at, size - at, "%" PRId64 ".%03d ms", us / 1000,
                                        (int)(us % 1000))
                             : snprintf(to + at, size - at, "%s", doctor_text(target, name));
            from += length + (from[length] == '}');
        }
        const size_t used = (size_t)written < size ? (size_t)written : size - 1;
        to += used;
        size -= used;
    }
}

static bool judge(const struct target *target, const struct rule *rule, struct verdict *out) {
    *out = (struct verdict){.file = rlock_fact(target->facts, target->server, "config_file")};
    if (rule->judge != NULL)
        return rule->judge(target, rule->about, out);
    if (!fits(target, rule))
        return false;
    if (rule->found != NULL)
        fill(out->found, sizeof out->found, rule->found, target);
    (void)snprintf(out->advice, sizeof out->advice, "%s", rule->advice != NULL ? rule->advice : "");
    out->level = rule->level;
    out->setting = rule->setting;
    return true;
}

/* --- rights ---------------------------------------------------------------------------------- */

static bool is_rights(const struct rule *rule) {
    return strncmp(rule->check, "rights ", strlen("rights ")) == 0;
}

/* A user of certain names is no finding, but without one of them nothing more can be said. */
static bool is_limited(const struct target *target) {
    return target->settings->name_count == 0 &&
           rlock_fact(target->facts, target->server, "rights.names") != NULL;
}

/* Where all rights are there, or none is known, one line is enough for people. */
static bool sum_rights(const struct target *target, struct verdict *out) {
    struct verdict one;
    bool begun = false;
    if (is_limited(target))
        return doctor_say(out, DOCTOR_UNKNOWN, "give the beginning of one, as in: rlock doctor app",
                          "cannot tell: this user's rights are limited to certain names");
    if (target->settings->json || target->settings->kind != NULL)
        return false;
    for (const struct rule *rule = doctor_rules; rule->check != NULL; rule++) {
        if (!is_rights(rule))
            continue;
        if (!judge(target, rule, &one) || (one.level != DOCTOR_OK && one.level != DOCTOR_UNKNOWN) ||
            (begun && one.level != out->level))
            return false;
        *out = one;
        begun = true;
    }
    if (out->level == DOCTOR_OK)
        doctor_say(out, DOCTOR_OK, NULL,
                   "all that run, fair, read, write, sem, latch, status and break need");
    return true;
}

/* --- all checks ------------------------------------------------------------------------------ */

struct examination {
    const struct target *target;
    doctor_report *report;
    void *context;
    const char *server;
    int findings;
};

static void tell(struct examination *e, const char *check, const struct verdict *verdict) {
    e->findings += verdict->level == DOCTOR_FINDING;
    if (verdict->found[0] != '\0')
        e->report(e->context, check, e->server, verdict);
}

int doctor_examine(const struct target *target, doctor_report *report, void *context) {
    const char *error = rlock_fact(target->facts, target->server, "probe.error");
    struct examination e = {target, report, context, doctor_text(target, "probe.server"), 0};
    struct verdict verdict = {.level = DOCTOR_OK};
    bool rights_met = false, rights_told = false;
    if (error != NULL) {
        doctor_say(&verdict, DOCTOR_FINDING, "start it, or see why it can't be reached from here",
                   "%s", error);
        tell(&e, "reached", &verdict);
        return e.findings;
    }
    const char *told = ""; /* the check that has spoken */
    for (const struct rule *rule = doctor_rules; rule->check != NULL; rule++) {
        if (is_rights(rule) && !rights_met) {
            rights_met = true;
            verdict = (struct verdict){.level = DOCTOR_OK};
            rights_told = sum_rights(target, &verdict);
            if (rights_told)
                tell(&e, "rights", &verdict);
        }
        const bool skipped = (is_rights(rule) && rights_told) ||
                             (is_limited(target) && strcmp(rule->check, "lock cycle") == 0);
        if (skipped || strcmp(rule->check, told) == 0 || !judge(target, rule, &verdict))
            continue;
        told = rule->check;
        tell(&e, rule->check, &verdict);
    }
    return e.findings;
}
