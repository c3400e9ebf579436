/* events.c: what is logged of a lock.
 *
 * In JSON each name has an object of its own, for each has its own token. A text that would say the
 * same of all of them stands there once. */
#include "hold/events.h"

#include <inttypes.h>
#include <stdio.h>

#include "output/duration.h"
#include "output/out.h"

enum { RETRY_LOGGED_MS = 10000 }; /* of renewals that fail one after the other */
enum { OWN_FIELDS = 6, MORE_FIELDS = 4, TEXT_SIZE = 2048, NAMES_SIZE = RLOCK_NAME_MAX + 16 };

/* What an event has besides the fields of all. */
struct more {
    struct out_field fields[MORE_FIELDS];
    size_t count;
};

static const char *server_of(const struct acquired *acquired) {
    return rlock_client_server(acquired->server.client);
}

static void event_of(const struct acquired *acquired, const struct rlock_hold *hold,
                     enum out_level level, const char *event, const struct more *more,
                     const char *message) {
    struct out_field fields[OWN_FIELDS + MORE_FIELDS] = {
        OUT_TEXT("name", hold->name),
        OUT_TEXT("kind", acquired->kind->name),
        OUT_TEXT("server", server_of(acquired)),
    };
    size_t count = 3;
    if (!acquired->kind->passed) {
        if (*acquired->note != '\0')
            fields[count++] = OUT_TEXT("note", acquired->note);
        fields[count++] = OUT_TEXT("owner", hold->owner);
        fields[count++] = OUT_NUMBER("token", hold->token);
    }
    for (size_t i = 0; i < more->count; i++)
        fields[count++] = more->fields[i];
    out_event(level, event, fields, count, "%s", message);
}

/* The same of all names: in a text once. */
static void event_of_all(const struct acquired *acquired, enum out_level level, const char *event,
                         const struct more *more, const char *message) {
    const size_t count = out_is_json() ? acquired->hold_count : 1;
    for (size_t i = 0; i < count; i++)
        event_of(acquired, acquired->holds[i], level, event, more, message);
}

/* "x", or "x and others": for a text about all of them. */
static const char *names(char text[NAMES_SIZE], const struct acquired *acquired) {
    (void)snprintf(text, NAMES_SIZE, "%s%s", acquired->holds[0]->name,
                   acquired->hold_count > 1 ? " and others" : "");
    return text;
}

static int64_t left_ms(int64_t until_ms) {
    const int64_t now = rlock_now_ms();
    return until_ms > now ? until_ms - now : 0;
}

/* What is left of the lease, where it has an end. */
static void add_lease(struct more *more, int64_t lease_end_ms) {
    if (lease_end_ms != RLOCK_FOREVER)
        more->fields[more->count++] = OUT_NUMBER("lease_left_ms", left_ms(lease_end_ms));
}

/* For how long it has been held, and how long the command ran, if it has ended. */
static struct more held(const struct acquired *acquired) {
    struct more more = {{OUT_NUMBER("held_ms", rlock_now_ms() - acquired->at_ms)}, 1};
    if (acquired->ran_ms >= 0)
        more.fields[more.count++] = OUT_NUMBER("ran_ms", acquired->ran_ms);
    return more;
}

/* Where a wait was announced its end is news, if short; else only -v wants to know. */
static void describe_acquired(char text[TEXT_SIZE], const struct acquired *acquired,
                              const struct rlock_hold *hold, const char *waited, bool news) {
    const char *verb = acquired->kind->passed ? "passed" : news ? "took" : "acquired";
    char where[TEXT_SIZE / 2] = "", token[32] = "";
    if (!news)
        (void)snprintf(where, sizeof where, " on %s", server_of(acquired));
    if (!acquired->kind->passed)
        (void)snprintf(token, sizeof token, "%s token %" PRId64, news ? "," : ":", hold->token);
    (void)snprintf(text, TEXT_SIZE, "%s %s%s after %s%s", verb, hold->name, where, waited, token);
}

void event_acquired(const struct acquired *acquired) {
    const int64_t waited_ms = acquired->at_ms - acquired->asked_ms;
    char from[OPT_ORIGIN_SIZE];
    const bool news = acquired->announced && !out_tells();
    struct more more = {{OUT_NUMBER("waited_ms", waited_ms)}, 1};
    char message[TEXT_SIZE], waited[DURATION_TEXT_SIZE];
    if (!news && !out_tells())
        return;
    more.fields[more.count++] = OUT_TEXT("server_from", server_origin(acquired->settings, from));
    add_lease(&more, acquired->kind->passed ? RLOCK_FOREVER : rlock_lease_end_ms(acquired->lock));
    if (news && waited_ms >= 1000)
        duration_format_seconds(waited, waited_ms);
    else
        duration_format(waited, waited_ms);
    for (size_t i = 0; i < acquired->hold_count; i++) {
        describe_acquired(message, acquired, acquired->holds[i], waited, news);
        event_of(acquired, acquired->holds[i], news ? OUT_INFO : OUT_DEBUG,
                 acquired->kind->passed ? "passed" : "acquired", &more, message);
    }
}

