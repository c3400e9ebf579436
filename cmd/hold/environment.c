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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    while ((line = strsep(&record, "\n")) != NULL) {
        if (*line == '\0') {
            group = out->count;
            continue;
        }
        if (*line == '@') {
            servers = line + 1;
            continue;
        }
        const char *token = strsep(&line, " ");
        const char *owner = strsep(&line, " ");
        const char *kind = strsep(&line, " ");
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

/* before: the delimiter; on: the servers of the hold before. */
static void write_hold(FILE *list, const char **before, const char **on, const char *servers,
                       const struct rlock_proof *proof, const char *kind) {
    if (strcmp(*on, servers) != 0) {
        fprintf(list, "%s@%s", *before, servers);
        *before = "\n";
    }
    *on = servers;
    fprintf(list, "%s%" PRId64 " %s %s %s", *before, proof->token, proof->owner, kind, proof->name);
    *before = "\n";
}

/* The holds around this command, but for those that it re-enters or that are stale, and its own. A
 * latch, which has no token, is not held: then the record stays as it is. */
static void write_record(FILE *list, const struct environment *enclosing, const rlock_lock *lock,
                         const char *kind, const char *servers) {
    const struct rlock_hold *hold = rlock_hold_at(lock, 0);
    const char *before = "", *on = "";
    if (hold == NULL || hold->token == 0)
        return;
    fputs("RLOCK_HOLDS=", list);
    for (size_t i = 0; i < enclosing->count; i++) {
        const struct rlock_proof *proof = &enclosing->proofs[i];
        if (!replaces(lock, servers, proof, enclosing->servers[i]))
            write_hold(list, &before, &on, enclosing->servers[i], proof, enclosing->kinds[i]);
    }
    if (*before != '\0')
        before = "\n\n";
    for (size_t i = 0; (hold = rlock_hold_at(lock, i)) != NULL; i++)
        write_hold(list, &before, &on, servers,
                   &(struct rlock_proof){hold->name, hold->owner, hold->token}, kind);
    fputc('\0', list);
}

enum column { COLUMN_NAME, COLUMN_KIND, COLUMN_OWNER, COLUMN_TOKEN };

static void write_column(FILE *list, const rlock_lock *lock, const char *kind, enum column column,
                         const char *variable) {
    const struct rlock_hold *hold;
    fputs(variable, list);
    for (size_t i = 0; (hold = rlock_hold_at(lock, i)) != NULL; i++) {
        fputc(i == 0 ? '=' : '\n', list);
        switch (column) {
        case COLUMN_NAME: fputs(hold->name, list); break;
        case COLUMN_KIND: fputs(kind, list); break;
        case COLUMN_OWNER: fputs(hold->owner, list); break;
        case COLUMN_TOKEN: fprintf(list, "%" PRId64, hold->token); break;
        }
    }
    fputc('\0', list);
}

/* False: something did not fit. */
static bool end_list(FILE *list, const char *server) {
    if (server != NULL)
        fprintf(list, "RLOCK_SERVER=%s%c", server, '\0');
    fputc('\0', list);
    return fclose(list) == 0;
}

bool environment_write(const struct environment *enclosing, const rlock_lock *lock,
                       const char *kind, const char *servers, const char *server, char *text,
                       size_t size) {
    FILE *list = fmemopen(text, size, "w");
    if (list == NULL)
        return false;
    write_record(list, enclosing, lock, kind, servers);
    write_column(list, lock, kind, COLUMN_NAME, "RLOCK_NAME");
    write_column(list, lock, kind, COLUMN_KIND, "RLOCK_KIND");
    write_column(list, lock, kind, COLUMN_OWNER, "RLOCK_OWNER");
    write_column(list, lock, kind, COLUMN_TOKEN, "RLOCK_TOKEN");
    return end_list(list, server);
}

bool environment_write_name(const char *name, const char *kind, const char *server, char *text,
                            size_t size) {
    FILE *list = fmemopen(text, size, "w");
    if (list == NULL)
        return false;
    fprintf(list, "RLOCK_NAME=%s%cRLOCK_KIND=%s%cRLOCK_OWNER%cRLOCK_TOKEN%c", name, '\0', kind,
            '\0', '\0', '\0');
    return end_list(list, server);
}
