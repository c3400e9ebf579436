/* secret.c: passwords in a text that is not ours.
 *
 * Where a URL ends and which '@' is the last of its password cannot be known of a text that no
 * parser has taken: rather hide too much. Words end at white space. */
#include "output/printable.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define SPACE       " \t\r\n\v\f"
#define LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SCHEME_REST LETTERS "0123456789+-."

enum { STARS = 3 };

/* Puts stars in the place of so many characters. Returns what follows. */
static char *hide(char *from, size_t length) {
    const size_t stars = length < STARS ? length : STARS;
    memset(from, '*', stars);
    memmove(from + stars, from + length, strlen(from + length) + 1);
    return from + stars;
}

static bool is_among(char c, const char *set) {
    return c != '\0' && strchr(set, c) != NULL;
}

/* Where the scheme before this "://" begins. */
static char *scheme_start(const char *text, char *colon) {
    while (colon > text && is_among(colon[-1], SCHEME_REST))
        colon--;
    return colon;
}

/* Whether rlock reads URLs of that scheme: in those the last '@' ends the password, and the
 * password may have anything in it. */
static bool is_ours(const char *scheme, size_t length) {
    static const char *const schemes[] = {"redis",    "rediss",  "valkey",    "valkeys",
                                          "sentinel", "cluster", "sentinels", "clusters"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (strlen(schemes[i]) == length && strncasecmp(schemes[i], scheme, length) == 0)
            return true;
    }
    return false;
}

/* The '@' behind user and password; NULL: there is none. In a foreign URL a path may have one, too:
 * it is the last before the first end of a host. */
static char *end_of_login(char *from, size_t length, bool ours) {
    char *at = ours ? memrchr(from, '@', length) : memchr(from, '@', length);
    if (at == NULL || ours)
        return at;
    const size_t left = length - (size_t)(at - from);
    size_t run = 0;
    while (run < left && !is_among(at[run], "/?#\"'`<>()|;&,"))
        run++;
    return memrchr(at, '@', run);
}

/* How far the URL behind this "://" may go: to white space, or to the next one. */
static size_t reach(char *from) {
    const size_t length = strcspn(from, SPACE);
    const char *next = strstr(from, "://");
    if (next == NULL || next >= from + length)
        return length;
    return (size_t)(scheme_start(from, (char *)next) - from);
}

/* A text that was cut may end within a password: then what stands there is no port. */
static char *hide_rest(char *from) {
    char *colon = from + strcspn(from, ":/?#" SPACE);
    if (*from == '[' || *colon != ':' || colon[strcspn(colon, SPACE)] != '\0')
        return from;
    const char *port = colon + 1;
    const char *behind = port + strspn(port, "0123456789");
    return *port == '\0' || (behind > port && (*behind == '\0' || is_among(*behind, "/,?#\"')")))
               ? from
               : hide(colon + 1, strlen(port));
}

/* Of one URL. Returns where to look on. */
static char *hide_login(char *text, char *separator) {
    char *const scheme = scheme_start(text, separator), *const from = separator + 3;
    const bool ours = is_ours(scheme, (size_t)(separator - scheme));
    char *at = end_of_login(from, reach(from), ours);
    if (at == NULL && ours) /* a password with a "://" in it */
        at = memrchr(from, '@', strcspn(from, SPACE));
    if (at == NULL)
        return hide_rest(from);
    char *colon = memchr(from, ':', (size_t)(at - from));
    if (colon == NULL || (!ours && strcspn(from, "/?#") < (size_t)(colon - from)))
        return from; /* a user alone, or a path with both in it */
    return hide(colon + 1, (size_t)(at - colon) - 1);
}

/* To the closing quote, or to what may end a word of a shell or of a query. */
static char *hide_value(char *from) {
    if (*from == '\'' || *from == '"') {
        const char *end = strchr(from + 1, *from);
        return hide(from + 1, end != NULL ? (size_t)(end - from) - 1 : strlen(from + 1));
    }
    return hide(from, strcspn(from, SPACE "&;|\"'`)"));
}

void secret_hide(char *text) {
    static const char *const keys[] = {"password=", "passwd="};
    for (char *at = strstr(text, "://"); at != NULL; at = strstr(at, "://"))
        at = hide_login(text, at);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        for (char *at = strcasestr(text, keys[i]); at != NULL; at = strcasestr(at, keys[i]))
            at = hide_value(at + strlen(keys[i]));
    }
}
