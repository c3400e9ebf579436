/* doctor.c: rlock doctor: examines each server in turn by the rules of doctor_rules.c, and compares
 * them. */
#include "report/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/opt.h"
#include "output/describe.h"
#include "output/out.h"
#include "report/report.h"
#include "server/server.h"

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

bool doctor_is(const struct target *target, const char *scheme) {
    return strncmp(target->url, scheme, strlen(scheme)) == 0;
}

const char *doctor_fact(const struct target *target, const char *fact) {
    return rlock_fact(target->facts, target->server, fact);
}

const char *doctor_text(const struct target *target, const char *fact) {
    const char *text = doctor_fact(target, fact);
    return text != NULL ? text : "";
}

int64_t doctor_number(const struct target *target, const char *fact) {
    int64_t number = -1;
    (void)rlock_fact_number(target->facts, target->server, fact, &number);
    return number;
}

/* --- rules ----------------------------------------------------------------------------------- */

static bool fits(const struct target *target, const struct rule *rule) {
    const char *text = rule->fact != NULL ? doctor_fact(target, rule->fact) : NULL;
    int64_t number;
    const bool is_number =
        rule->fact != NULL && rlock_fact_number(target->facts, target->server, rule->fact, &number);
    if (rule->when != NULL && !rule->when(target))
        return false;
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
    size_t used = 0;
    char name[64];
    while (*from != '\0') {
        const size_t plain = strcspn(from, "{"), length = strcspn(from + plain, "}");
        describe_append(to, size, &used, "%.*s", (int)plain, from);
        from += plain + length;
        if (*from == '\0')
            return;
        (void)snprintf(name, sizeof name, "%.*s", (int)length - 1, from - length + 1);
        const int64_t us = doctor_number(target, name);
        if (length > 4 && strncmp(from - 3, "_us", 3) == 0)
            describe_append(to, size, &used, "%" PRId64 ".%03d ms", us / 1000, (int)(us % 1000));
        else
            describe_append(to, size, &used, "%s", doctor_text(target, name));
        from++;
    }
}

static bool judge(const struct target *target, const struct rule *rule, struct verdict *out) {
    *out = (struct verdict){.check = rule->check,
                            .level = rule->level,
                            .setting = rule->setting,
                            .server = doctor_text(target, "probe.server"),
                            .file = doctor_fact(target, "config_file")};
    if (rule->judge != NULL)
        return rule->judge(target, out);
    if (!fits(target, rule))
        return false;
    if (rule->found != NULL)
        fill(out->found, sizeof out->found, rule->found, target);
    (void)snprintf(out->advice, sizeof out->advice, "%s", rule->advice != NULL ? rule->advice : "");
    return true;
}

/* --- rights ---------------------------------------------------------------------------------- */

static bool is_rights(const struct rule *rule) {
    return strncmp(rule->check, "rights ", strlen("rights ")) == 0;
}

/* A user of certain names is no finding, but without one of them nothing more can be said. */
bool doctor_limited(const struct target *target, struct verdict *out) {
    (void)out;
    return target->settings->name_count == 0 && doctor_fact(target, "rights.names") != NULL;
}

bool doctor_rights_in_short(const struct target *target, struct verdict *out) {
    struct verdict one;
    if (doctor_limited(target, out))
        return doctor_say(out, DOCTOR_UNKNOWN, "give the beginning of one, as in: rlock doctor app",
                          "cannot tell: this user's rights are limited to certain names");
    if (target->settings->look.json || target->settings->look.kind != NULL)
        return false;
    for (const struct rule *rule = doctor_rules; rule->check != NULL; rule++) {
        if (!is_rights(rule))
            continue;
        if (!judge(target, rule, &one) || (one.level != DOCTOR_OK && one.level != DOCTOR_UNKNOWN) ||
            (out->found[0] != '\0' && one.level != out->level))
            return false;
        doctor_say(out, one.level, NULL, "%s", one.found);
    }
    return out->level != DOCTOR_OK ||
           doctor_say(out, DOCTOR_OK, NULL,
                      "all that run, fair, read, write, sem, latch, status and break need");
}

/* --- all checks ------------------------------------------------------------------------------ */

static const char default_name[] = "rlock"; /* which a user may be given rights to */

struct round {
    const struct settings *settings;
    struct doctor_output out;
    int findings;
    size_t reached;
    char *runs[RLOCK_SERVERS_MAX]; /* by what each server knows itself; NULL: unknown */
};

static void tell(struct round *round, struct verdict *verdict) {
    round->findings += verdict->level == DOCTOR_FINDING;
    if (verdict->found[0] != '\0')
        doctor_output_write(&round->out, verdict);
}

static const char start_it[] = "start it, or see why it can't be reached from here";

