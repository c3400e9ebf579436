/* other_kind.c: what a name is taken by that was asked for as something else. */
#include "server/other_kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/describe.h"

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

static void describe(char text[OTHER_KIND_SIZE], const rlock_view *view) {
    char holder[OTHER_KIND_SIZE / 2] = "";
    if (view->holder_count > 0)
        describe_view(holder, sizeof holder, view, 0);
    else if (view->count >= 0)
        (void)snprintf(holder, sizeof holder, "%" PRId64 " to go", view->count);
    (void)snprintf(text, OTHER_KIND_SIZE, "the name is taken by another kind: %s%s%s",
                   noun(view->kind), *holder != '\0' ? ", " : "", holder);
}

const char *other_kind(char text[OTHER_KIND_SIZE], rlock_client *client, const char *name,
                       size_t servers, int64_t deadline_ms) {
    bool known = false;
    (void)snprintf(text, OTHER_KIND_SIZE, "%s", rlock_status_text(RLOCK_WRONG_KIND));
    for (size_t i = 0; i < servers && !known; i++) {
        const struct rlock_inspect_options options = {
            .size = sizeof options,
            .name = name,
            .server = i,
            .deadline_ms = deadline_ms,
            .cancel_fd = -1,
        };
        rlock_view *view = NULL;
        const enum rlock_status status = rlock_inspect(client, &options, &view);
        known = status == RLOCK_WRONG_KIND || (status == RLOCK_OK && noun(view->kind) != NULL);
        if (status == RLOCK_WRONG_KIND)
            (void)snprintf(text, OTHER_KIND_SIZE,
                           "the name is taken by another kind of key, which is no lock");
        else if (known)
            describe(text, view);
        rlock_view_free(view);
    }
    return text;
}
