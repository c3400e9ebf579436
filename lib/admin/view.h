/* view.h: what a server says of a name, put together from the pages of inspect.lua. */
#ifndef RLOCK_VIEW_H
#define RLOCK_VIEW_H

#include "redis/conn.h"
#include "rlock_admin.h"

enum { RLOCK__PLACE_SIZE = 32 };

struct rlock__view {
    rlock_view view; /* first: what the caller has, once it is complete */
    char *name, *server;
    char next[RLOCK__PLACE_SIZE]; /* where the next page begins, for the script */
    /* The inside. */
    struct rlock__hold *holds; /* as they have come; later one for each holder */
    struct rlock_view_waiter *waiters;
    size_t hold_count, waiter_count;
    int64_t leased; /* permits in use, as the first page says it; -1: no semaphore */
    bool begun, counts_permits;
    struct rlock_view_run last_run;
    struct rlock_view_holder *holders;
    char **texts;            /* what the others point into */
    size_t text_count, size; /* size: what all of it takes */
};

/* NULL: no memory. */
struct rlock__view *rlock__view_new(const char *name, const char *server);

/* Adds a page, and keeps nothing of the reply. RLOCK_AGAIN: another is needed, view->next.
 * RLOCK_OK: that was all, the view is complete. RLOCK_UNAVAILABLE: it can't be understood, or there
 * is more than anybody wants to see: *why says which. RLOCK_SYSTEM. */
enum rlock_status rlock__view_add(struct rlock__view *view, const rlock__reply *page,
                                  const char **why);

#endif
