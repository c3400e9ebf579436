/* facts.c: what was found out about servers: names and values. */
#include "admin/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 4096 }; /* of one server: INFO has some 200 */

static void add(struct rlock__facts *facts, char *name, char *value) {
    void *more = realloc(facts->at, (facts->count + 1) * sizeof *facts->at);
    if (more != NULL)
        facts->at = more;
    if (more == NULL || name == NULL || value == NULL) {
        facts->incomplete = true;
        free(name);
        free(value);
        return;
    }
    facts->at[facts->count].name = name;
    facts->at[facts->count++].value = value;
}

void rlock__fact_add(struct rlock__facts *facts, const char *name, const char *format, ...) {
    char *value = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&value, format, arguments);
    va_end(arguments);
    add(facts, strdup(name), length >= 0 ? value : NULL);
}

void rlock__fact_add_lines(struct rlock__facts *facts, const char *prefix, const char *text) {
    while (*text != '\0' && facts->count < LINES_MAX) {
        const size_t length = strcspn(text, "\r\n");
        const char *colon = memchr(text, ':', length);
        char *name = NULL;
        if (colon != NULL && *text != '#') {
            const size_t before = (size_t)(colon - text);
            const bool named = asprintf(&name, "%s%.*s", prefix, (int)before, text) >= 0;
            add(facts, named ? name : NULL, strndup(colon + 1, length - before - 1));
        }
        text += length;
        text += strspn(text, "\r\n");
    }
}

struct rlock__facts *rlock__facts_of_another(rlock_facts *facts) {
    struct rlock__facts *servers =
        realloc(facts->servers, (facts->count + 1) * sizeof *facts->servers);
    if (servers == NULL)
        return NULL;
    facts->servers = servers;
    servers[facts->count] = (struct rlock__facts){.count = 0};
    return &servers[facts->count++];
}

size_t rlock_facts_servers(const rlock_facts *facts) {
    return facts->count;
}

const char *rlock_fact(const rlock_facts *facts, size_t server, const char *name) {
    const struct rlock__facts *of = &facts->servers[server];
    for (size_t i = 0; server < facts->count && i < of->count; i++) {
        if (strcmp(of->at[i].name, name) == 0)
            return of->at[i].value;
    }
    return NULL;
}

void rlock_facts_free(rlock_facts *facts) {
    if (facts == NULL)
        return;
    for (size_t i = 0; i < facts->count; i++) {
        for (size_t j = 0; j < facts->servers[i].count; j++) {
            free(facts->servers[i].at[j].name);
            free(facts->servers[i].at[j].value);
        }
        free(facts->servers[i].at);
    }
    free(facts->servers);
    free(facts);
}
