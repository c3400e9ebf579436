/* view.c: what a server says of a name, put together from the pages of inspect.lua.
 *
 * Others take the lock and give it back between two pages, and Redis's cursors pass by what moves
 * once more: a hold may come twice, and one owner's holds on several pages. */
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

enum { HOLDER_FIELDS = 15, WAITER_FIELDS = 7, PART_FIELDS = 4, TEXTS_MAX = 6 };

static const char PERMITS[] = "5 0"; /* the place where the permits begin: inspect.lua */

enum { ID_OF_HOLD = 24 }; /* digits that all permits of one hold have in common */

struct rlock__hold {
    struct rlock_view_holder holder;
    const char *id;
    bool is_part; /* of a holder: one of its holds, one of its permits */
};

/* --- texts ----------------------------------------------------------------------------------- */

static size_t room_of(const rlock__reply *row, const size_t *fields, size_t count) {
    size_t room = 1;
    for (size_t i = 0; i < count; i++) {
        const char *text = rlock__reply_text(row, fields[i]);
        room += text != NULL ? strlen(text) + 1 : 0;
    }
    return room;
}

/* An array of so many with room for one more: it doubles. NULL: no memory, and it is as it was. */
static void *grow(void *array, size_t count, size_t size) {
    if (count != 0 && (count & (count - 1)) != 0)
        return array;
    return realloc(array, (count > 0 ? 2 * count : 1) * size);
}

static struct rlock__hold *one_more_hold(struct rlock__view *view) {
    struct rlock__hold *larger = grow(view->holds, view->hold_count, sizeof *larger);
    if (larger == NULL)
        return NULL;
    view->holds = larger;
    return &larger[view->hold_count++];
}

static struct rlock_view_waiter *one_more_waiter(struct rlock__view *view) {
    struct rlock_view_waiter *larger = grow(view->waiters, view->waiter_count, sizeof *larger);
    if (larger == NULL)
        return NULL;
    view->waiters = larger;
    return &larger[view->waiter_count++];
}

