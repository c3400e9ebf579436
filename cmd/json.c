/* json.c: cJSON, loaded on first need. */
#include "json.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libcjson.so.1"

bool json_load(struct json *json) {
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define FUNCTION(name) {"cJSON_" #name, offsetof(struct json, name)}
        FUNCTION(CreateObject),
        FUNCTION(CreateArray),
        FUNCTION(AddItemToArray),
        FUNCTION(AddItemToObject),
        FUNCTION(AddStringToObject),
        FUNCTION(AddRawToObject),
        FUNCTION(PrintUnformatted),
        FUNCTION(Delete),
        FUNCTION(free),
#undef FUNCTION
    };
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        /* ISO C has no cast from a data pointer to a function's; POSIX says they are the same. */
        void *function = dlsym(library, functions[i].name);
        if (function == NULL)
            return false;
        memcpy((char *)json + functions[i].offset, &function, sizeof function);
    }
    return true;
}

/* How many bytes the UTF-8 character at text takes; 0: none begins there. */
static size_t character_length(const unsigned char *text) {
    if (text[0] < 0x80)
        return 1;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    unsigned char first = text[0], second = text[1];
    if (first < 0xc2 || first > 0xf4)
        return 0;
    /* Written longer than needed, a surrogate, or beyond U+10FFFF. */
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

/* Yours to free; NULL: no memory. */
static char *make_utf8(const char *text) {
    char *clean = malloc(3 * strlen(text) + 1);
    if (clean == NULL)
        return NULL;
    char *end = clean;
    while (*text != '\0') {
        size_t length = character_length((const unsigned char *)text);
        const char *from = length > 0 ? text : "\xef\xbf\xbd"; /* U+FFFD */
        size_t copied = length > 0 ? length : 3;
        memcpy(end, from, copied);
        end += copied;
        text += length > 0 ? length : 1;
    }
    *end = '\0';
    return clean;
}

bool json_add_text(const struct json *json, cJSON *object, const char *name, const char *text) {
    char *clean = make_utf8(text);
    bool added = clean != NULL && json->AddStringToObject(object, name, clean) != NULL;
    free(clean);
    return added;
}

bool json_add_number(const struct json *json, cJSON *object, const char *name, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    return json->AddRawToObject(object, name, digits) != NULL;
}
