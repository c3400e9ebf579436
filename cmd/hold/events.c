/* events.c: what is logged of a lock.
 *
 * In JSON each name has an object of its own, for each has its own token. A text that would say the
 * same of all of them stands there once. */
#include "hold/acquired.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output/duration.h"
#include "output/out.h"

enum { RETRY_LOGGED_MS = 10000 }; /* of renewals that fail one after the other */
enum { OWN_FIELDS = 6, MORE_FIELDS = 4, TEXT_SIZE = 2048, NAMES_SIZE = RLOCK_NAME_MAX + 16 };

/* For how long it has been held, and how long the command ran, if it has ended. */
#define HELD(acquired)                                                                             \
    OUT_NUMBER("held_ms", rlock_now_ms() - (acquired)->at_ms),                                     \
        OUT_NUMBER("ran_ms", (acquired)->ran_ms)

static const char *server_of(const struct acquired *acquired) {
    return rlock_client_server(acquired->server.client);
}

/* An event of one name: more fields behind those that all have. */
static void log_one(const struct acquired *acquired, const struct rlock_hold *hold,
                    enum out_level level, const char *event, const struct out_field *more,
                    size_t more_count, const char *message) {
    const bool passed = acquired->kind->passed;
    struct out_field fields[OWN_FIELDS + MORE_FIELDS] = {
        OUT_TEXT("name", hold->name),
        OUT_TEXT("kind", acquired->kind->name),
        OUT_TEXT("server", server_of(acquired)),
        OUT_TEXT("note", passed || *acquired->note == '\0' ? NULL : acquired->note),
        OUT_TEXT("owner", passed ? NULL : hold->owner),
        OUT_NUMBER("token", passed ? -1 : hold->token),
    };
    memcpy(fields + OWN_FIELDS, more, more_count * sizeof *more);
    out_event(level, event, fields, OWN_FIELDS + more_count, "%s", message);
}

/* The same of all names: in a text once. */
__attribute__((format(printf, 6, 7))) static void
log_all(const struct acquired *acquired, enum out_level level, const char *event,
        const struct out_field *more, size_t more_count, const char *format, ...) {
    const size_t count = out_is_json() ? acquired->hold_count : 1;
    char message[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < count; i++)
        log_one(acquired, acquired->holds[i], level, event, more, more_count, message);
}

/* "x", or "x and others": for a text about all of them. */
static const char *names(char text[NAMES_SIZE], const struct acquired *acquired) {
    (void)snprintf(text, NAMES_SIZE, "%s%s", acquired->holds[0]->name,
                   acquired->hold_count > 1 ? " and others" : "");
    return text;
}

/* What is left of the lease; -1: it has no end. */
static int64_t left_ms(int64_t lease_end_ms) {
    const int64_t now = rlock_now_ms();
    return lease_end_ms == RLOCK_FOREVER ? -1 : lease_end_ms > now ? lease_end_ms - now : 0;
}

/* The end of an announced wait is news, if short; all else is for -v alone. */
void event_acquired(const struct acquired *acquired) {
    const bool passed = acquired->kind->passed, news = acquired->announced && !out_tells();
    const int64_t waited_ms = acquired->at_ms - acquired->asked_ms;
    char message[TEXT_SIZE], waited[DURATION_TEXT_SIZE], from[OPT_ORIGIN_SIZE], token[32] = "";
    if (!news && !out_tells())
        return;
    (news && waited_ms >= 1000 ? duration_format_seconds : duration_format)(waited, waited_ms);
    for (size_t i = 0; i < acquired->hold_count; i++) {
        const struct rlock_hold *hold = acquired->holds[i];
        if (!passed)
            (void)snprintf(token, sizeof token, "%s token %" PRId64, news ? "," : ":", hold->token);
        (void)snprintf(message, sizeof message, "%s %s%s%s after %s%s",
                       passed ? "passed"
                       : news ? "took"
                              : "acquired",
                       hold->name, news ? "" : " on ", news ? "" : server_of(acquired), waited,
                       token);
        log_one(acquired, hold, news ? OUT_INFO : OUT_DEBUG, passed ? "latch_open" : "acquired",
                OUT_FIELDS(OUT_NUMBER("waited_ms", waited_ms),
                           OUT_TEXT("server_from", server_origin(acquired->settings, from)),
                           OUT_NUMBER("lease_left_ms",
                                      passed ? -1 : left_ms(rlock_lease_end_ms(acquired->lock)))),
                message);
    }
}

static void event_retrying(const struct acquired *acquired, const struct rlock_renewal *renewal,
                           enum out_level level) {
    char all[NAMES_SIZE], left[DURATION_TEXT_SIZE];
    const int64_t ms = left_ms(renewal->lease_end_ms);
    log_all(acquired, level, "retrying",
            OUT_FIELDS(HELD(acquired), OUT_NUMBER("lease_left_ms", ms),
                       OUT_TEXT("reason", renewal->why)),
            "cannot renew %s on %s: %s; trying again, %s left", names(all, acquired),
            server_of(acquired), renewal->why, duration_format(left, ms));
}

