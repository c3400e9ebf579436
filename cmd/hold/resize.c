/* resize.c: sets how many permits a semaphore has. */
#include "hold/resize.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hold/counter.h"
#include "output/out.h"
#include "rlock_admin.h"

/* A plain permit has no lease: the permit of an rlock on this host that has died counts as in use
 * until it is looked for. */
static bool has_died(const struct rlock_view_holder *holder) {
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    return holder->ttl_ms < 0 && holder->pid > 0 && strcmp(holder->host, host) == 0 &&
           kill((pid_t)holder->pid, 0) != 0 && errno == ESRCH;
}

/* Takes back the permits of dead processes on this host, if the user may inspect them. */
static enum rlock_status free_dead(rlock_client *client, const struct rlock_count *count,
                                   const rlock_view *view) {
    const char **owners = calloc(view->holder_count + 1, sizeof *owners);
    struct rlock_break_options dead = {.size = sizeof dead,
                                       .name = count->name,
                                       .kind = "sem",
                                       .owners = owners,
                                       .deadline_ms = count->deadline_ms,
                                       .cancel_fd = count->cancel_fd};
    for (size_t i = 0; owners != NULL && i < view->holder_count; i++) {
        if (has_died(&view->holders[i]))
            owners[dead.owner_count++] = view->holders[i].owner;
    }
    int64_t freed;
    const enum rlock_status status =
        dead.owner_count > 0 ? rlock_break(client, &dead, &freed) : RLOCK_OK;
    free(owners);
    return status;
}

static enum rlock_status resize_without_dead(rlock_client *client, const struct rlock_count *count,
                                             int64_t *in_use) {
    const struct rlock_inspect_options options = {
        .size = sizeof options,
        .name = count->name,
        .deadline_ms = count->deadline_ms,
        .cancel_fd = count->cancel_fd,
    };
    rlock_view *view = NULL;
    const enum rlock_status inspected = rlock_inspect(client, &options, &view);
    if (inspected == RLOCK_UNAVAILABLE || inspected == RLOCK_CANCELLED)
        return inspected; /* to ask once more would take as long again */
    if (inspected == RLOCK_OK && view->permits_available != INT64_MIN)
        (void)free_dead(client, count, view);
    rlock_view_free(view);
    return rlock_sem_resize(client, count, in_use);
}

int resize(const struct settings *settings) {
    static const struct counter_verb verb = {"resize", resize_without_dead};
    enum rlock_status status;
    int64_t in_use = 0;
    const int failure = counter_once(settings, &verb, settings->resize, &status, &in_use);
    if (failure != 0)
        return failure;
    const struct out_field fields[] = {
        OUT_TEXT("name", settings->names[0]), OUT_TEXT("kind", "sem"),
        OUT_NUMBER("permits", settings->resize), OUT_NUMBER("in_use", in_use)};
    out_event(OUT_DEBUG, "resized", fields, sizeof fields / sizeof fields[0],
              "resized %s: %d permits, %" PRId64 " of them in use", settings->names[0],
              settings->resize, in_use);
    return 0;
}
