/* cell.c: what stands in the cells of the table of `rlock status`, and how it is set off. */
#include "report/cell.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/duration.h"

#define RENEWED "32"
#define LATE    "33"
#define ENDING  "31"

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

/* What is left of a lease, and of how much it is a part. */
static void draw_bar(char *text, size_t size, size_t columns, int64_t left_ms, int64_t lease_ms) {
    const int64_t filled =
        lease_ms > 0 ? (left_ms * (int64_t)columns + lease_ms - 1) / lease_ms : 0;
    size_t used = 0;
    for (; used < columns && used + 1 < size; used++)
        text[used] = (int64_t)used < filled ? '#' : '.';
    text[used] = '\0';
}

const char *cell_lease(char text[CELL_LEASE_SIZE], const struct status_form *form,
                       const rlock_view *view, const struct rlock_view_holder *holder) {
    char left[DURATION_TEXT_SIZE], bar[DURATION_TEXT_SIZE];
    const int64_t ttl_ms = holder->ttl_ms;
    *text = '\0';
    if (ttl_ms < 0)
        return NULL;
    duration_format(left, ttl_ms < 1000 ? ttl_ms : ttl_ms / 1000 * 1000);
    if (form->leases == NULL) {
        (void)snprintf(text, CELL_LEASE_SIZE, "%s", left);
        return NULL;
    }
    const int64_t lease_ms = leases_longest_ms(form->leases, view, holder);
    draw_bar(bar, sizeof bar, form->bar, ttl_ms, lease_ms);
    (void)snprintf(text, CELL_LEASE_SIZE, "%s%s%*s", bar, *bar != '\0' ? " " : "",
                   *bar != '\0' ? 5 : 0, left);
    if (holder->kept)
        return CELL_KEPT;
    return ttl_ms > lease_ms / 2 ? RENEWED : ttl_ms > lease_ms / 6 ? LATE : ENDING;
}