static void event_renewed(const struct renewals *so_far, const struct acquired *acquired,
                          const struct rlock_renewal *renewal) {
    char all[NAMES_SIZE], left[DURATION_TEXT_SIZE], spent[DURATION_TEXT_SIZE];
    const bool again = so_far->failing_ms > 0;
    const int64_t ms = left_ms(renewal->lease_end_ms);
    duration_format(spent, renewal->at_ms - so_far->failing_ms);
    log_all(acquired, so_far->warned ? OUT_INFO : OUT_DEBUG, "renewed",
            OUT_FIELDS(HELD(acquired), OUT_NUMBER("lease_left_ms", ms)),
            "renewed %s on %s%s%s: %s left", names(all, acquired), server_of(acquired),
            again ? " again after " : "", again ? spent : "", duration_format(left, ms));
}

/* A server that answers now and then does not fill the log either. */
void event_renewal(struct renewals *so_far, const struct acquired *acquired,
                   const struct rlock_renewal *renewal) {
    const bool begins = so_far->failing_ms == 0;
    const int64_t now = renewal->at_ms;
    if (renewal->status == RLOCK_OK) {
        event_renewed(so_far, acquired, renewal);
        so_far->failing_ms = 0;
        so_far->warned = false;
        return;
    }
    if (!begins && now < so_far->logged_ms + RETRY_LOGGED_MS)
        return;
    const bool news =
        begins && (so_far->warned_ms == 0 || now >= so_far->warned_ms + RETRY_LOGGED_MS);
    so_far->logged_ms = now;
    if (begins)
        so_far->failing_ms = now;
    if (news)
        so_far->warned_ms = now;
    so_far->warned = so_far->warned || news;
    event_retrying(acquired, renewal, news || out_is_json() ? OUT_WARNING : OUT_DEBUG);
}

void event_lost(const struct acquired *acquired, const char *why, const char *then) {
    char all[NAMES_SIZE];
    log_all(acquired, OUT_ERROR, "lost", OUT_FIELDS(HELD(acquired), OUT_TEXT("reason", why)),
            "lost %s on %s: %s%s%s", names(all, acquired), server_of(acquired), why,
            then != NULL ? "; " : "", then != NULL ? then : "");
}

void event_released(const struct acquired *acquired, int64_t keep_ms) {
    char message[TEXT_SIZE], spent[DURATION_TEXT_SIZE];
    const bool kept = keep_ms > 0;
    duration_format(spent, kept ? keep_ms : rlock_now_ms() - acquired->at_ms);
    for (size_t i = 0; out_tells() && i < acquired->hold_count; i++) {
        (void)snprintf(message, sizeof message, "released %s on %s%s %s", acquired->holds[i]->name,
                       server_of(acquired), kept ? ", for others in" : " after", spent);
        log_one(acquired, acquired->holds[i], OUT_DEBUG, "released",
                OUT_FIELDS(HELD(acquired),
                           OUT_NUMBER("waited_ms", acquired->at_ms - acquired->asked_ms),
                           OUT_NUMBER("kept_ms", kept ? keep_ms : -1)),
                message);
    }
}

void event_unconfirmed(const struct acquired *acquired) {
    char all[NAMES_SIZE];
    const char *why = rlock_error(acquired->server.client);
    const bool is_leased = rlock_renewal_due_ms(acquired->lock) != RLOCK_FOREVER;
    log_all(acquired, OUT_WARNING, "release_unconfirmed",
            OUT_FIELDS(HELD(acquired), OUT_TEXT("reason", why)),
            "cannot confirm that %s on %s was given back: %s; %s", names(all, acquired),
            server_of(acquired), why,
            is_leased ? "it ends with its lease"
                      : "if not, its permits stay taken: see 'rlock break'");
}

void event_preempting(const struct acquired *acquired, const struct rlock_holder *holder) {
    static const struct {
        const char *answer, *before, *after;
    } rows[] = {
        [RLOCK_PREEMPT_ASKED] = {"asked", "asked", ""},
        [RLOCK_PREEMPT_REFUSED] = {"not preemptible", "cannot ask",
                                   ": it has no --preemptible; waiting for it"},
        [RLOCK_PREEMPT_DENIED] = {"no right", "cannot ask",
                                  ": no right to publish to rlock_break:*; waiting for it"},
    };
    const enum rlock_preemption is = holder->preemption;
    const char *after = holder->kept
                            ? ": it has ended, and --min-hold keeps the lock; waiting for it"
                            : rows[is].after;
    out_event(is == RLOCK_PREEMPT_DENIED ? OUT_WARNING : OUT_INFO, "preempting",
              OUT_FIELDS(OUT_TEXT("name", holder->name), OUT_TEXT("kind", acquired->kind->name),
                         OUT_TEXT("server", server_of(acquired)), OUT_TEXT("holder", holder->owner),
                         OUT_TEXT("answer", rows[is].answer)),
              "%s the holder of %s to end%s", rows[is].before, holder->name, after);
}

void event_preempted(const struct acquired *acquired, const char *by) {
    char all[NAMES_SIZE];
    log_all(acquired, OUT_WARNING, "preempted", OUT_FIELDS(HELD(acquired), OUT_TEXT("by", by)),
            "stopping the command of %s: %s asks for the lock", names(all, acquired), by);
}