static void event_retrying(const struct acquired *acquired, const struct rlock_renewal *renewal,
                           enum out_level level) {
    char message[TEXT_SIZE], all[NAMES_SIZE], left[DURATION_TEXT_SIZE];
    struct more more = held(acquired);
    add_lease(&more, renewal->lease_end_ms);
    more.fields[more.count++] = OUT_TEXT("reason", renewal->why);
    (void)snprintf(message, sizeof message, "cannot renew %s on %s: %s; trying again, %s left",
                   names(all, acquired), server_of(acquired), renewal->why,
                   duration_format(left, left_ms(renewal->lease_end_ms)));
    event_of_all(acquired, level, "retrying", &more, message);
}

static void event_renewed(const struct renewals *so_far, const struct acquired *acquired,
                          const struct rlock_renewal *renewal) {
    char message[TEXT_SIZE], all[NAMES_SIZE], left[DURATION_TEXT_SIZE], spent[DURATION_TEXT_SIZE];
    const bool again = so_far->failing_ms > 0;
    struct more more = held(acquired);
    add_lease(&more, renewal->lease_end_ms);
    duration_format(spent, renewal->at_ms - so_far->failing_ms);
    (void)snprintf(message, sizeof message, "renewed %s on %s%s%s: %s left", names(all, acquired),
                   server_of(acquired), again ? " again after " : "", again ? spent : "",
                   duration_format(left, left_ms(renewal->lease_end_ms)));
    event_of_all(acquired, so_far->warned ? OUT_INFO : OUT_DEBUG, "renewed", &more, message);
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
    char message[TEXT_SIZE], all[NAMES_SIZE];
    struct more more = held(acquired);
    more.fields[more.count++] = OUT_TEXT("reason", why);
    (void)snprintf(message, sizeof message, "lost %s on %s: %s%s%s", names(all, acquired),
                   server_of(acquired), why, then != NULL ? "; " : "", then != NULL ? then : "");
    event_of_all(acquired, OUT_ERROR, "lost", &more, message);
}

void event_released(const struct acquired *acquired, int64_t keep_ms) {
    char message[TEXT_SIZE], spent[DURATION_TEXT_SIZE];
    struct more more = held(acquired);
    more.fields[more.count++] = OUT_NUMBER("waited_ms", acquired->at_ms - acquired->asked_ms);
    if (keep_ms > 0)
        more.fields[more.count++] = OUT_NUMBER("kept_ms", keep_ms);
    for (size_t i = 0; out_tells() && i < acquired->hold_count; i++) {
        const char *name = acquired->holds[i]->name;
        if (keep_ms > 0)
            (void)snprintf(message, sizeof message, "released %s on %s, for others in %s", name,
                           server_of(acquired), duration_format(spent, keep_ms));
        else
            (void)snprintf(message, sizeof message, "released %s on %s after %s", name,
                           server_of(acquired), duration_format(spent, more.fields[0].number));
        event_of(acquired, acquired->holds[i], OUT_DEBUG, "released", &more, message);
    }
}

void event_unconfirmed(const struct acquired *acquired, const char *why, const char *then) {
    char message[TEXT_SIZE], all[NAMES_SIZE];
    struct more more = held(acquired);
    more.fields[more.count++] = OUT_TEXT("reason", why);
    (void)snprintf(message, sizeof message, "cannot confirm that %s on %s was given back: %s; %s",
                   names(all, acquired), server_of(acquired), why, then);
    event_of_all(acquired, OUT_WARNING, "unconfirmed", &more, message);
}

static const char *word_of(enum rlock_preemption preemption) {
    switch (preemption) {
    case RLOCK_PREEMPT_ASKED: return "asked";
    case RLOCK_PREEMPT_REFUSED: return "not preemptible";
    case RLOCK_PREEMPT_DENIED: return "no right";
    case RLOCK_PREEMPT_NOT_ASKED: break;
    }
    return NULL;
}

void event_preempting(const struct acquired *acquired, const struct rlock_holder *holder) {
    const struct out_field fields[] = {
        OUT_TEXT("name", holder->name),
        OUT_TEXT("kind", acquired->kind->name),
        OUT_TEXT("server", server_of(acquired)),
        OUT_TEXT("holder", holder->owner),
        OUT_TEXT("answer", word_of(holder->preemption)),
    };
    const size_t count = sizeof fields / sizeof fields[0];
    if (holder->preemption == RLOCK_PREEMPT_ASKED)
        out_event(OUT_INFO, "preempting", fields, count, "asked the holder of %s to end",
                  holder->name);
    else if (holder->preemption == RLOCK_PREEMPT_REFUSED)
        out_event(OUT_INFO, "preempting", fields, count,
                  "cannot ask the holder of %s to end: it has no --preemptible; waiting for it",
                  holder->name);
    else
        out_event(OUT_WARNING, "preempting", fields, count,
                  "cannot ask the holder of %s to end: no right to publish to rlock_break:*; "
                  "waiting for it",
                  holder->name);
}

void event_preempted(const struct acquired *acquired, const char *by) {
    char message[TEXT_SIZE], all[NAMES_SIZE];
    struct more more = held(acquired);
    more.fields[more.count++] = OUT_TEXT("by", by);
    (void)snprintf(message, sizeof message, "stopping the command of %s: %s asks for the lock",
                   names(all, acquired), by);
    event_of_all(acquired, OUT_WARNING, "preempted", &more, message);
}
