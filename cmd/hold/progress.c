/* progress.c: what is said while waiting. */
#include "hold/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/describe.h"
#include "output/duration.h"
#include "output/notify.h"
#include "output/out.h"

enum { LIVE_MS = 1000, LINE_MS = 30000, SERVER_MS = 10000, TEXT_SIZE = 1024 };

void progress_begin(struct progress *progress, const char *name, const struct kind *kind) {
    *progress = (struct progress){.name = name, .kind = kind, .began_ms = rlock_now_ms()};
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
static void append_wait(char *text, size_t size, size_t *length, const struct progress *progress,
                        const rlock_client *client, const struct rlock_holder *holder) {
    const struct kind *kind = progress->kind;
    char why[TEXT_SIZE];
    if (holder == NULL) {
        describe_append(text, size, length, "for %s: cannot use %s: %s", progress->name,
                        rlock_client_server(client), rlock_error(client));
        return;
    }
    progress_why(why, sizeof why, kind, holder);
    describe_append(text, size, length, "for %s", holder->name);
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

/* Behind the fields of every kind: the place, of a latch the count. Returns how many. */
static size_t add_place(struct out_field *fields, const struct kind *kind,
                        const struct rlock_holder *holder) {
    if (kind->detail == DETAIL_COUNT) {
        fields[0] = OUT_NUMBER("count", holder->waiting);
        return holder->waiting > 0 ? 1 : 0;
    }
    fields[0] = OUT_NUMBER("position", holder->position);
    fields[1] = OUT_NUMBER("waiting", holder->waiting);
    return holder->position > 0 ? 2 : 0;
}

/* holder NULL: it is the server that is waited for. */
static void log_wait(const struct progress *progress, const rlock_client *client,
                     const struct rlock_holder *holder, int64_t waited_ms, const char *text) {
    const bool known = holder != NULL && *holder->owner != '\0';
    struct out_field fields[8] = {
        OUT_TEXT("name", holder != NULL ? holder->name : progress->name),
        OUT_TEXT("kind", progress->kind->name),
        OUT_TEXT("server", rlock_client_server(client)),
        OUT_NUMBER("waited_ms", waited_ms),
    };
    size_t count = 4;
    if (holder == NULL) {
        fields[count++] = OUT_TEXT("reason", rlock_error(client));
    } else {
        fields[count++] = OUT_TEXT("holder", known ? holder->owner : NULL);
        if (*holder->note != '\0')
            fields[count++] = OUT_TEXT("holder_note", holder->note);
        count += add_place(fields + count, progress->kind, holder);
    }
    out_event(holder == NULL && out_is_json() ? OUT_WARNING : OUT_INFO,
              holder == NULL ? "retrying" : "waiting", fields, count, "%s", text);
}

/* Whole steps since the wait began, so that a busy machine's seconds do not wander. */
static int64_t next_step(const struct progress *progress, int64_t now, int64_t step_ms) {
    return now + step_ms - (now - progress->began_ms) % step_ms;
}

void progress_show(struct progress *progress, const rlock_client *client, const rlock_lock *lock) {
    const int64_t now = rlock_now_ms();
    const bool live = out_can_live();
    const struct rlock_holder *holder = rlock_blocker(lock);
    /* That the server is back is news: the next line would come in half a minute. */
    if (now < progress->next_ms && !(progress->for_server && holder != NULL))
        return;
    /* It is the server that we wait for: it may be back in a moment, or the wait end with an error.
     * A program wants to know all the same. */
    if (holder == NULL && !live && !out_is_json() && now < progress->began_ms + SERVER_MS) {
        progress->next_ms = next_step(progress, now, LIVE_MS);
        return;
    }
    char text[TEXT_SIZE + RLOCK_NAME_MAX + 64], waited[DURATION_TEXT_SIZE];
    size_t length = 0;
    describe_append(text, sizeof text, &length, "waiting %s ",
                    duration_format_seconds(waited, now - progress->began_ms));
    append_wait(text, sizeof text, &length, progress, client, holder);
    notify_status(text);
    progress->logged = !live;
    if (live)
        out_live("%s", text);
    else
        log_wait(progress, client, holder, now - progress->began_ms, text);
    progress->for_server = holder == NULL;
    progress->next_ms = next_step(progress, now, live ? LIVE_MS : LINE_MS);
}

void progress_end(void) {
    out_live_end();
}
