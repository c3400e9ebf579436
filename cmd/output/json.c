/* json.c: cJSON, loaded on first need. */
#include "output/json.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/printable.h"

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

/* Yours to free; NULL: no memory. */
static char *make_utf8(const char *text) {
    char *clean = malloc(3 * strlen(text) + 1);
    if (clean == NULL)
        return NULL;
    char *end = clean;
    while (*text != '\0') {
        uint32_t character;
        size_t length = printable_character(text, &character);
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

/* \uXXXX, in two parts beyond the first 65,536. Returns the end. */
static char *escape(char *to, uint32_t character) {
    if (character < 0x10000)
        return to + sprintf(to, "\\u%04x", (unsigned)character);
    character -= 0x10000;
    return to + sprintf(to, "\\u%04x\\u%04x", 0xd800U | (unsigned)(character >> 10),
                        0xdc00U | ((unsigned)character & 0x3ffU));
}

/* What is not ASCII stands in strings only, where an escape means the same. */
char *json_print(const struct json *json, const cJSON *item) {
    char *printed = json->PrintUnformatted(item);
    char *text = printed != NULL ? malloc(6 * strlen(printed) + 1) : NULL, *to = text;
    for (const char *from = printed; text != NULL && *from != '\0';) {
        uint32_t character = 0;
        size_t length = printable_character(from, &character);
        if (length > 0 && !printable_is(character)) {
            to = escape(to, character);
        } else {
            length = length > 0 ? length : 1;
            memcpy(to, from, length);
            to += length;
        }
        from += length > 0 ? length : 1;
    }
    if (text != NULL)
        *to = '\0';
    json->free(printed);
    return text;
}
