/* environment.c: what rlock passes on in the environment.
 *
 * RLOCK_HOLDS is the record of all enclosing holds, and the only variable of these that rlock
 * reads: one hold a line, TOKEN OWNER KIND NAME; a name has no newline. A line @SERVERS says where
 * the holds below it are: the same name on other servers is another lock. The holds of the
 * innermost command come last, behind an empty line. RLOCK_NAME, RLOCK_KIND, RLOCK_OWNER and
 * RLOCK_TOKEN say the same of the innermost command, for the command itself. The server checks
 * owner and token together, so a stale or invented line proves nothing. */
#include "hold/environment.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cuts the next piece off at any of the delimiters; NULL at the end. */
static char *cut(char **rest, const char *delimiters) {
    return *rest != NULL ? strsep(rest, delimiters) : NULL;
}

/* One word of small letters: it is written again, on a line of several words. */
static bool is_kind(const char *text) {
    return *text != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

/* Whether it is one that could be proof. */
static bool add(struct environment *out, const char *servers, const char *name, const char *kind,
                const char *owner, const char *token) {
    char *end = NULL;
    if (name == NULL || kind == NULL || owner == NULL || token == NULL || *name == '\0' ||
        *owner == '\0' || !is_kind(kind))
        return false;
    const long long number = strtoll(token, &end, 10);
    if (*end != '\0' || end == token || number < 1)
        return false;
    out->kinds[out->count] = kind;
    out->servers[out->count] = servers;
    out->proofs[out->count++] = (struct rlock_proof){name, owner, number};
    return true;
}

static void read_record(struct environment *out, char *record) {
    char *line;
    const char *servers = "";
    size_t group = 0; /* where it begins */
    while ((line = cut(&record, "\n")) != NULL) {
        if (*line == '\0') {
            group = out->count;
            continue;
        }
        if (*line == '@') {
            servers = line + 1;
            continue;
        }
        const char *token = cut(&line, " ");
        const char *owner = cut(&line, " ");
        const char *kind = cut(&line, " ");
        if (add(out, servers, line, kind, owner, token))
            out->inner = group;
    }
}

/* At least as many as the text has. */
static size_t count_lines(const char *text) {
    size_t lines = 1;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

bool environment_read(struct environment *out) {
    const char *record = getenv("RLOCK_HOLDS");
    *out = (struct environment){.count = 0};
    if (record == NULL)
        return true;
    const size_t most = count_lines(record);
    out->length = strlen(record);
    out->storage = strdup(record);
    out->proofs = calloc(2 * most, sizeof *out->proofs); /* see environment_prove() */
    out->kinds = calloc(most, sizeof *out->kinds);
    out->servers = calloc(most, sizeof *out->servers);
    if (out->storage == NULL || out->proofs == NULL || out->kinds == NULL || out->servers == NULL) {
        environment_free(out);
        return false;
    }
    read_record(out, out->storage);
    return true;
}

void environment_free(struct environment *environment) {
    free(environment->proofs);
    free(environment->kinds);
    free(environment->servers);
    free(environment->storage);
    *environment = (struct environment){.count = 0};
}

size_t environment_prove(struct environment *enclosing, const char *servers) {
    size_t count = enclosing->count;
    for (size_t i = 0; i < enclosing->count; i++) {
        if (strcmp(enclosing->servers[i], servers) == 0)
            enclosing->proofs[count++] = enclosing->proofs[i];
    }
    return count;
}

/* RLOCK_HOLDS is longer than RLOCK_NAME. A handle has the same of each hold, but for the kind, and
 * the id of its try, in base64. */
bool environment_has_room(const struct environment *enclosing, const char *const *names,
                          size_t count, bool for_handle) {
    enum {
        TEXT_MAX = 131072, /* the kernel's MAX_ARG_STRLEN: 32 pages, the NUL included */
        SERVERS_SIZE = 4096,
    };
    static const char most[] =
        "9223372036854775807 01234567-0123-0123-0123-0123456789ab:4194304@ write \n";
    static const char id[] = "0123456789abcdef0123456789abcdef.999999999 ";
    char host[HOST_NAME_MAX + 1] = "";
    (void)gethostname(host, sizeof host - 1);
    const size_t around = sizeof most + strlen(host) + (for_handle ? sizeof id : 0);
    size_t size = SERVERS_SIZE;
    for (size_t i = 0; i < count; i++)
        size += strlen(names[i]) + around;
    return for_handle ? size / 3 * 4 <= TEXT_MAX
                      : sizeof "RLOCK_HOLDS=" + enclosing->length + size <= TEXT_MAX;
}

/* Whether what is held now takes the place of one around it. */
static bool replaces(const rlock_lock *lock, const char *servers, const struct rlock_proof *proof,
                     const char *its_servers) {
    const bool same = *its_servers == '\0' || strcmp(its_servers, servers) == 0;
    const struct rlock_hold *hold;
    for (size_t i = 0; (hold = rlock_hold_at(lock, i)) != NULL; i++) {
        if (strcmp(hold->name, proof->name) == 0)
            return same || strcmp(hold->owner, proof->owner) == 0;
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

/* before: the delimiter; on: the servers of the hold before. */
static void append_hold(struct list *list, const char **before, const char **on,
                        const char *servers, const struct rlock_proof *proof, const char *kind) {
    if (strcmp(*on, servers) != 0) {
        append(list, "%s@%s", *before, servers);
        *before = "\n";
    }
    *on = servers;
    append(list, "%s%" PRId64 " %s %s %s", *before, proof->token, proof->owner, kind, proof->name);
    *before = "\n";
}

/* The holds around this command, but for those that it re-enters or that are stale, and its own. A
 * latch, which has no token, is not held: then the record stays as it is. */
static void append_record(struct list *list, const struct environment *enclosing,
                          const rlock_lock *lock, const char *kind, const char *servers) {
    const struct rlock_hold *hold = rlock_hold_at(lock, 0);
    const char *before = "", *on = "";
    if (hold == NULL || hold->token == 0)
        return;
    append(list, "RLOCK_HOLDS=");
    for (size_t i = 0; i < enclosing->count; i++) {
        const struct rlock_proof *proof = &enclosing->proofs[i];
        if (!replaces(lock, servers, proof, enclosing->servers[i]))
            append_hold(list, &before, &on, enclosing->servers[i], proof, enclosing->kinds[i]);
    }
    if (*before != '\0')
        before = "\n\n";
    for (size_t i = 0; (hold = rlock_hold_at(lock, i)) != NULL; i++)
        append_hold(list, &before, &on, servers,
                    &(struct rlock_proof){hold->name, hold->owner, hold->token}, kind);
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
                       const char *kind, const char *servers, const char *server, char *list,
                       size_t size) {
    struct list texts = {.at = list, .left = size};
    append_record(&texts, enclosing, lock, kind, servers);
    append_column(&texts, lock, kind, COLUMN_NAME, "RLOCK_NAME");
    append_column(&texts, lock, kind, COLUMN_KIND, "RLOCK_KIND");
    append_column(&texts, lock, kind, COLUMN_OWNER, "RLOCK_OWNER");
    append_column(&texts, lock, kind, COLUMN_TOKEN, "RLOCK_TOKEN");
    append_server(&texts, server);
    return !texts.full;
}

bool environment_write_name(const char *name, const char *kind, const char *server, char *list,
                            size_t size) {
    struct list texts = {.at = list, .left = size};
    append_text(&texts, "RLOCK_NAME=", name);
    append_text(&texts, "RLOCK_KIND=", kind);
    append_text(&texts, "RLOCK_OWNER", "");
    append_text(&texts, "RLOCK_TOKEN", "");
    append_server(&texts, server);
    return !texts.full;
}
