/* environment.c: what rlock passes on in the environment.
 *
 * RLOCK_NAME, RLOCK_OWNER and RLOCK_TOKEN are of the innermost hold, one name a line. RLOCK_HOLDS
 * is our record of the holds around it, one a line: TOKEN OWNER KIND NAME; a name has no newline.
 * The server checks owner and token together, so a stale or invented line proves nothing. */
#include "hold/environment.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts the next piece off at any of the delimiters; NULL at the end. */
static char *cut(char **rest, const char *delimiters) {
    return *rest != NULL ? strsep(rest, delimiters) : NULL;
}

/* One word of small letters: it is written again, on a line of several words. */
static bool is_kind(const char *text) {
    return *text != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

static void add(struct environment *out, const char *name, const char *kind, const char *owner,
                const char *token) {
    char *end = NULL;
    if (name == NULL || kind == NULL || owner == NULL || token == NULL || *name == '\0' ||
        *owner == '\0' || !is_kind(kind))
        return;
    const long long number = strtoll(token, &end, 10);
    if (*end != '\0' || end == token || number < 1)
        return;
    out->kinds[out->count] = kind;
    out->proofs[out->count++] = (struct rlock_proof){name, owner, number};
}

static void read_record(struct environment *out, char *record) {
    char *line;
    while ((line = cut(&record, "\n")) != NULL) {
        const char *token = cut(&line, " ");
        const char *owner = cut(&line, " ");
        const char *kind = cut(&line, " ");
        add(out, line, kind, owner, token);
    }
}

static void read_innermost(struct environment *out, char *names, char *kinds, char *owners,
                           char *tokens) {
    char *name;
    while ((name = cut(&names, "\n")) != NULL) {
        const char *kind = cut(&kinds, "\n");
        const char *owner = cut(&owners, "\n");
        add(out, name, kind, owner, cut(&tokens, "\n"));
    }
}

/* At least as many as the text has. */
static size_t count_lines(const char *text) {
    size_t lines = 1;
    for (; text != NULL && *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

bool environment_read(struct environment *out) {
    static const char *const variables[] = {"RLOCK_HOLDS", "RLOCK_NAME", "RLOCK_KIND",
                                            "RLOCK_OWNER", "RLOCK_TOKEN"};
    enum { HOLDS, NAME, KIND, OWNER, TOKEN, COUNT };
    const char *values[COUNT];
    char *copies[COUNT] = {NULL};
    size_t size = 0;
    *out = (struct environment){.count = 0};
    for (int i = 0; i < COUNT; i++) {
        values[i] = getenv(variables[i]);
        size += values[i] != NULL ? strlen(values[i]) + 1 : 0;
    }
    if (size == 0)
        return true;
    const size_t most = count_lines(values[HOLDS]) + count_lines(values[NAME]);
    out->storage = malloc(size);
    out->proofs = calloc(most, sizeof *out->proofs);
    out->kinds = calloc(most, sizeof *out->kinds);
    if (out->storage == NULL || out->proofs == NULL || out->kinds == NULL) {
        environment_free(out);
        return false;
    }
    char *to = out->storage;
    for (int i = 0; i < COUNT; i++) {
        if (values[i] == NULL)
            continue;
        copies[i] = to;
        to = stpcpy(to, values[i]) + 1;
    }
    read_record(out, copies[HOLDS]);
    out->inner = out->count;
    read_innermost(out, copies[NAME], copies[KIND], copies[OWNER], copies[TOKEN]);
    if (out->inner == out->count && out->count > 0)
        out->inner--; /* one that holds nothing, as of a latch */
    return true;
}

void environment_free(struct environment *environment) {
    free(environment->proofs);
    free(environment->kinds);
    free(environment->storage);
    *environment = (struct environment){.count = 0};
}

static bool held_now(const rlock_lock *lock, const char *name) {
    const struct rlock_hold *hold;
    for (size_t i = 0; lock != NULL && (hold = rlock_hold_at(lock, i)) != NULL; i++) {
        if (strcmp(hold->name, name) == 0)
            return true;
    }
    return false;
}

/* A list of texts that grows in a place of limited size. */
struct list {
    char *at;
    size_t left;
    bool full;
};

__attribute__((format(printf, 2, 3))) static void append(struct list *list, const char *format,
                                                         ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(list->at, list->left, format, arguments);
    va_end(arguments);
    list->full = list->full || n < 0 || (size_t)n >= list->left;
    if (list->full)
        return;
    list->at += n;
    list->left -= (size_t)n;
}

/* Ends one text; the next begins behind its NUL. */
static void end_text(struct list *list) {
    list->full = list->full || list->left < 2;
    if (list->full)
        return;
    *list->at++ = '\0';
    *list->at = '\0';
    list->left--;
}

static void append_text(struct list *list, const char *variable, const char *value) {
    append(list, "%s%s", variable, value);
    end_text(list);
}

/* The record of the holds around this one; without any, the variable goes. lock: NULL for none. */
static void append_record(struct list *list, const struct environment *enclosing,
                          const rlock_lock *lock) {
    const char *before = "=";
    append(list, "RLOCK_HOLDS");
    for (size_t i = 0; i < enclosing->count; i++) {
        const struct rlock_proof *proof = &enclosing->proofs[i];
        if (held_now(lock, proof->name)) /* the same hold re-entered, or a stale one */
            continue;
        append(list, "%s%" PRId64 " %s %s %s", before, proof->token, proof->owner,
               enclosing->kinds[i], proof->name);
        before = "\n";
    }
    end_text(list);
}

enum column { COLUMN_NAME, COLUMN_KIND, COLUMN_OWNER, COLUMN_TOKEN };

static void append_column(struct list *list, const rlock_lock *lock, const char *kind,
                          enum column column, const char *variable) {
    const struct rlock_hold *hold;
    const char *before = "=";
    append(list, "%s", variable);
    for (size_t i = 0; (hold = rlock_hold_at(lock, i)) != NULL; i++, before = "\n") {
        switch (column) {
        case COLUMN_NAME: append(list, "%s%s", before, hold->name); break;
        case COLUMN_KIND: append(list, "%s%s", before, kind); break;
        case COLUMN_OWNER: append(list, "%s%s", before, hold->owner); break;
        case COLUMN_TOKEN: append(list, "%s%" PRId64, before, hold->token); break;
        }
    }
    end_text(list);
}

static void append_server(struct list *list, const char *server) {
    if (server != NULL)
        append_text(list, "RLOCK_SERVER=", server);
}

bool environment_write(const struct environment *enclosing, const rlock_lock *lock,
                       const char *kind, const char *server, char *list, size_t size) {
    struct list texts = {.at = list, .left = size};
    append_record(&texts, enclosing, lock);
    append_column(&texts, lock, kind, COLUMN_NAME, "RLOCK_NAME");
    append_column(&texts, lock, kind, COLUMN_KIND, "RLOCK_KIND");
    append_column(&texts, lock, kind, COLUMN_OWNER, "RLOCK_OWNER");
    append_column(&texts, lock, kind, COLUMN_TOKEN, "RLOCK_TOKEN");
    append_server(&texts, server);
    return !texts.full;
}

bool environment_write_name(const struct environment *enclosing, const char *name, const char *kind,
                            const char *server, char *list, size_t size) {
    struct list texts = {.at = list, .left = size};
    append_record(&texts, enclosing, NULL);
    append_text(&texts, "RLOCK_NAME=", name);
    append_text(&texts, "RLOCK_KIND=", kind);
    append_text(&texts, "RLOCK_OWNER", "");
    append_text(&texts, "RLOCK_TOKEN", "");
    append_server(&texts, server);
    return !texts.full;
}
