/* not_acquired.c: what is said of a lock that was not acquired, and with what status rlock ends. */
#include "hold/not_acquired.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hold/ancestor.h"
#include "hold/progress.h"
#include "options/opt.h"
#include "output/duration.h"
#include "output/out.h"

enum { WHY_SIZE = 1024 };

static const char *verb_of(const struct acquired *acquired) {
    return acquired->kind->passed ? "pass" : "take";
}

enum { ATTEMPT_FIELDS = 4 };

/* What every event of an attempt begins with. */
static void describe_attempt(struct out_field fields[ATTEMPT_FIELDS],
                             const struct acquired *acquired, const char *name) {
    fields[0] = OUT_TEXT("name", name);
    fields[1] = OUT_TEXT("kind", acquired->kind->name);
    fields[2] = OUT_TEXT("server", rlock_client_server(acquired->server.client));
    fields[3] = OUT_NUMBER("waited_ms", rlock_now_ms() - acquired->asked_ms);
}

bool not_acquired_by_ancestor(const struct acquired *acquired) {
    const struct rlock_holder *holder = rlock_blocker(acquired->lock);
    const bool reenters =
        acquired->kind->detail != DETAIL_COUNT && strcmp(acquired->kind->name, "sem") != 0;
    return holder != NULL && reenters && ancestor_holds(holder, &acquired->enclosing);
}

static int say_busy(const struct acquired *acquired, const struct settings *settings) {
    char why[WHY_SIZE];
    struct out_field fields[ATTEMPT_FIELDS + 2];
    const struct rlock_holder *holder = rlock_blocker(acquired->lock);
    if (holder != NULL) {
        progress_why(why, sizeof why, acquired->kind, holder);
        describe_attempt(fields, acquired, holder->name);
        fields[ATTEMPT_FIELDS] = OUT_TEXT("holder", *holder->owner != '\0' ? holder->owner : NULL);
        fields[ATTEMPT_FIELDS + 1] =
            OUT_TEXT("holder_note", *holder->note != '\0' ? holder->note : NULL);
        const bool inside = !acquired->warned && not_acquired_by_ancestor(acquired);
        out_event(OUT_WARNING, "busy", fields, ATTEMPT_FIELDS + 2, "cannot %s %s: %s%s%s",
                  verb_of(acquired), holder->name, why, inside ? "; " : "",
                  inside ? ancestor_advice : "");
    }
    return settings->conflict_exit_code;
}

static int say_ousted(const struct acquired *acquired) {
    const char *name = rlock_stuck_at(acquired->lock);
    struct out_field fields[ATTEMPT_FIELDS];
    describe_attempt(fields, acquired, name);
    out_event(OUT_WARNING, "superseded", fields, ATTEMPT_FIELDS, "cannot take %s: %s", name,
              rlock_error(acquired->server.client));
    return EXIT_GAVE_WAY;
}

/* No run is wanted: -E says how to end where somebody has set it. */
static int say_done(const struct acquired *acquired, const struct settings *settings) {
    const struct rlock_run *run = rlock_last_run(acquired->lock);
    const char *name = rlock_stuck_at(acquired->lock);
    char age[DURATION_TEXT_SIZE], took[DURATION_TEXT_SIZE], period[DURATION_TEXT_SIZE];
    struct out_field fields[ATTEMPT_FIELDS + 3];
    const bool has_host = *run->host != '\0';
    describe_attempt(fields, acquired, name);
    fields[ATTEMPT_FIELDS] = OUT_NUMBER("age_ms", run->age_ms);
    fields[ATTEMPT_FIELDS + 1] = OUT_NUMBER("took_ms", run->took_ms);
    fields[ATTEMPT_FIELDS + 2] = OUT_TEXT("host", has_host ? run->host : NULL);
    out_event(OUT_INFO, "skipped", fields, ATTEMPT_FIELDS + 3,
              "not running %s: a run that took %s succeeded %s ago%s%s (--once-per %s)", name,
              duration_format(took, run->took_ms), duration_format_seconds(age, run->age_ms),
              has_host ? " on " : "", run->host, duration_format(period, settings->once_per_ms));
    const bool is_set = OPT_FROM(settings, conflict_exit_code)->source != SOURCE_DEFAULT;
    return is_set ? settings->conflict_exit_code : 0;
}

int not_acquired_interrupted(const struct acquired *acquired, int signal) {
    const char *name = rlock_stuck_at(acquired->lock);
    struct out_field fields[ATTEMPT_FIELDS + 1];
    describe_attempt(fields, acquired, name);
    fields[ATTEMPT_FIELDS] = OUT_NUMBER("signal", signal);
    out_event(OUT_DEBUG, "interrupted", fields, ATTEMPT_FIELDS + 1,
              "stopped waiting for %s: signal %d", name, signal);
    return EXIT_BY_SIGNAL + signal;
}

/* What may be left behind by an attempt without an answer. */
static void describe_doubt(char text[WHY_SIZE], const struct acquired *acquired,
                           const struct settings *settings) {
    char left[DURATION_TEXT_SIZE];
    text[0] = '\0';
    if (!rlock_in_doubt(acquired->lock))
        return;
    if (rlock_renewal_due_ms(acquired->lock) == RLOCK_FOREVER)
        (void)snprintf(text, WHY_SIZE, "; plain permits of %s may be lost until --resize",
                       settings->names[0]);
    else
        (void)snprintf(text, WHY_SIZE, "; %s may stay held for up to %s", settings->names[0],
                       duration_format(left, settings->lease_ms));
}

int not_acquired(const struct acquired *acquired, const struct settings *settings,
                 enum rlock_status status) {
    if (status == RLOCK_BUSY)
        return say_busy(acquired, settings);
    if (status == RLOCK_OUSTED)
        return say_ousted(acquired);
    if (status == RLOCK_DONE)
        return say_done(acquired, settings);
    char doubt[WHY_SIZE];
    describe_doubt(doubt, acquired, settings);
    return server_explain(&acquired->server, settings, verb_of(acquired),
                          rlock_stuck_at(acquired->lock), status, doubt);
}
