/* status_table.c: what `rlock status` has seen, for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/columns.h"
#include "output/duration.h"
#include "output/table.h"
#include "report/status.h"

enum { WAITERS_SHOWN = 5, STATE = 2, COLUMNS = 9 };

static const struct table_column columns[COLUMNS] = {
    {.title = "NAME", .least = 8, .turn = 3},
    {.title = "KIND"},
    {.title = "STATE"},
    {.title = "WHO", .least = 6, .turn = 2},
    {.title = "PID"},
    {.title = "FOR", .right = true},
    {.title = "LEASE", .right = true},
    {.title = "TOKEN", .right = true},
    {.title = "COMMAND", .least = 7, .turn = 1},
};

/* A row's cells; NULL: empty. */
struct row {
    const char *name, *kind, *state, *who, *command;
    int64_t pid, for_ms, lease_ms, token; /* -1: unknown */
};

#define EMPTY_ROW .pid = -1, .for_ms = -1, .lease_ms = -1, .token = -1

static bool add_row(struct table *table, const struct row *row) {
    char pid[24] = "", token[24] = "", age[DURATION_TEXT_SIZE] = "", lease[DURATION_TEXT_SIZE] = "";
    if (row->pid >= 0)
        (void)snprintf(pid, sizeof pid, "%" PRId64, row->pid);
    if (row->token >= 0)
        (void)snprintf(token, sizeof token, "%" PRId64, row->token);
    if (row->for_ms >= 0)
        duration_format_seconds(age, row->for_ms);
    if (row->lease_ms >= 0)
        duration_format(lease, row->lease_ms < 1000 ? row->lease_ms : row->lease_ms / 1000 * 1000);
    return table_add(table, row->name) && table_add(table, row->kind) &&
           table_add(table, row->state) && table_add(table, row->who) && table_add(table, pid) &&
           table_add(table, age) && table_add(table, lease) && table_add(table, token) &&
           table_add(table, row->command);
}

static int64_t age_ms(const rlock_view *view, int64_t since_ms) {
    return since_ms < 0 ? -1 : view->as_of_ms > since_ms ? view->as_of_ms - since_ms : 0;
}

/* "alice@web-01"; of a client that leaves no more, its owner. Yours to free. */
static char *describe(const char *owner, const char *host, const char *user) {
    char *who = NULL;
    if (host != NULL && user != NULL)
        return asprintf(&who, "%s@%s", user, host) >= 0 ? who : NULL;
    return strdup(host != NULL ? host : owner != NULL ? owner : "");
}

/* What there is of a lock as a whole: in words of its kind. */
static void describe_state(char *text, size_t size, const rlock_view *view) {
    if (view->count >= 0)
        (void)snprintf(text, size, "%" PRId64 " to go", view->count);
    else if (view->permits_available != INT64_MIN && view->permits_total >= 0)
        (void)snprintf(text, size, "%" PRId64 " of %" PRId64 " free", view->permits_available,
                       view->permits_total);
    else if (view->permits_available != INT64_MIN)
        (void)snprintf(text, size, "%" PRId64 " free", view->permits_available);
    else
        (void)snprintf(text, size, "%s", view->held ? "held" : "free");
}

/* What a holder has: permits, or several holds; else "held". What --min-hold alone keeps is
 * nobody's any more. */
static void describe_hold(char *text, size_t size, const struct rlock_view_holder *holder) {
    if (holder->kept && holder->permits >= 0)
        (void)snprintf(text, size, "kept %" PRId64, holder->permits);
    else if (holder->kept)
        (void)snprintf(text, size, "kept");
    else if (holder->permits >= 0)
        (void)snprintf(text, size, "has %" PRId64, holder->permits);
    else if (holder->holds > 1)
        (void)snprintf(text, size, "held %" PRId64 "x", holder->holds);
    else
        (void)snprintf(text, size, "held");
}

