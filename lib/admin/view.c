/* view.c: what a server says of a name: reads the pages of inspect.lua. */
#include "admin/admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where things stand in a page. */
enum {
    AS_OF = 1,
    HELD,
    KIND,
    TOKEN,
    TOTAL,
    AVAILABLE,
    COUNT,
    HOLDERS,
    WAITERS,
    BARE,
    LAST,
    LEASED,
    PARTS,
    NEXT
};

enum { HOLDER_FIELDS = 15, WAITER_FIELDS = 7, PART_FIELDS = 4 };

enum { VIEW_MOST = 64 << 20 }; /* bytes of all pages of a name: 400,000 permits, one by one */

/* The places where the holders begin, and of a semaphore's the permits: inspect.lua. */
static const char HOLDS[] = "4 0", PERMITS[] = "5 0";

/* --- what grows, until memory is short -------------------------------------------------------- */

/* Room for one more in an array of so many: it doubles. */
static void *grow(struct rlock__view *view, void *array, size_t count, size_t size) {
    if ((count & (count - 1)) != 0)
        return array;
    void *larger = realloc(array, (count > 0 ? 2 * count : 1) * size);
    if (larger != NULL)
        return larger;
    view->failed = true;
    return array;
}

static void push_hold(struct rlock__view *view, const struct rlock__hold *hold) {
    view->holds = grow(view, view->holds, view->hold_count, sizeof *view->holds);
    if (!view->failed)
        view->holds[view->hold_count++] = *hold;
}

static void push_waiter(struct rlock__view *view, const struct rlock_view_waiter *waiter) {
    view->waiters = grow(view, view->waiters, view->waiter_count, sizeof *view->waiters);
    if (!view->failed)
        view->waiters[view->waiter_count++] = *waiter;
}

static const char *copy(struct rlock__view *view, const char *text) {
    view->texts = grow(view, view->texts, view->text_count, sizeof *view->texts);
    char *made = view->failed ? NULL : strdup(text);
    view->failed = made == NULL;
    if (made == NULL)
        return NULL;
    view->size += strlen(made) + 1;
    return view->texts[view->text_count++] = made;
}

/* --- fields ---------------------------------------------------------------------------------- */

/* NULL stands for what is empty, or none. */
static const char *text_at(struct rlock__view *view, const rlock__reply *row, size_t i) {
    const char *text = rlock__reply_text(row, i);
    return text != NULL && *text != '\0' ? copy(view, text) : NULL;
}

static const char *id_at(struct rlock__view *view, const rlock__reply *row, size_t i) {
    const char *id = text_at(view, row, i);
    return id != NULL ? id : "";
}

static int64_t number_at(const rlock__reply *row, size_t i) {
    int64_t number;
    return rlock__reply_integer(row, i, &number) && number >= 0 ? number : -1;
}

/* A token is digits: Lua's numbers are exact up to 2^53 only. */
static int64_t token_at(const rlock__reply *row, size_t i) {
    const char *digits = rlock__reply_text(row, i);
    int64_t token;
    return digits != NULL && rlock__resp_whole(digits, &token) ? token : -1;
}

/* An owner of rlock's says where it is: UUID:PID@HOST. */
static void read_owner(const char *owner, const char **host, int64_t *pid) {
    const char *id = owner != NULL ? strrchr(owner, ':') : NULL;
    char *end = NULL;
    const long long number = id != NULL ? strtoll(id + 1, &end, 10) : 0;
    if (number <= 0 || *end != '@' || end[1] == '\0')
        return;
    if (*host == NULL)
        *host = end + 1;
    if (*pid < 0)
        *pid = number;
}

/* --- rows ------------------------------------------------------------------------------------ */