/* Makes all checks of one target, and prints what they say. */
static void examine(struct round *round, const struct target *target) {
    const char *error = doctor_fact(target, "probe.error");
    struct verdict verdict = {.check = "reached", .server = doctor_text(target, "probe.server")};
    if (error != NULL) {
        doctor_say(&verdict, DOCTOR_FINDING, start_it, "%s", error);
        tell(round, &verdict);
        return;
    }
    const char *told = ""; /* the check that has spoken */
    for (const struct rule *rule = doctor_rules; rule->check != NULL; rule++) {
        const bool is_told =
            strcmp(rule->check, told) == 0 || (is_rights(rule) && strcmp(told, "rights") == 0);
        if (is_told || !judge(target, rule, &verdict))
            continue;
        told = rule->check;
        tell(round, &verdict);
    }
}

/* --- each server in turn ---------------------------------------------------------------------- */

/* By another name, an address of its own, or a proxy: two votes of a majority that fail together.
 */
static void compare(struct round *round, size_t i, const rlock_client *client,
                    const rlock_facts *facts) {
    struct verdict verdict = {.check = "quorum", .server = rlock_client_server(client)};
    const char *run = rlock_fact(facts, 0, "run_id");
    round->runs[i] = run != NULL && *run != '\0' ? strdup(run) : NULL;
    for (size_t j = 0; j < i && round->runs[i] != NULL; j++) {
        if (round->runs[j] == NULL || strcmp(round->runs[i], round->runs[j]) != 0)
            continue;
        doctor_say(&verdict, DOCTOR_FINDING, "give each server of a quorum once",
                   "number %zu is the same server as number %zu (run_id %.12s...): when it fails "
                   "both do",
                   i + 1, j + 1, run);
        tell(round, &verdict);
        return;
    }
}

static void examine_all(struct round *round, const char *url, const rlock_facts *facts) {
    for (size_t i = 0; i < rlock_facts_servers(facts); i++) {
        const struct target target = {round->settings, url, facts, i};
        examine(round, &target);
    }
    round->reached++;
}

/* One of several that is away is a finding; the only one leaves nothing to examine. */
static int say_unreached(struct round *round, const struct server *server,
                         const struct settings *one, enum rlock_status status) {
    struct verdict verdict = {.check = "reached", .server = rlock_client_server(server->client)};
    char from[OPT_ORIGIN_SIZE], origin[OPT_ORIGIN_SIZE + 32];
    (void)snprintf(origin, sizeof origin, "; the server is named by %s", server_origin(one, from));
    if (round->settings->server.count == 1)
        return server_explain(server, NULL, NULL, "examine", "locks", status, origin);
    doctor_say(
        &verdict, DOCTOR_FINDING,
        status == RLOCK_DENIED ? "give user and password as the server wants them" : start_it,
        "%s%s", status == RLOCK_DENIED ? "access denied: " : "", rlock_error(server->client));
    tell(round, &verdict);
    return status == RLOCK_DENIED ? EXIT_DENIED : EXIT_UNAVAILABLE;
}

/* Each server by itself. Returns 0, or why it could not be examined. */
static int visit(struct round *round, size_t i) {
    struct settings one = *round->settings;
    struct server server;
    rlock_facts *facts = NULL;
    one.server.urls[0] = round->settings->server.urls[i];
    one.server.count = 1;
    int failure = server_open(&server, &one);
    if (failure == 0) {
        const struct rlock_probe_options options = {
            .size = sizeof options,
            .name = one.name_count > 0 ? one.names[0] : default_name,
            .deadline_ms = RLOCK_FOREVER,
            .cancel_fd = -1,
        };
        const enum rlock_status status = rlock_probe(server.client, &options, &facts);
        if (status == RLOCK_OK)
            examine_all(round, one.server.urls[0], facts);
        if (status == RLOCK_OK)
            compare(round, i, server.client, facts);
        else
            failure = say_unreached(round, &server, &one, status);
    }
    rlock_facts_free(facts);
    server_close(&server);
    return failure;
}

static int say_no_majority(const struct round *round) {
    return out_fail(EXIT_UNAVAILABLE, NULL, NULL,
                    "cannot examine all servers: %zu of %zu answer, and a lock needs a majority",
                    round->reached, round->settings->server.count);
}

int doctor_exec(struct settings *settings) {
    struct round round = {.settings = settings, .out = {.settings = settings}};
    struct server all;
    int failure = 0;
    int status = server_name(&all, settings);
    server_close(&all);
    for (size_t i = 0; status == 0 && i < settings->server.count; i++) {
        const int why = visit(&round, i);
        failure = failure != EXIT_DENIED && why != 0 ? why : failure;
    }
    for (size_t i = 0; i < RLOCK_SERVERS_MAX; i++)
        free(round.runs[i]);
    if (status == 0 && (settings->server.count > 1 || failure == 0))
        status = doctor_output_end(&round.out);
    if (status != 0)
        return status;
    if (settings->server.count == 1 && failure != 0)
        return failure;
    if (round.reached <= settings->server.count / 2)
        return failure == EXIT_DENIED ? failure : say_no_majority(&round);
    return round.findings > 0;
}
