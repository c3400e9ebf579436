/* json.c: writes JSON (RFC 8259), which is all that rlock needs of it. */
#include "output/json.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/printable.h"

static void begin(struct json *json, const char *name) {
    if (json->follows)
        fputc(',', json->stream);
    if (name != NULL)
        fprintf(json->stream, "\"%s\":", name);
    json->follows = true;
}

/* \uXXXX, in two parts beyond the first 65,536. */
static void escape(FILE *stream, uint32_t character) {
    if (character >= 0x10000) {
        character -= 0x10000;
        fprintf(stream, "\\u%04" PRIx32, 0xd800 | character >> 10);
        character = 0xdc00 | (character & 0x3ff);
    }
    fprintf(stream, "\\u%04" PRIx32, character);
}

static void quote(FILE *stream, const char *text) {
    fputc('"', stream);
    for (size_t length; *text != '\0'; text += length > 0 ? length : 1) {
        uint32_t character;
        length = printable_character(text, &character);
        if (length == 0)
            fputs("\xef\xbf\xbd", stream); /* U+FFFD */
        else if (character == '"' || character == '\\')
            fprintf(stream, "\\%c", *text);
        else if (printable_is(character))
            fwrite(text, 1, length, stream);
        else
            escape(stream, character);
    }
    fputc('"', stream);
}

void json_open(struct json *json, const char *name, char bracket) {
    begin(json, name);
    fputc(bracket, json->stream);
    json->follows = false;
}

void json_close(struct json *json, char bracket) {
    fputc(bracket, json->stream);
    json->follows = true;
}

void json_text(struct json *json, const char *name, const char *text) {
    begin(json, name);
    if (text != NULL)
        quote(json->stream, text);
    else
        fputs("null", json->stream);
}

void json_words(struct json *json, const char *name, const char *words) {
    char *shown = words != NULL ? strdup(words) : NULL;
    if (shown != NULL)
        secret_hide(shown);
    json_text(json, name, shown);
    free(shown);
}

void json_number(struct json *json, const char *name, int64_t number) {
    begin(json, name);
    fprintf(json->stream, "%" PRId64, number);
}

void json_bool(struct json *json, const char *name, bool truth) {
    begin(json, name);
    fputs(truth ? "true" : "false", json->stream);
}

void json_instant(struct json *json, const char *name, int64_t ms) {
    const time_t seconds = (time_t)(ms / 1000);
    struct tm utc;
    char day[32], text[48];
    const bool known = ms >= 0 && gmtime_r(&seconds, &utc) != NULL &&
                       strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc) > 0;
    if (known)
        (void)snprintf(text, sizeof text, "%s.%03dZ", day, (int)(ms % 1000));
    json_text(json, name, known ? text : NULL);
}
