/* describe.c: a lock's holder, in words; and this process's user, as holders are shown it. */
#include "output/describe.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "output/duration.h"

void describe_append(char *text, size_t size, size_t *length, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = *length < size ? vsnprintf(text + *length, size - *length, format, arguments) : 0;
    va_end(arguments);
    *length += n > 0 ? (size_t)n : 0;
}

void describe_holder(char *text, size_t size, const struct rlock_holder *holder) {
    char held[DURATION_TEXT_SIZE];
    const char *verb = holder->kept    ? "kept by --min-hold of"
                       : holder->waits ? "it is the turn of"
                                       : "held by";
    size_t length = 0;
    if (*holder->owner == '\0')
        describe_append(text, size, &length, "held by others");
    else if (*holder->host == '\0') /* not one of ours: a Redisson client leaves only its id */
        describe_append(text, size, &length, "%s %s", verb, holder->owner);
    else if (*holder->user == '\0')
        describe_append(text, size, &length, "%s %s", verb, holder->host);
    else
        describe_append(text, size, &length, "%s %s@%s", verb, holder->user, holder->host);
    if (holder->pid > 0 && !holder->kept) /* that process is gone */
        describe_append(text, size, &length, " pid %" PRId64, holder->pid);
    const int64_t held_ms = holder->held_ms + rlock_now_ms() - holder->as_of_ms;
    if (*holder->host != '\0' && held_ms > 0 && !holder->waits)
        describe_append(text, size, &length, " for %s", duration_format_seconds(held, held_ms));
    if (*holder->note != '\0')
        describe_append(text, size, &length, " (%s)", holder->note);
    if (*holder->command != '\0')
        describe_append(text, size, &length, ", %s", holder->command);
}

static const char *known(const char *text) {
    return text != NULL ? text : "";
}

int64_t describe_age_ms(const rlock_view *view, int64_t since_ms) {
    if (since_ms < 0 || view->as_of_ms < 0)
        return -1;
    return view->as_of_ms > since_ms ? view->as_of_ms - since_ms : 0;
}

void describe_seen(char *text, size_t size, const rlock_view *view,
                   const struct rlock_view_holder *holder, int64_t seen_ms) {
    const int64_t held_ms = describe_age_ms(view, holder->since_ms);
    const struct rlock_holder shown = {
        .owner = known(holder->owner),
        .host = known(holder->host),
        .user = known(holder->user),
        .command = known(holder->command),
        .pid = holder->pid,
        .held_ms = held_ms > 0 ? held_ms : 0,
        .as_of_ms = seen_ms,
        .kept = holder->kept,
        .note = known(holder->note),
    };
    describe_holder(text, size, &shown);
}

/* The user's name in the machine's own list. Not by getpwuid(3), which loads the name service and
 * may ask the network. */
static bool find_user(char text[DESCRIBE_USER_SIZE]) {
    FILE *stream = fopen("/etc/passwd", "re");
    const struct passwd *entry = NULL;
    while (stream != NULL && (entry = fgetpwent(stream)) != NULL && entry->pw_uid != geteuid())
        continue;
    if (entry != NULL)
        (void)snprintf(text, DESCRIBE_USER_SIZE, "%s", entry->pw_name);
    if (stream != NULL)
        fclose(stream);
    return entry != NULL;
}

void describe_user(char text[DESCRIBE_USER_SIZE]) {
    const char *user = getenv("LOGNAME");
    if (user == NULL || *user == '\0')
        user = getenv("USER");
    if (user != NULL && *user != '\0')
        (void)snprintf(text, DESCRIBE_USER_SIZE, "%s", user);
    else if (!find_user(text))
        (void)snprintf(text, DESCRIBE_USER_SIZE, "%ld", (long)geteuid());
}
