/* view_merge.c: puts a view together from the rows of all pages: each holder and waiter once.
 *
 * Others take the lock and give it back between two pages, and Redis's cursors pass by what moves
 * once more: a hold may come twice, and one owner's holds on several pages. */
#include <stdlib.h>
#include <string.h>

#include "admin/admin.h"

enum { ID_OF_HOLD = 24 }; /* digits that all permits of one hold have in common */

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
    free((void *)view->view.holders); /* of the pages before */
    view->view.holders = out;
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
    view->view.holder_count = count;
    return true;
}

static int by_position(const void *a, const void *b) {
    const struct rlock_view_waiter *one = a, *other = b;
    return (one->position > other->position) - (one->position < other->position);
}

static int by_owner(const void *a, const void *b) {
    const struct rlock_view_waiter *one = a, *other = b;
    const int order = strcmp(one->owner, other->owner);
    return order != 0 ? order : by_position(a, b);
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

bool rlock__view_merge(struct rlock__view *view) {
    if (!merge_holds(view))
        return false;
    merge_waiters(view);
    conclude(&view->view);
    return true;
}
