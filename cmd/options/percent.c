/* percent.c: %XX in URLs. */
#include "options/percent.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The byte that a %XX here stands for; 0: there is none. */
static char escaped_byte(const char *text) {
    if (text[0] != '%' || !isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2]))
        return '\0';
    const char digits[] = {text[1], text[2], '\0'};
    return (char)strtoul(digits, NULL, 16);
}

char *percent_decode(const char *text) {
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

char *percent_url(const char *scheme, const char *path) {
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
