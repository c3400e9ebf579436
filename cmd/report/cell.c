/* cell.c: what stands in the cells of the table of `rlock status`, and how it is set off. */
#include "report/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/duration.h"

char *cell_who(const char *owner, const char *host, const char *user) {
    char *who = NULL;
    if (host != NULL && user != NULL)
        return asprintf(&who, "%s@%s", user, host) >= 0 ? who : NULL;
    return strdup(host != NULL ? host : owner != NULL ? owner : "");
}

void cell_state(char text[CELL_STATE_SIZE], const rlock_view *view) {
    if (view->count >= 0)
        (void)snprintf(text, CELL_STATE_SIZE, "%" PRId64 " to go", view->count);
    else if (view->permits_available != INT64_MIN && view->permits_total >= 0)
        (void)snprintf(text, CELL_STATE_SIZE, "%" PRId64 " of %" PRId64 " free",
                       view->permits_available, view->permits_total);
    else if (view->permits_available != INT64_MIN)
        (void)snprintf(text, CELL_STATE_SIZE, "%" PRId64 " free", view->permits_available);
    else
        (void)snprintf(text, CELL_STATE_SIZE, "%s", view->held ? "held" : "free");
}

void cell_hold(char text[CELL_STATE_SIZE], const struct rlock_view_holder *holder) {
    if (holder->kept && holder->permits >= 0)
        (void)snprintf(text, CELL_STATE_SIZE, "kept %" PRId64, holder->permits);
    else if (holder->kept)
        (void)snprintf(text, CELL_STATE_SIZE, "kept");
    else if (holder->permits >= 0)
        (void)snprintf(text, CELL_STATE_SIZE, "has %" PRId64, holder->permits);
    else if (holder->holds > 1)
        (void)snprintf(text, CELL_STATE_SIZE, "held %" PRId64 "x", holder->holds);
    else
        (void)snprintf(text, CELL_STATE_SIZE, "held");
}

void cell_run(char text[CELL_STATE_SIZE], const struct rlock_view_run *run) {
    char took[DURATION_TEXT_SIZE];
    duration_format(took, run->took_ms < 0 ? 0 : run->took_ms);
    if (run->exit_status == 0)
        (void)snprintf(text, CELL_STATE_SIZE, "ran %s", took);
    else
        (void)snprintf(text, CELL_STATE_SIZE, "failed %" PRId64 " after %s", run->exit_status,
                       took);
}

void cell_lease(char text[CELL_LEASE_SIZE], const struct rlock_view_holder *holder) {
    const int64_t ttl_ms = holder->ttl_ms;
    *text = '\0';
    if (ttl_ms >= 0)
        duration_format(text, ttl_ms < 1000 ? ttl_ms : ttl_ms / 1000 * 1000);
}
