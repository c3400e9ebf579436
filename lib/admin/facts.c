/* facts.c: what was found out about servers: names and values. */
#include "admin/facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/resp.h"

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
    const size_t i = facts->count++;
    facts->at[i].name = name;
    facts->at[i].value = value;
    facts->at[i].is_number = rlock__resp_whole(value, &facts->at[i].number);
}

void rlock__fact_add(struct rlock__facts *facts, const char *name, const char *format, ...) {
    char *value = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&value, format, arguments);
    va_end(arguments);
    add(facts, strdup(name), length >= 0 ? value : NULL);
}

void rlock__fact_add_number(struct rlock__facts *facts, const char *name, int64_t number) {
    rlock__fact_add(facts, name, "%" PRId64, number);
}

void rlock__fact_add_lines(struct rlock__facts *facts, const char *text) {
    while (*text != '\0' && facts->count < LINES_MAX) {
        const size_t length = strcspn(text, "\r\n");
        const char *colon = memchr(text, ':', length);
        if (colon != NULL && *text != '#') {
            const size_t before = (size_t)(colon - text);
            add(facts, strndup(text, before), strndup(colon + 1, length - before - 1));
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

/* SIZE_MAX: there is none. */
static size_t find(const struct rlock__facts *facts, const char *name) {
    for (size_t i = 0; i < facts->count; i++) {
        if (strcmp(facts->at[i].name, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

const char *rlock__fact_text(const struct rlock__facts *facts, const char *name) {
    const size_t i = find(facts, name);
    return i != SIZE_MAX ? facts->at[i].value : NULL;
}

bool rlock__fact_number(const struct rlock__facts *facts, const char *name, int64_t *out) {
    const size_t i = find(facts, name);
    if (i == SIZE_MAX || !facts->at[i].is_number)
        return false;
    *out = facts->at[i].number;
    return true;
}

const char *rlock_fact(const rlock_facts *facts, size_t server, const char *name) {
    return server < facts->count ? rlock__fact_text(&facts->servers[server], name) : NULL;
}

bool rlock_fact_number(const rlock_facts *facts, size_t server, const char *name, int64_t *out) {
    return server < facts->count && rlock__fact_number(&facts->servers[server], name, out);
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
