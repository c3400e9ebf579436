/* holds.c: what rlock hands down in the environment.
 *
 * RLOCK_NAME, RLOCK_OWNER and RLOCK_TOKEN tell of the innermost hold, one name a line. RLOCK_HOLDS
 * is our record of the holds around it, one a line: TOKEN OWNER KIND NAME; a name has no newline.
 * The server checks owner and token together, so a stale or invented line proves nothing. */
#include "holds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROOFS_MAX = 256 };

/* Cuts the next piece off at any of the delimiters; NULL at the end. */
static char *cut(char **rest, const char *delimiters) {
    return *rest != NULL ? strsep(rest, delimiters) : NULL;
}

static void add(struct holds *out, const char *name, const char *kind, const char *owner,
                const char *token) {
    char *end = NULL;
    if (name == NULL || kind == NULL || owner == NULL || token == NULL || *name == '\0' ||
        *owner == '\0' || out->count == PROOFS_MAX || strcmp(kind, "run") != 0)
        return;
    const long long number = strtoll(token, &end, 10);
    if (*end != '\0' || end == token || number < 1)
        return;
    out->proofs[out->count++] = (struct rlock_proof){name, owner, number};
}

static void read_record(struct holds *out, char *record) {
    char *line;
    while ((line = cut(&record, "\n")) != NULL) {
        const char *token = cut(&line, " ");
        const char *owner = cut(&line, " ");
        const char *kind = cut(&line, " ");
        add(out, line, kind, owner, token);
    }
}

static void read_innermost(struct holds *out, char *names, char *kinds, char *owners,
                           char *tokens) {
    char *name;
    while ((name = cut(&names, "\n")) != NULL) {
        const char *kind = cut(&kinds, "\n");
        const char *owner = cut(&owners, "\n");
        add(out, name, kind, owner, cut(&tokens, "\n"));
    }
}

bool holds_read(struct holds *out) {
    static const char *const variables[] = {"RLOCK_HOLDS", "RLOCK_NAME", "RLOCK_KIND",
                                            "RLOCK_OWNER", "RLOCK_TOKEN"};
    enum { HOLDS, NAME, KIND, OWNER, TOKEN, COUNT };
    const char *values[COUNT];
    char *copies[COUNT] = {NULL};
    size_t size = 0;
    *out = (struct holds){.count = 0};
    for (int i = 0; i < COUNT; i++) {
        values[i] = getenv(variables[i]);
        size += values[i] != NULL ? strlen(values[i]) + 1 : 0;
    }
    if (size == 0)
        return true;
    out->storage = malloc(size);
    out->proofs = calloc(PROOFS_MAX, sizeof *out->proofs);
    if (out->storage == NULL || out->proofs == NULL) {
        holds_free(out);
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
    read_innermost(out, copies[NAME], copies[KIND], copies[OWNER], copies[TOKEN]);
    return true;
}

void holds_free(struct holds *holds) {
    free(holds->proofs);
    free(holds->storage);
    *holds = (struct holds){.count = 0};
}

static bool held_now(const rlock_lock *lock, const char *name) {
    const struct rlock_hold *hold;
    for (size_t i = 0; (hold = rlock_hold_at(lock, i)) != NULL; i++) {
        if (strcmp(hold->name, name) == 0)
            return true;
    }
    return false;
}

/* Sets a variable to what was written to the stream, less the last newline. */
static bool set_from(FILE *stream, char **text, const char *variable) {
    bool good = stream != NULL && fclose(stream) == 0 && *text != NULL;
    if (good && **text != '\0') {
        (*text)[strlen(*text) - 1] = '\0';
        good = setenv(variable, *text, 1) == 0;
    } else if (good) {
        good = unsetenv(variable) == 0;
    }
    free(*text);
    *text = NULL;
    return good;
}

static bool hand_down_record(const struct holds *around, const rlock_lock *lock) {
    char *text = NULL;
    size_t size = 0;
    if (around->count == 0)
        return true;
    FILE *stream = open_memstream(&text, &size);
    for (size_t i = 0; stream != NULL && i < around->count; i++) {
        const struct rlock_proof *proof = &around->proofs[i];
        if (!held_now(lock, proof->name)) /* else the inner hold is the same one, or it was stale */
            fprintf(stream, "%" PRId64 " %s run %s\n", proof->token, proof->owner, proof->name);
    }
    return set_from(stream, &text, "RLOCK_HOLDS");
}

enum column { COLUMN_NAME, COLUMN_KIND, COLUMN_OWNER, COLUMN_TOKEN };

static bool hand_down_column(const rlock_lock *lock, const char *kind, enum column column,
                             const char *variable) {
    char *text = NULL;
    size_t size = 0;
    const struct rlock_hold *hold;
    FILE *stream = open_memstream(&text, &size);
    for (size_t i = 0; stream != NULL && (hold = rlock_hold_at(lock, i)) != NULL; i++) {
        switch (column) {
        case COLUMN_NAME: fprintf(stream, "%s\n", hold->name); break;
        case COLUMN_KIND: fprintf(stream, "%s\n", kind); break;
        case COLUMN_OWNER: fprintf(stream, "%s\n", hold->owner); break;
        case COLUMN_TOKEN: fprintf(stream, "%" PRId64 "\n", hold->token); break;
        }
    }
    return set_from(stream, &text, variable);
}

bool holds_hand_down(const struct holds *around, const rlock_lock *lock, const char *kind,
                     const char *server) {
    return hand_down_record(around, lock) &&
           hand_down_column(lock, kind, COLUMN_NAME, "RLOCK_NAME") &&
           hand_down_column(lock, kind, COLUMN_KIND, "RLOCK_KIND") &&
           hand_down_column(lock, kind, COLUMN_OWNER, "RLOCK_OWNER") &&
           hand_down_column(lock, kind, COLUMN_TOKEN, "RLOCK_TOKEN") &&
           (server == NULL || setenv("RLOCK_SERVER", server, 1) == 0);
}
