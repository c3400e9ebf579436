/* released.c: hears that a lock of others was given back, without standing in its line. */
#include <stdlib.h>

#include "lock/lock.h"
#include "rlock_admin.h"

struct rlock_releases {
    struct rlock__listener listener;
    struct rlock__error error;
    rlock_lock *lock; /* never taken: it knows the channels */
};

enum rlock_status rlock_releases_new(rlock_releases **out, rlock_client *client, const char *name,
                                     const char *kind, int64_t deadline_ms, int cancel_fd) {
    const char *const names[] = {name};
    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
    const struct rlock__limit limit = rlock__client_limit(client, deadline_ms, cancel_fd);
    rlock_releases *releases = *out = calloc(1, sizeof *releases);
    if (releases == NULL)
        return RLOCK_SYSTEM;
    releases->listener = (struct rlock__listener){.error = &releases->error};
    options.kind = kind;
    options.names = names;
    options.name_count = 1;
    const enum rlock_status status = rlock_lock_new(&releases->lock, client, &options);
    if (status != RLOCK_OK)
        return status;
    return rlock__final(
        rlock__listen(&releases->listener, client, &releases->lock->resources[0], true, &limit));
}

enum rlock_status rlock_releases_wait(rlock_releases *releases, int64_t until_ms, int cancel_fd) {
    const struct rlock__limit limit = {until_ms, cancel_fd, NULL};
    struct rlock__news news;
    return rlock__hear(&releases->listener, &limit, &news);
}

void rlock_releases_free(rlock_releases *releases) {
    if (releases == NULL)
        return;
    rlock__listener_free(&releases->listener);
    rlock_lock_free(releases->lock);
    free(releases);
}
