/* visits.c: examines each server in turn, and compares them. */
#include "report/visits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/opt.h"
#include "output/out.h"
#include "report/doctor.h"
#include "report/doctor_output.h"
#include "server/server.h"

static const char *const default_name = "rlock"; /* which a user may be given rights to */

struct round {
    const struct settings *settings;
    struct doctor_output out;
    int findings;
    size_t reached;
    char *runs[RLOCK_SERVERS_MAX]; /* by what each server knows itself; NULL: unknown */
};

/* By another name, an address of its own, or a proxy: two votes of a majority that fail together.
 */
static void compare(struct round *round, size_t i, const rlock_client *client,
                    const rlock_facts *facts) {
    struct verdict verdict = {.level = DOCTOR_OK};
    const char *run = rlock_fact(facts, 0, "run_id");
    round->runs[i] = run != NULL && *run != '\0' ? strdup(run) : NULL;
    for (size_t j = 0; j < i && round->runs[i] != NULL; j++) {
        if (round->runs[j] == NULL || strcmp(round->runs[i], round->runs[j]) != 0)
            continue;
        doctor_say(&verdict, DOCTOR_FINDING, "give each server of a quorum once",
                   "number %zu is the same server as number %zu (run_id %.12s...): when it fails "
                   "both do",
                   i + 1, j + 1, run);
        doctor_output_write(&round->out, "quorum", rlock_client_server(client), &verdict);
        round->findings++;
        return;
    }
}

static void examine_all(struct round *round, const char *url, const rlock_facts *facts) {
    for (size_t i = 0; i < rlock_facts_servers(facts); i++) {
        const struct target target = {round->settings, url, facts, i};
        round->findings += doctor_examine(&target, doctor_output_write, &round->out);
    }
    round->reached++;
}

/* One of several that is away is a finding; the only one leaves nothing to examine. */
static int say_unreached(struct round *round, const struct server *server,
                         const struct settings *one, enum rlock_status status) {
    struct verdict verdict = {.level = DOCTOR_OK};
    char from[OPT_ORIGIN_SIZE], origin[OPT_ORIGIN_SIZE + 32];
    (void)snprintf(origin, sizeof origin, "; the server is named by %s", server_origin(one, from));
    if (round->settings->server_count == 1)
        return server_explain(server, one, "examine", "locks", status, origin);
    doctor_say(&verdict, DOCTOR_FINDING,
               status == RLOCK_DENIED ? "give user and password as the server wants them"
                                      : "start it, or see why it can't be reached from here",
               "%s%s", status == RLOCK_DENIED ? "access denied: " : "",
               rlock_error(server->client));
    doctor_output_write(&round->out, "reached", rlock_client_server(server->client), &verdict);
    round->findings++;
    return status == RLOCK_DENIED ? EXIT_DENIED : EXIT_UNAVAILABLE;
}

/* Each server by itself. Returns 0, or why it could not be examined. */
static int visit(struct round *round, size_t i) {
    struct settings one = *round->settings;
    struct server server;
    rlock_facts *facts = NULL;
    one.servers[0] = round->settings->servers[i];
    one.server_count = 1;
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
            examine_all(round, one.servers[0], facts);
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
                    round->reached, round->settings->server_count);
}

int doctor_exec(struct settings *settings) {
    struct round round = {.settings = settings, .out = {.settings = settings}};
    int failure = 0;
    int status = server_check(settings);
    for (size_t i = 0; status == 0 && i < settings->server_count; i++) {
        const int why = visit(&round, i);
        failure = failure != EXIT_DENIED && why != 0 ? why : failure;
    }
    for (size_t i = 0; i < RLOCK_SERVERS_MAX; i++)
        free(round.runs[i]);
    if (status == 0 && (settings->server_count > 1 || failure == 0))
        status = doctor_output_end(&round.out);
    if (status != 0)
        return status;
    if (settings->server_count == 1 && failure != 0)
        return failure;
    if (round.reached <= settings->server_count / 2)
        return failure == EXIT_DENIED ? failure : say_no_majority(&round);
    return round.findings > 0;
}
