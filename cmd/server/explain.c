/* explain.c: what is said when servers are of no use, or have a name as another kind of lock. */
#include "server/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/describe.h"
#include "output/out.h"

enum { OTHER_KIND_SIZE = 1024 };

/* What a kind is called in a sentence. */
static const char *noun(const char *kind) {
    static const struct {
        const char *kind, *noun;
    } nouns[] = {
        {"run", "an exclusive lock (run)"},   {"fair", "an exclusive lock (fair)"},
        {"read", "a read/write lock (read)"}, {"write", "a read/write lock (write)"},
        {"sem", "a semaphore (sem)"},         {"latch", "a latch"},
    };
    for (size_t i = 0; kind != NULL && i < sizeof nouns / sizeof *nouns; i++) {
        if (strcmp(nouns[i].kind, kind) == 0)
            return nouns[i].noun;
    }
    return NULL;
}

/* As "run" and "fair" are: what they are called is the same, but for what stands in brackets. */
static bool is_same(const char *kind, const char *other) {
    const char *one = noun(kind), *another = noun(other);
    return one != NULL && another != NULL && strncmp(one, another, strcspn(one, "(")) == 0;
}

static void describe_other(char text[OTHER_KIND_SIZE], const rlock_view *view) {
    char holder[OTHER_KIND_SIZE / 2] = "";
    if (view->holder_count > 0)
        describe_seen(holder, sizeof holder, view, &view->holders[0], rlock_now_ms());
    else if (view->count >= 0)
        (void)snprintf(holder, sizeof holder, "%" PRId64 " to go", view->count);
    (void)snprintf(text, OTHER_KIND_SIZE, "the name is taken by another kind: %s%s%s",
                   noun(view->kind), *holder != '\0' ? ", " : "", holder);
}

/* Looks, on the first of the servers that knows: "the name is taken by another kind: a
 * read/write lock (write), held by alice@web-01 pid 4242 for 3m, ./deploy.sh". What can't be seen
 * is left out, and a server of a minority that has it as the kind that was meant. Returns the text.
 */
static const char *other_kind(char text[OTHER_KIND_SIZE], const struct server *server,
                              const char *kind, const char *name) {
    const int64_t patience_ms = server->settings->server.io_timeout_ms;
    bool known = false;
    (void)snprintf(text, OTHER_KIND_SIZE, "%s", rlock_status_text(RLOCK_WRONG_KIND));
    for (size_t i = 0; i < server->settings->server.count && !known; i++) {
        rlock_view *view = NULL;
        const enum rlock_status status =
            server_inspect(server, i, name, true,
                           server_answer_by_ms(server, patience_ms, SERVER_GLANCE_MS), &view);
        known = status == RLOCK_WRONG_KIND ||
                (status == RLOCK_OK && noun(view->kind) != NULL && !is_same(kind, view->kind));
        if (status == RLOCK_WRONG_KIND)
            (void)snprintf(text, OTHER_KIND_SIZE,
                           "the name is taken by another kind of key, which is no lock");
        else if (known)
            describe_other(text, view);
        rlock_view_free(view);
    }
    return text;
}

int server_explain(const struct server *server, const char *url, const char *kind, const char *verb,
                   const char *name, enum rlock_status status, const char *if_unavailable) {
    const char *reason = rlock_error(server->client);
    char other[OTHER_KIND_SIZE];
    url = url != NULL ? url : rlock_client_server(server->client);
    switch (status) {
    case RLOCK_WRONG_KIND:
        return out_fail(EXIT_WRONG_KIND, name, url,
                        "cannot %s %s on %s: %s; nothing was changed: use another name", verb, name,
                        url, other_kind(other, server, kind, name));
    case RLOCK_UNAVAILABLE:
        return out_fail(EXIT_UNAVAILABLE, name, url, "cannot %s %s on %s: %s%s", verb, name, url,
                        reason, if_unavailable);
    case RLOCK_DENIED:
        return out_fail(EXIT_DENIED, name, url, "cannot %s %s on %s: access denied: %s", verb, name,
                        url, reason);
    case RLOCK_REFUSED:
    case RLOCK_INVALID:
        return out_fail(EXIT_USAGE, name, url, "cannot %s %s: %s", verb, name, reason);
    case RLOCK_OK:
    case RLOCK_AGAIN:
    case RLOCK_BUSY:
    case RLOCK_LOST:
    case RLOCK_CANCELLED:
    case RLOCK_OUSTED:
    case RLOCK_DONE:
    case RLOCK_SYSTEM: break;
    }
    return out_fail(EXIT_SYSTEM, name, url, "cannot %s %s on %s: %s", verb, name, url, reason);
}