/* Copies texts of a row; NULL stands for what is empty, or none. False: no memory. */
static bool copy_texts(struct rlock__view *view, const rlock__reply *row, const size_t *fields,
                       size_t count, const char **out) {
    const size_t room = room_of(row, fields, count);
    char **larger = grow(view->texts, view->text_count, sizeof *larger), *to = malloc(room);
    view->texts = larger != NULL ? larger : view->texts;
    if (larger == NULL || to == NULL) {
        free(to);
        return false;
    }
    view->texts[view->text_count++] = to;
    view->size += room;
    for (size_t i = 0; i < count; i++) {
        const char *text = rlock__reply_text(row, fields[i]);
        out[i] = text != NULL && *text != '\0' ? to : NULL;
        if (out[i] != NULL)
            to = stpcpy(to, text) + 1;
    }
    return true;
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

static bool add_hold(struct rlock__view *view, const rlock__reply *row) {
    static const size_t fields[] = {0, 1, 3, 4, 12, 14};
    const char *texts[TEXTS_MAX];
    struct rlock__hold *hold = NULL;
    if (copy_texts(view, row, fields, TEXTS_MAX, texts))
        hold = one_more_hold(view);
    if (hold == NULL)
        return false;
    *hold = (struct rlock__hold){
        .holder = {.owner = texts[0] != NULL ? texts[0] : "",
                   .host = texts[1],
                   .pid = number_at(row, 2),
                   .user = texts[2],
                   .command = texts[3],
                   .since_ms = number_at(row, 5),
                   .ttl_ms = number_at(row, 6),
                   .holds = number_at(row, 7),
                   .token = token_at(row, 8),
                   .permits = number_at(row, 9),
                   .writes = number_at(row, 10) == 1,
                   .kept = number_at(row, 11) == 1,
                   .note = texts[4],
                   .preemptible = number_at(row, 13) == 1},
        .id = texts[5] != NULL ? texts[5] : "",
    };
    read_owner(hold->holder.owner, &hold->holder.host, &hold->holder.pid);
    return true;
}

/* Of a semaphore's holder a permit. */
static bool add_part(struct rlock__view *view, const rlock__reply *row) {
    static const size_t fields[] = {0, 1};
    const char *texts[TEXTS_MAX];
    struct rlock__hold *part = NULL;
    if (copy_texts(view, row, fields, sizeof fields / sizeof *fields, texts))
        part = one_more_hold(view);
    if (part == NULL)
        return false;
    const int64_t ttl_ms = number_at(row, 2);
    *part = (struct rlock__hold){
        .holder = {.owner = texts[0] != NULL ? texts[0] : "",
                   .pid = -1,
                   .since_ms = -1,
                   .ttl_ms = ttl_ms,
                   .holds = ttl_ms > 0,
                   .token = -1,
                   .permits = view->leased >= 0 ? 1 : -1,
                   .writes = number_at(row, 3) == 1},
        .id = texts[1] != NULL ? texts[1] : "",
        .is_part = true,
    };
    return true;
}

static bool add_waiter(struct rlock__view *view, const rlock__reply *row) {
    static const size_t fields[] = {0, 2, 3, 4, 5};
    const char *texts[TEXTS_MAX];
    struct rlock_view_waiter *waiter = NULL;
    if (copy_texts(view, row, fields, sizeof fields / sizeof *fields, texts))
        waiter = one_more_waiter(view);
    if (waiter == NULL)
        return false;
    *waiter = (struct rlock_view_waiter){
        .owner = texts[0] != NULL ? texts[0] : "",
        .pid = -1,
        .position = (int64_t)view->waiter_count,
        .since_ms = number_at(row, 1),
        .user = texts[1],
        .command = texts[2],
        .note = texts[3],
        .any = texts[4],
    };
    (void)rlock__reply_integer(row, 6, &waiter->priority);
    read_owner(waiter->owner, &waiter->host, &waiter->pid);
    return true;
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
static bool read_last_run(struct rlock__view *view, const rlock__reply *row) {
    static const size_t fields[] = {0, 2, 3, 8};
    const char *texts[TEXTS_MAX];
    view->view.skips = number_at(row, 9) > 0 ? number_at(row, 9) : 0;
    if (rlock__reply_count(row) == 0)
        return true;
    if (!copy_texts(view, row, fields, sizeof fields / sizeof *fields, texts))
        return false;
    view->last_run = (struct rlock_view_run){
        .host = texts[0],
        .pid = number_at(row, 1),
        .user = texts[1],
        .command = texts[2],
        .exit_status = number_at(row, 4),
        .took_ms = number_at(row, 5),
        .ended_ms = number_at(row, 6),
        .succeeded_ms = number_at(row, 7),
        .key = texts[3],
    };
    view->view.last_run = view->last_run.ended_ms >= 0 ? &view->last_run : NULL;
    return true;
}

/* What the first page says besides its rows. */
static bool read_head(struct rlock__view *view, const rlock__reply *page) {
    static const size_t kind = KIND;
    rlock_view *out = &view->view;
    int64_t available;
    view->begun = true;
    view->leased = number_at(page, LEASED);
    out->held = number_at(page, HELD) == 1;
    out->as_of_ms = number_at(page, AS_OF);
    out->token = token_at(page, TOKEN);
    out->permits_total = number_at(page, TOTAL);
    out->permits_available =
        rlock__reply_integer(page, AVAILABLE, &available) ? available : INT64_MIN;
    out->count = number_at(page, COUNT);
    out->may_be_sem = number_at(page, BARE) == 1;
    return copy_texts(view, page, &kind, 1, &out->kind) &&
           read_last_run(view, rlock__reply_at(page, LAST));
}

static bool read_rows(struct rlock__view *view, const rlock__reply *page) {
    const rlock__reply *holds = rlock__reply_at(page, HOLDERS);
    const rlock__reply *waiters = rlock__reply_at(page, WAITERS);
    const rlock__reply *parts = rlock__reply_at(page, PARTS);
    bool done = true;
    for (size_t i = 0; done && i < rlock__reply_count(holds); i++)
        done = add_hold(view, rlock__reply_at(holds, i));
    for (size_t i = 0; done && i < rlock__reply_count(waiters); i++)
        done = add_waiter(view, rlock__reply_at(waiters, i));
    for (size_t i = 0; done && i < rlock__reply_count(parts); i++)
        done = add_part(view, rlock__reply_at(parts, i));
    return done;
}

/* --- all of it ------------------------------------------------------------------------------- */

/* 0: one holder has both. Only their ids tell which permits belong together. */
static int by_holder(const struct rlock__hold *one, const struct rlock__hold *other) {
    return one->holder.permits >= 0 ? strncmp(one->id, other->id, ID_OF_HOLD)
                                    : strcmp(one->holder.owner, other->holder.owner);
}

/* Those of one holder beside each other, itself before its parts. */
static int in_order(const void *a, const void *b) {
    const struct rlock__hold *one = a, *other = b;
    const int order = by_holder(one, other);
    if (order != 0)
        return order;
    if (one->is_part != other->is_part)
        return one->is_part ? 1 : -1;
    return strcmp(one->id, other->id);
}

/* Adds a row to the holder that it is of. The first part counts instead of what the holder says. */
static void add_to(struct rlock_view_holder *holder, const struct rlock__hold *more,
                   bool is_first) {
    if (is_first) {
        holder->permits = holder->permits >= 0 ? 0 : -1;
        holder->holds = 0;
        holder->ttl_ms = -1;
        holder->writes = false;
    }
    if (more->is_part && holder->permits >= 0)
        holder->permits++;
    holder->holds += more->holder.holds;
    if (more->holder.holds > 0) {
        holder->writes = holder->writes || more->holder.writes;
        holder->ttl_ms =
            holder->ttl_ms > more->holder.ttl_ms ? holder->ttl_ms : more->holder.ttl_ms;
    }
}

/* Reads the holder that begins at row i. Returns the row where the next holder begins. */
static size_t merge_rows(const struct rlock__view *view, size_t i, struct rlock_view_holder *out) {
    const struct rlock__hold *all = view->holds, *first = &all[i];
    bool has_parts = false;
    *out = first->holder;
    for (i++; i < view->hold_count && by_holder(first, &all[i]) == 0; i++) {
        if (in_order(&all[i - 1], &all[i]) == 0) /* it came twice */
            continue;
        if (first->is_part && out->permits >= 0) /* another of Redisson's permits */
            break;
        add_to(out, &all[i], all[i].is_part && !has_parts);
        has_parts = has_parts || all[i].is_part;
    }
    if (out->permits >= 0)
        out->holds = 1;
    else if (first->is_part)
        out->holds = 0; /* the lock was given back, or deleted, and these stand there still */
    return i;
}

static int newest_first(const void *a, const void *b) {
    const struct rlock_view_holder *one = a, *other = b;
    if (one->since_ms != other->since_ms)
        return one->since_ms > other->since_ms ? -1 : 1;
    return strcmp(one->owner, other->owner);
}

/* Each holder once, whatever the pages said twice. */
static bool merge_holds(struct rlock__view *view) {
    struct rlock_view_holder *out = calloc(view->hold_count + 1, sizeof *out);
    size_t count = 0;
    view->holders = out;
    if (out == NULL)
        return false;
    if (view->hold_count > 0)
        qsort(view->holds, view->hold_count, sizeof *view->holds, in_order);
    for (size_t i = 0; i < view->hold_count;) {
        i = merge_rows(view, i, &out[count]);
        count += out[count].holds > 0 && out[count].permits != 0;
    }
    if (count > 0)
        qsort(out, count, sizeof *out, newest_first);
    view->view.holders = out;
    view->view.holder_count = count;
    return true;
}

static int by_owner(const void *a, const void *b) {
    const struct rlock_view_waiter *one = a, *other = b;
    const int order = strcmp(one->owner, other->owner);
    return order != 0 ? order
                      : (one->position > other->position) - (one->position < other->position);
}

static int by_position(const void *a, const void *b) {
    const struct rlock_view_waiter *one = a, *other = b;
    return (one->position > other->position) - (one->position < other->position);
}

/* Each waiter once, where it stands first. */
static void merge_waiters(struct rlock__view *view) {
    struct rlock_view_waiter *all = view->waiters;
    size_t count = 0;
    if (view->waiter_count > 0)
        qsort(all, view->waiter_count, sizeof *all, by_owner);
    for (size_t i = 0; i < view->waiter_count; i++) {
        if (count == 0 || strcmp(all[count - 1].owner, all[i].owner) != 0)
            all[count++] = all[i];
    }
    if (count > 0)
        qsort(all, count, sizeof *all, by_position);
    for (size_t i = 0; i < count; i++)
        all[i].position = (int64_t)i + 1;
    view->view.waiters = all;
    view->view.waiter_count = count;
}

static int64_t newest_waiter_ms(const rlock_view *view) {
    int64_t since_ms = -1;
    for (size_t i = 0; i < view->waiter_count; i++) {
        if (view->waiters[i].since_ms > since_ms)
            since_ms = view->waiters[i].since_ms;
    }
    return since_ms;
}

/* What the holders say of the whole. */
static void conclude(rlock_view *view) {
    const bool shared =
        view->kind != NULL && (strcmp(view->kind, "read") == 0 || strcmp(view->kind, "write") == 0);
    bool writes = false;
    for (size_t i = 0; i < view->holder_count; i++)
        writes = writes || view->holders[i].writes;
    view->held = view->held || view->holder_count > 0;
    if (shared && view->holder_count > 0)
        view->kind = writes ? "write" : "read";
    view->since_ms = view->holder_count > 0 ? view->holders[0].since_ms : newest_waiter_ms(view);
}

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
    *why = "no memory";
    if ((!view->begun && !read_head(view, page)) || !read_rows(view, page))
        return RLOCK_SYSTEM;
    *why = "there is more to see of it than 32 MiB";
    if (view->size + view->hold_count * sizeof *view->holds +
            view->waiter_count * sizeof *view->waiters >
        RLOCK__RESP_LISTING)
        return RLOCK_UNAVAILABLE;
    (void)snprintf(view->next, sizeof view->next, "%s", rlock__reply_text(page, NEXT));
    if (view->next[0] == '\0' && !view->counts_permits && !knows_all_permits(view)) {
        view->counts_permits = true;
        memcpy(view->next, PERMITS, sizeof PERMITS);
    }
    if (view->next[0] != '\0')
        return RLOCK_AGAIN;
    *why = "no memory";
    if (!merge_holds(view))
        return RLOCK_SYSTEM;
    merge_waiters(view);
    conclude(&view->view);
    return RLOCK_OK;
}

struct rlock__view *rlock__view_new(const char *name, const char *server) {
    struct rlock__view *view = calloc(1, sizeof *view);
    if (view == NULL)
        return NULL;
    view->view.name = view->name = strdup(name);
    view->view.server = view->server = strdup(server);
    if (view->name != NULL && view->server != NULL)
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
    free(inside->name);
    free(inside->server);
    free(inside->holds);
    free(inside->waiters);
    free(inside->holders);
    free(inside);
}