static bool add_holder(struct table *table, const rlock_view *view, size_t i, bool named) {
    const struct rlock_view_holder *holder = &view->holders[i];
    char state[32];
    char *who = describe(holder->owner, holder->host, holder->user);
    describe_hold(state, sizeof state, holder);
    const struct row row = {
        .name = named ? view->name : NULL,
        .kind = named ? view->kind : NULL,
        .state = state,
        .who = who,
        .command = holder->command,
        .pid = holder->kept ? -1 : holder->pid,
        .for_ms = age_ms(view, holder->since_ms),
        .lease_ms = holder->ttl_ms,
        .token = holder->token,
    };
    const bool added = who != NULL && add_row(table, &row);
    free(who);
    return added;
}

static bool add_waiters(struct table *table, const rlock_view *view, bool all) {
    char state[32];
    bool added = true;
    size_t shown = view->waiter_count;
    if (!all && shown > WAITERS_SHOWN)
        shown = WAITERS_SHOWN;
    for (size_t i = 0; added && i < shown; i++) {
        const struct rlock_view_waiter *waiter = &view->waiters[i];
        char *who = describe(waiter->owner, waiter->host, waiter->user);
        (void)snprintf(state, sizeof state, "waits %" PRId64, waiter->position);
        const struct row row = {.state = state,
                                .who = who,
                                .command = waiter->command,
                                .pid = waiter->pid,
                                .for_ms = age_ms(view, waiter->since_ms),
                                .lease_ms = -1,
                                .token = -1};
        added = who != NULL && add_row(table, &row);
        free(who);
    }
    if (!added || shown == view->waiter_count)
        return added;
    (void)snprintf(state, sizeof state, "%zu more", view->waiter_count - shown);
    return add_row(table, &(struct row){.state = state, EMPTY_ROW});
}

static bool add_view(struct table *table, const rlock_view *view, bool all) {
    const bool own_row = view->permits_available != INT64_MIN || view->holder_count == 0;
    char state[64];
    describe_state(state, sizeof state, view);
    if (own_row &&
        !add_row(table,
                 &(struct row){.name = view->name, .kind = view->kind, .state = state, EMPTY_ROW}))
        return false;
    for (size_t i = 0; i < view->holder_count; i++) {
        if (!add_holder(table, view, i, i == 0 && !own_row))
            return false;
    }
    return add_waiters(table, view, all);
}

static const char *style(size_t column, const char *text) {
    if (strcmp(text, columns[column].title) == 0)
        return "1";
    if (column != STATE)
        return NULL;
    return strncmp(text, "waits", 5) == 0 ? "36" : strcmp(text, "free") == 0 ? "32" : "33";
}

/* One server's part. False: no memory. */
static bool write_part(FILE *stream, rlock_view *const *views, size_t count,
                       const struct status_form *form) {
    struct table table = {.columns = columns, .column_count = COLUMNS};
    bool added = true;
    for (size_t i = 0; added && i < count; i++)
        added = add_view(&table, views[i], form->all);
    if (added)
        table_write(&table, stream, form->width, form->colours ? style : NULL);
    table_free(&table);
    return added;
}

/* A line that names the server stands before what it says. */
static void write_server(FILE *stream, const char *server, bool parted, size_t width) {
    char *text = strdup(server);
    if (text != NULL)
        columns_cut(text, width);
    fprintf(stream, "%s%s\n", parted ? "\n" : "", text != NULL ? text : "");
    free(text);
}

bool status_table(FILE *stream, const struct survey *survey, const struct status_form *form) {
    bool written = true;
    if (form->says_none && survey->count == 0)
        fputs("no locks\n", stream);
    for (size_t from = 0, to; written && from < survey->count; from = to) {
        const char *server = survey->views[from]->server;
        for (to = from; to < survey->count && strcmp(survey->views[to]->server, server) == 0;)
            to++;
        if (form->several)
            write_server(stream, server, from > 0, form->width);
        written = write_part(stream, &survey->views[from], to - from, form);
    }
    return written;
}