static void add_hold(struct rlock__view *view, const rlock__reply *row) {
    struct rlock__hold hold = {
        .holder = {.owner = id_at(view, row, 0),
                   .host = text_at(view, row, 1),
                   .pid = number_at(row, 2),
                   .user = text_at(view, row, 3),
                   .command = text_at(view, row, 4),
                   .since_ms = number_at(row, 5),
                   .ttl_ms = number_at(row, 6),
                   .holds = number_at(row, 7),
                   .token = token_at(row, 8),
                   .permits = number_at(row, 9),
                   .writes = number_at(row, 10) == 1,
                   .kept = number_at(row, 11) == 1,
                   .note = text_at(view, row, 12),
                   .preemptible = number_at(row, 13) == 1,
                   .no_command = number_at(row, 15) == 1},
        .id = id_at(view, row, 14),
    };
    read_owner(hold.holder.owner, &hold.holder.host, &hold.holder.pid);
    push_hold(view, &hold);
}

/* Of a semaphore's holder a permit, which is its own owner. */
static void add_part(struct rlock__view *view, const rlock__reply *row) {
    const int64_t ttl_ms = number_at(row, 2);
    const bool is_permit = view->leased >= 0;
    const char *id = id_at(view, row, 1);
    const struct rlock__hold part = {
        .holder = {.owner = is_permit ? id : id_at(view, row, 0),
                   .pid = -1,
                   .since_ms = -1,
                   .ttl_ms = ttl_ms,
                   .holds = ttl_ms > 0,
                   .token = -1,
                   .permits = is_permit ? 1 : -1,
                   .writes = number_at(row, 3) == 1},
        .id = id,
        .is_part = true,
    };
    push_hold(view, &part);
}

static void add_waiter(struct rlock__view *view, const rlock__reply *row) {
    struct rlock_view_waiter waiter = {
        .owner = id_at(view, row, 0),
        .pid = -1,
        .position = (int64_t)view->waiter_count + 1,
        .since_ms = number_at(row, 1),
        .user = text_at(view, row, 2),
        .command = text_at(view, row, 3),
        .note = text_at(view, row, 4),
        .any = text_at(view, row, 5),
    };
    (void)rlock__reply_integer(row, 6, &waiter.priority);
    read_owner(waiter.owner, &waiter.host, &waiter.pid);
    push_waiter(view, &waiter);
}

/* Whether there are as many fields to each row: what is shown of a row is more than an empty one
 * costs a server to say. */
static bool are_rows(const rlock__reply *rows, size_t fields) {
    for (size_t i = 0; i < rlock__reply_count(rows); i++) {
        if (rlock__reply_count(rlock__reply_at(rows, i)) < fields)
            return false;
    }
    return rows != NULL;
}

static bool is_page(const rlock__reply *page) {
    const char *next = rlock__reply_text(page, NEXT);
    return rlock__reply_text(page, KIND) != NULL && next != NULL &&
           strlen(next) < RLOCK__PLACE_SIZE &&
           are_rows(rlock__reply_at(page, HOLDERS), HOLDER_FIELDS) &&
           are_rows(rlock__reply_at(page, WAITERS), WAITER_FIELDS) &&
           are_rows(rlock__reply_at(page, PARTS), PART_FIELDS);
}

/* An empty row is none. */
static void read_last_run(struct rlock__view *view, const rlock__reply *row) {
    view->view.skips = number_at(row, 9) > 0 ? number_at(row, 9) : 0;
    if (rlock__reply_count(row) == 0)
        return;
    view->last_run = (struct rlock_view_run){
        .host = text_at(view, row, 0),
        .pid = number_at(row, 1),
        .user = text_at(view, row, 2),
        .command = text_at(view, row, 3),
        .exit_status = number_at(row, 4),
        .took_ms = number_at(row, 5),
        .ended_ms = number_at(row, 6),
        .succeeded_ms = number_at(row, 7),
        .key = text_at(view, row, 8),
    };
    view->view.last_run = view->last_run.ended_ms >= 0 ? &view->last_run : NULL;
}

