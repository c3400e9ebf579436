/* waitline.c: what is said while waiting. */
#include "waitline.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "duration.h"
#include "notify.h"
#include "out.h"

enum { LIVE_MS = 1000, LINE_MS = 30000, SERVER_MS = 10000, TEXT_SIZE = 512 };

void waitline_begin(struct waitline *line, const char *name, const char *kind) {
    *line = (struct waitline){.name = name, .kind = kind, .began_ms = rlock_now_ms()};
}

/* Whole seconds: a live line with changing decimals is hard to read. */
static const char *seconds(char text[DURATION_TEXT_SIZE], int64_t ms) {
    if (ms < 1000)
        return memcpy(text, "0s", sizeof "0s");
    return duration_format(text, ms / 1000 * 1000);
}

/* Appends to a text of limited size. */
__attribute__((format(printf, 4, 5))) static void append(char *text, size_t size, size_t *length,
                                                         const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = *length < size ? vsnprintf(text + *length, size - *length, format, arguments) : 0;
    va_end(arguments);
    *length += n > 0 ? (size_t)n : 0;
}

void waitline_holder(char *text, size_t size, const struct rlock_holder *holder) {
    char held[DURATION_TEXT_SIZE];
    size_t length = 0;
    if (*holder->host == '\0') /* not one of ours: a Redisson client tells its id only */
        append(text, size, &length, "held by %s", holder->owner);
    else if (*holder->user == '\0')
        append(text, size, &length, "held by %s", holder->host);
    else
        append(text, size, &length, "held by %s@%s", holder->user, holder->host);
    if (holder->pid > 0)
        append(text, size, &length, " pid %" PRId64, holder->pid);
    if (*holder->host != '\0')
        append(text, size, &length, " for %s",
               seconds(held, holder->held_ms + rlock_now_ms() - holder->as_of_ms));
    if (*holder->command != '\0')
        append(text, size, &length, ", %s", holder->command);
}

void waitline_show(struct waitline *line, const rlock_client *client, const rlock_lock *lock) {
    const int64_t now = rlock_now_ms();
    const bool live = out_can_live();
    const struct rlock_holder *holder = rlock_blocker(lock);
    if (now < line->next_ms)
        return;
    /* It is the server that we wait for: it may be back in a moment, or the wait end with an error.
     */
    if (holder == NULL && !live && now < line->began_ms + SERVER_MS) {
        line->next_ms = now + LIVE_MS;
        return;
    }
    char why[TEXT_SIZE], text[TEXT_SIZE + RLOCK_NAME_MAX + 64], waited[DURATION_TEXT_SIZE];
    const char *name = holder != NULL ? holder->name : line->name;
    if (holder != NULL)
        waitline_holder(why, sizeof why, holder);
    else
        (void)snprintf(why, sizeof why, "cannot use %s: %s", rlock_client_server(client),
                       rlock_error(client));
    (void)snprintf(text, sizeof text, "waiting %s for %s: %s",
                   seconds(waited, now - line->began_ms), name, why);
    notify_status(text);
    if (live) {
        out_live("%s", text);
    } else {
        const struct out_field fields[] = {
            OUT_TEXT("name", name),
            OUT_TEXT("kind", line->kind),
            OUT_NUMBER("waited_ms", now - line->began_ms),
            OUT_TEXT("holder", holder != NULL ? holder->owner : NULL),
        };
        out_event(OUT_INFO, "waiting", fields, sizeof fields / sizeof fields[0], "%s", text);
    }
    line->next_ms = now + (live ? LIVE_MS : LINE_MS);
}

void waitline_end(void) {
    out_live_end();
}
