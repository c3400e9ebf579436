/* json.h: writes JSON, one value after the other, to a stream in memory. */
#ifndef RLOCK_CMD_JSON_H
#define RLOCK_CMD_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *stream;
    bool follows; /* a value, so that the next one needs a comma */
};

/* Each writes a value: as the member `name` of an object, or with NULL as an element of an array
 * or by itself. Whether all was written fclose(3) says. */

/* bracket: '{' or '['. Close it with the other one. */
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);

/* Bytes that are no UTF-8 become U+FFFD. A character that is not printable (printable.h) is
 * escaped, so that the line may be shown on a terminal; it is still that character. NULL: null. */
void json_text(struct json *json, const char *name, const char *text);

/* The same of words that others wrote, without the passwords in them; out of memory: null. */
void json_words(struct json *json, const char *name, const char *words);

void json_number(struct json *json, const char *name, int64_t number);
void json_bool(struct json *json, const char *name, bool truth);

/* A time in milliseconds since 1970, as RFC 3339 has it, in UTC; negative: null. */
void json_instant(struct json *json, const char *name, int64_t ms);

#endif