/* What the first page says besides its rows. */
static void read_head(struct rlock__view *view, const rlock__reply *page) {
    rlock_view *out = &view->view;
    int64_t available;
    view->leased = number_at(page, LEASED);
    out->held = number_at(page, HELD) == 1;
    out->as_of_ms = number_at(page, AS_OF);
    out->kind = text_at(view, page, KIND);
    out->token = token_at(page, TOKEN);
    out->permits_total = number_at(page, TOTAL);
    out->permits_available =
        rlock__reply_integer(page, AVAILABLE, &available) ? available : INT64_MIN;
    out->count = number_at(page, COUNT);
    out->may_be_sem = number_at(page, BARE) == 1;
    read_last_run(view, rlock__reply_at(page, LAST));
}

static void read_rows(struct rlock__view *view, const rlock__reply *rows,
                      void (*add)(struct rlock__view *view, const rlock__reply *row)) {
    for (size_t i = 0; i < rlock__reply_count(rows) && !view->failed; i++)
        add(view, rlock__reply_at(rows, i));
}

/* --- a page, after which the view may be complete -------------------------------------------- */

/* Whether the holds have as many permits as are in use. If not, some are Redisson's, which stand
 * nowhere else than among the permits. */
static bool knows_all_permits(const struct rlock__view *view) {
    int64_t leased = 0;
    for (size_t i = 0; i < view->hold_count; i++)
        leased += view->holds[i].holder.ttl_ms >= 0 ? view->holds[i].holder.permits : 0;
    return view->leased < 0 || view->leased == leased;
}

enum rlock_status rlock__view_add(struct rlock__view *view, const rlock__reply *page,
                                  const char **why) {
    *why = "the server's answer to inspect can't be understood";
    if (!is_page(page))
        return RLOCK_UNAVAILABLE;
    const bool is_first = *view->next == '\0', of_permits = *view->next == *PERMITS;
    if (is_first)
        read_head(view, page);
    read_rows(view, rlock__reply_at(page, HOLDERS), add_hold);
    read_rows(view, rlock__reply_at(page, WAITERS), add_waiter);
    read_rows(view, rlock__reply_at(page, PARTS), add_part);
    *why = "there is more to see of it than 64 MiB";
    if (view->size + view->hold_count * sizeof *view->holds +
            view->waiter_count * sizeof *view->waiters >
        VIEW_MOST)
        return RLOCK_UNAVAILABLE;
    const char *next = rlock__reply_text(page, NEXT);
    if (*next == '\0' && !of_permits && !knows_all_permits(view))
        next = PERMITS;
    if (view->only_held && *next != '\0' && *next < *HOLDS) /* the waiters do not matter */
        next = HOLDS;
    *why = "the server's answers to inspect go round in a circle";
    if (*next != '\0' && strcmp(next, view->next) == 0) /* a page goes on behind where it began */
        return RLOCK_UNAVAILABLE;
    (void)snprintf(view->next, sizeof view->next, "%s", next);
    if (*next != '\0' && !view->failed && !view->only_held)
        return RLOCK_AGAIN;
    *why = "no memory";
    if (view->failed || !rlock__view_merge(view))
        return RLOCK_SYSTEM;
    return *next == '\0' || view->view.held ? RLOCK_OK : RLOCK_AGAIN;
}

struct rlock__view *rlock__view_new(const char *name, const char *server) {
    struct rlock__view *view = calloc(1, sizeof *view);
    if (view == NULL)
        return NULL;
    view->view.name = copy(view, name);
    view->view.server = copy(view, server);
    if (!view->failed)
        return view;
    rlock_view_free(&view->view);
    return NULL;
}

void rlock_view_free(rlock_view *view) {
    struct rlock__view *inside = (struct rlock__view *)view;
    if (inside == NULL)
        return;
    for (size_t i = 0; i < inside->text_count; i++)
        free(inside->texts[i]);
    free(inside->texts);
    free(inside->holds);
    free(inside->waiters);
    free((void *)view->holders);
    free(inside);
}
