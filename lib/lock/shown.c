/* shown.c: what others are shown of who holds a lock or waits for it. */
#include "lock/shown.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ESCAPED_MAX = sizeof "\\u0000" - 1 };

/* As it stands in a JSON string. Bytes that are no UTF-8 go as they are: who shows them cares for
 * that. Yours to free; NULL: no memory. */
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

char *rlock__shown(const char *host, const char *user, const char *command, const char *note,
                   const char *permits) {
    char *texts[] = {escape(host), escape(user), escape(command), escape(note)}, *out = NULL;
    const bool has_note = texts[3] != NULL && *texts[3] != '\0';
    if (texts[0] == NULL || texts[1] == NULL || texts[2] == NULL || texts[3] == NULL ||
        asprintf(&out,
                 "\"host\":\"%s\",\"pid\":%ld,\"user\":\"%s\",\"command\":\"%s\",%s%s%s"
                 "\"permits\":%s",
                 texts[0], (long)getpid(), texts[1], texts[2], has_note ? "\"note\":\"" : "",
                 texts[3], has_note ? "\"," : "", permits) < 0)
        out = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    return out;
}
