/* json.h: cJSON, loaded on first need: a plain run must not pay for mapping it. */
#ifndef RLOCK_CMD_JSON_H
#define RLOCK_CMD_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* The functions of cJSON that rlock calls, by their names without "cJSON_". */
struct json {
    __typeof__(cJSON_CreateObject) *CreateObject;
    __typeof__(cJSON_CreateArray) *CreateArray;
    __typeof__(cJSON_AddItemToArray) *AddItemToArray;
    __typeof__(cJSON_AddItemToObject) *AddItemToObject;
    __typeof__(cJSON_AddStringToObject) *AddStringToObject;
    __typeof__(cJSON_AddRawToObject) *AddRawToObject;
    __typeof__(cJSON_PrintUnformatted) *PrintUnformatted;
    __typeof__(cJSON_Delete) *Delete;
    __typeof__(cJSON_free) *free;
};

/* Finds them. False: the library, or one of them, is not there. It stays loaded until the end. */
bool json_load(struct json *json);

/* Adds a member; bytes that are no UTF-8 become U+FFFD, for cJSON passes them through and no parser
 * would take the line. False: no memory. */
bool json_add_text(const struct json *json, cJSON *object, const char *name, const char *text);

/* Adds a whole number, all its digits: cJSON's own numbers are doubles, and tokens may be larger.
 */
bool json_add_number(const struct json *json, cJSON *object, const char *name, int64_t number);

/* The text of it, on one line. A character that is not printable (printable.h) is escaped, so that
 * the line may be shown on a terminal; it is still that character. Yours to free; NULL: no memory.
 */
char *json_print(const struct json *json, const cJSON *item);
#endif
