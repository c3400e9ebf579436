/* shown.c: what others are shown of a lock's holder or waiter. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/lock.h"

enum { HOST_SIZE = 256, POOL_SIZE = 256, ESCAPED_MAX = sizeof "\\u0000" - 1 };

/* As it stands in a JSON string. Bytes that are no UTF-8 go as they are: the program that
 * shows them cares for that. Yours to free; NULL: no memory. */
static char *escape(const char *text) {
    text = text != NULL ? text : "";
    char *out = malloc(ESCAPED_MAX * strlen(text) + 1), *to = out;
    for (; out != NULL && *text != '\0'; text++) {
        if ((unsigned char)*text < ' ') {
            to += sprintf(to, "\\u%04x", (unsigned)*text);
        } else {
            if (*text == '"' || *text == '\\')
                *to++ = '\\';
            *to++ = *text;
        }
    }
    if (out != NULL)
        *to = '\0';
    return out;
}

/* A pool's names in the order in which they were given, as far as they are short: "1 of dev1,
 * dev2". Returns the text. */
static const char *describe_pool(char text[POOL_SIZE + sizeof ", ..."],
                                 const struct rlock_lock_options *options) {
    size_t length = (size_t)sprintf(text, "%" PRId64 " of ", options->any);
    for (size_t i = 0; i < options->name_count; i++) {
        const char *comma = i > 0 ? ", " : "";
        if (length + strlen(comma) + strlen(options->names[i]) >= POOL_SIZE) {
            (void)sprintf(text + length, "%s...", comma);
            break;
        }
        length += (size_t)sprintf(text + length, "%s%s", comma, options->names[i]);
    }
    return text;
}

char *rlock__shown(const struct rlock_lock_options *options, const char *host,
                   const char *permits) {
    const bool is_pool = options->any > 0, has_note = options->note != NULL && *options->note;
    char pool[POOL_SIZE + sizeof ", ..."], *out = NULL;
    char *texts[] = {escape(host), escape(options->user), escape(options->command),
                     escape(options->note), escape(is_pool ? describe_pool(pool, options) : "")};
    bool made = true;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        made = made && texts[i] != NULL;
    if (made && asprintf(&out,
                         "\"host\":\"%s\",\"pid\":%ld,\"user\":\"%s\",\"command\":\"%s\",%s%s%s"
                         "\"permits\":%s%s%s%s%s%s",
                         texts[0], (long)getpid(), texts[1], texts[2],
                         has_note ? "\"note\":\"" : "", texts[3], has_note ? "\"," : "", permits,
                         options->preemptible ? ",\"preemptible\":true" : "",
                         options->no_command ? ",\"no_command\":true" : "",
                         is_pool ? ",\"any\":\"" : "", texts[4], is_pool ? "\"" : "") < 0)
        out = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    return out;
}

/* The name by which we ask holders to end: "USER@HOST pid PID (NOTE)". Yours to free; NULL: no
 * memory. */
static char *describe_us(const struct rlock_lock_options *options, const char *host) {
    const char *user = options->user != NULL ? options->user : "";
    const char *note = options->note != NULL ? options->note : "";
    char *out = NULL;
    if (asprintf(&out, "%s%s%s pid %ld%s%s%s", user, *user != '\0' ? "@" : "", host, (long)getpid(),
                 *note != '\0' ? " (" : "", note, *note != '\0' ? ")" : "") < 0)
        return NULL;
    return out;
}

/* "UUID:PID@HOST": Redisson's form is UUID:ID, and no client reads the ID. */
bool rlock__introduce(struct rlock_lock *lock, const struct rlock_lock_options *options,
                      const char *owner) {
    char uuid[RLOCK__UUID_SIZE];
    char host[HOST_SIZE] = "";
    if (owner == NULL && !rlock__random_uuid(uuid))
        return false;
    (void)gethostname(host, sizeof host - 1);
    for (char *c = host; *c != '\0'; c++) {
        if (*c == ':' || (unsigned char)*c <= ' ')
            *c = '-';
    }
    lock->preemptible = options->preemptible;
    lock->preempts_as = options->preempt ? describe_us(options, host) : NULL;
    lock->shown = rlock__shown(options, host, lock->permits_text);
    if (owner != NULL)
        lock->owner = strdup(owner);
    else if (asprintf(&lock->owner, "%s:%ld@%s", uuid, (long)getpid(), host) < 0)
        lock->owner = NULL;
    return lock->owner != NULL && lock->shown != NULL &&
           (lock->preempts_as != NULL || !options->preempt);
}
