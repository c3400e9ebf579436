/* progress.c: what is said while waiting. */
#include "hold/acquired.h"

#include <inttypes.h>
#include <stdio.h>

#include "output/describe.h"
#include "output/duration.h"
#include "output/out.h"

enum { LIVE_MS = 1000, LINE_MS = 30000, SERVER_MS = 10000, TEXT_SIZE = 1024 };

void progress_describe_pool(char text[PROGRESS_POOL_SIZE], const struct settings *settings) {
    text[0] = '\0';
    if (settings->lock.any > 0)
        (void)snprintf(text, PROGRESS_POOL_SIZE, " (any %d of %zu names)", settings->lock.any,
                       settings->name_count);
}

static void describe_count(char *text, size_t size, const struct rlock_holder *holder) {
    if (holder->waiting > 0)
        (void)snprintf(text, size, "%" PRId64 " to go", holder->waiting);
    else
        (void)snprintf(text, size, "not set yet");
}

void progress_why(char *text, size_t size, const struct kind *kind,
                  const struct rlock_holder *holder) {
    if (kind->detail == DETAIL_COUNT)
        describe_count(text, size, holder);
    else
        describe_holder(text, size, holder);
}

/* What makes 2 the "2nd". */
static const char *ordinal_ending(int64_t number) {
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    const int64_t last = number % 100 / 10 == 1 ? 0 : number % 10;
    return endings[last < 4 ? last : 0];
}

/* Appends "for deploy (fair, 2nd of 4): held by ...", or what is wrong with the server. */
static void append_wait(char *text, size_t size, size_t *length, const struct acquired *acquired,
                        const struct rlock_holder *holder) {
    const struct kind *kind = acquired->kind;
    const rlock_client *client = acquired->server.client;
    char why[TEXT_SIZE], pool[PROGRESS_POOL_SIZE];
    progress_describe_pool(pool, acquired->settings);
    if (holder == NULL) { /* nor has the server said which of several names is busy */
        describe_append(text, size, length, "for %s%s: cannot use %s: %s",
                        acquired->settings->names[0], pool, rlock_client_server(client),
                        rlock_error(client));
        return;
    }
    progress_why(why, sizeof why, kind, holder);
    describe_append(text, size, length, "for %s%s", holder->name, pool);
    switch (kind->detail) {
    case DETAIL_NONE: describe_append(text, size, length, ": %s", why); break;
    case DETAIL_KIND: describe_append(text, size, length, " (%s): %s", kind->name, why); break;
    case DETAIL_COUNT: describe_append(text, size, length, " (%s, %s)", kind->name, why); break;
    case DETAIL_PLACE:
        describe_append(text, size, length, " (%s", kind->name);
        if (holder->position > 0)
            describe_append(text, size, length, ", %" PRId64 "%s of %" PRId64, holder->position,
                            ordinal_ending(holder->position), holder->waiting);
        describe_append(text, size, length, "): %s", why);
        break;
    }
}

/* holder NULL: it is the server that is waited for. */
static void log_wait(const struct acquired *acquired, const struct rlock_holder *holder,
                     int64_t waited_ms, const char *text) {
    static const struct rlock_holder none = {.name = "", .owner = "", .note = ""};
    const bool for_server = holder == NULL;
    const rlock_client *client = acquired->server.client;
    if (for_server)
        holder = &none;
    const bool in_line = acquired->kind->detail != DETAIL_COUNT && holder->position > 0;
    out_event(for_server && out_is_json() ? OUT_WARNING : OUT_INFO,
              for_server ? "retrying" : "waiting",
              OUT_FIELDS(OUT_TEXT("name", for_server ? acquired->settings->names[0] : holder->name),
                         OUT_TEXT("kind", acquired->kind->name),
                         OUT_TEXT("server", rlock_client_server(client)),
                         OUT_NUMBER("waited_ms", waited_ms),
                         OUT_TEXT("reason", for_server ? rlock_error(client) : NULL),
                         PROGRESS_BLOCKER(acquired->kind, holder),
                         OUT_NUMBER("position", in_line ? holder->position : -1),
                         OUT_NUMBER("waiting", in_line ? holder->waiting : -1)),
              "%s", text);
}

/* Whole steps since the wait began, so that a busy machine's seconds do not wander. */
static int64_t next_step(const struct acquired *acquired, int64_t now, int64_t step_ms) {
    return now + step_ms - (now - acquired->asked_ms) % step_ms;
}

void progress_show(struct acquired *acquired) {
    const int64_t now = rlock_now_ms(), waited_ms = now - acquired->asked_ms;
    const bool live = out_can_live();
    const struct rlock_holder *holder = rlock_blocker(acquired->lock);
    /* The server is back: say so now, not with the next line in half a minute. */
    if (now < acquired->speak_ms && !(acquired->for_server && holder != NULL))
        return;
    /* The server may be back in a moment, or the wait end with an error: do not bother people yet.
     */
    if (holder == NULL && !live && !out_is_json() && waited_ms < SERVER_MS) {
        acquired->speak_ms = next_step(acquired, now, LIVE_MS);
        return;
    }
    char text[TEXT_SIZE + RLOCK_NAME_MAX + PROGRESS_POOL_SIZE + 64], waited[DURATION_TEXT_SIZE];
    size_t length = 0;
    if (waited_ms < 1000)
        describe_append(text, sizeof text, &length, "waiting ");
    else
        describe_append(text, sizeof text, &length, "waiting %s ",
                        duration_format_seconds(waited, waited_ms));
    append_wait(text, sizeof text, &length, acquired, holder);
    notify("", text);
    acquired->announced = !live;
    if (live)
        out_live("%s", text);
    else
        log_wait(acquired, holder, waited_ms, text);
    acquired->for_server = holder == NULL;
    acquired->speak_ms = next_step(acquired, now, live ? LIVE_MS : LINE_MS);
}
