/* local_url.c: which directory, and which socket, a local: URL names. */
#include "options/local_url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The byte that a %XX here stands for; 0: there is none. */
static char escaped_byte(const char *text) {
    if (text[0] != '%' || !isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2]))
        return '\0';
    const char digits[] = {text[1], text[2], '\0'};
    return (char)strtoul(digits, NULL, 16);
}

/* %XX decoded; what is no %XX, and a NUL, stays. Yours to free; NULL: out of memory. */
static char *percent_decode(const char *text) {
    char *decoded = malloc(strlen(text) + 1), *to = decoded;
    for (; decoded != NULL && *text != '\0'; text++) {
        char byte = escaped_byte(text);
        if (byte != '\0')
            text += 2;
        else
            byte = *text;
        *to++ = byte;
    }
    if (decoded != NULL)
        *to = '\0';
    return decoded;
}

bool local_is(const char *server) {
    return strncmp(server, LOCAL_PREFIX, sizeof LOCAL_PREFIX - 1) == 0;
}

/* Decoded: "%2F" is a slash, too. */
bool local_is_relative(const char *server) {
    const char *dir = server + sizeof LOCAL_PREFIX - 1;
    return *dir != '\0' && *dir != '/' && strncasecmp(dir, "%2f", 3) != 0;
}

char *local_dir(const char *server) {
    char *dir = percent_decode(server + sizeof LOCAL_PREFIX - 1), *here = NULL, *made = NULL;
    int n = -1;
    if (dir != NULL && *dir == '\0')
        n = geteuid() == 0 ? asprintf(&made, "/run/rlock")
                           : asprintf(&made, "/tmp/rlock-%ld", (long)geteuid());
    else if (dir != NULL && *dir == '/')
        n = asprintf(&made, "%s", dir);
    else if (dir != NULL && (here = getcwd(NULL, 0)) != NULL)
        n = asprintf(&made, "%s/%s", here, dir);
    free(here);
    free(dir);
    if (n < 0)
        return NULL;
    /* With a slash behind it a symbolic link is what it leads to, also for O_NOFOLLOW. */
    for (size_t length = (size_t)n; length > 1 && made[length - 1] == '/'; length--)
        made[length - 1] = '\0';
    return made;
}

char *local_make_url(const char *scheme, const char *path) {
    char *url = malloc(strlen(scheme) + 3 * strlen(path) + 1);
    if (url == NULL)
        return NULL;
    char *to = stpcpy(url, scheme);
    for (; *path != '\0'; path++) {
        const unsigned char byte = (unsigned char)*path;
        to = byte <= ' ' || byte == '%' || byte == '?' ? to + sprintf(to, "%%%02X", byte)
                                                       : (*to = *path, to + 1);
    }
    *to = '\0';
    return url;
}
