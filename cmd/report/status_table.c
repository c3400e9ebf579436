/* status_table.c: what `rlock status` has seen, for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/columns.h"
#include "output/duration.h"
#include "output/table.h"
#include "report/cell.h"
#include "report/status.h"

enum { WAITERS_SHOWN = 5, COLUMNS = 10 };

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
    {.title = "NOTE", .least = 8, .turn = 1}, /* where anybody has one */
};

/* A row's cells; NULL: empty. */
struct row {
    const char *name, *kind, *state, *who, *lease, *command, *note;
    const char *state_style, *lease_style; /* see table_add() */
    int64_t pid, for_ms, token;            /* -1: unknown */
};

#define EMPTY_ROW .pid = -1, .for_ms = -1, .token = -1

/* A table that takes so many rows; what is more is left out. */
struct filling {
    struct table table;
    const struct status_form *form;
    size_t room;
};

static bool add_row(struct filling *filling, const struct row *row) {
    struct table *table = &filling->table;
    char pid[24] = "", token[24] = "", age[DURATION_TEXT_SIZE] = "";
    if (filling->room == 0)
        return true;
    filling->room--;
    if (row->pid >= 0)
        (void)snprintf(pid, sizeof pid, "%" PRId64, row->pid);
    if (row->token >= 0)
        (void)snprintf(token, sizeof token, "%" PRId64, row->token);
    if (row->for_ms >= 0)
        duration_format_seconds(age, row->for_ms);
    return table_add(table, row->name, NULL) && table_add(table, row->kind, NULL) &&
           table_add(table, row->state, row->state_style) && table_add(table, row->who, NULL) &&
           table_add(table, pid, NULL) && table_add(table, age, NULL) &&
           table_add(table, row->lease, row->lease_style) && table_add(table, token, NULL) &&
           table_add(table, row->command, NULL) &&
           (table->column_count < COLUMNS || table_add(table, row->note, NULL));
}

static int64_t age_ms(const rlock_view *view, int64_t since_ms) {
    return since_ms < 0 ? -1 : view->as_of_ms > since_ms ? view->as_of_ms - since_ms : 0;
}

/* --- rows ------------------------------------------------------------------------------------ */

static bool add_holder(struct filling *filling, const rlock_view *view, size_t i, bool named) {
    const struct rlock_view_holder *holder = &view->holders[i];
    char state[CELL_STATE_SIZE], lease[CELL_LEASE_SIZE];
    if (filling->room == 0)
        return true;
    char *who = cell_who(holder->owner, holder->host, holder->user);
    cell_hold(state, holder);
    const struct row row = {
        .name = named ? view->name : NULL,
        .kind = named ? view->kind : NULL,
        .state = state,
        .state_style = holder->kept ? CELL_KEPT : CELL_TAKEN,
        .who = who,
        .lease_style = cell_lease(lease, filling->form, view, holder),
        .lease = lease,
        .command = holder->command,
        .note = holder->note,
        .pid = holder->kept ? -1 : holder->pid,
        .for_ms = age_ms(view, holder->since_ms),
        .token = holder->token,
    };
    const bool added = who != NULL && add_row(filling, &row);
    free(who);
    return added;
}

/* How many waiters have a row. */
static size_t waiters_shown(const rlock_view *view, const struct status_form *form) {
    return form->all || view->waiter_count <= WAITERS_SHOWN ? view->waiter_count : WAITERS_SHOWN;
}

static bool add_waiters(struct filling *filling, const rlock_view *view) {
    char state[CELL_STATE_SIZE];
    bool added = true;
    const size_t shown = waiters_shown(view, filling->form);
    for (size_t i = 0; added && i < shown && filling->room > 0; i++) {
        const struct rlock_view_waiter *waiter = &view->waiters[i];
        char *who = cell_who(waiter->owner, waiter->host, waiter->user);
        (void)snprintf(state, sizeof state, "waits %" PRId64, waiter->position);
        const struct row row = {.state = state,
                                .state_style = CELL_WAITS,
                                .who = who,
                                .command = waiter->command,
                                .note = waiter->note,
                                .pid = waiter->pid,
                                .for_ms = age_ms(view, waiter->since_ms),
                                .token = -1};
        added = who != NULL && add_row(filling, &row);
        free(who);
    }
    if (!added || shown == view->waiter_count)
        return added;
    (void)snprintf(state, sizeof state, "%zu more", view->waiter_count - shown);
    return add_row(filling, &(struct row){.state = state, .state_style = CELL_WAITS, EMPTY_ROW});
}

/* FOR says how long ago it ended. */
static bool add_last_run(struct filling *filling, const rlock_view *view) {
    const struct rlock_view_run *run = view->last_run;
    char state[CELL_STATE_SIZE];
    if (run == NULL || filling->room == 0)
        return true;
    char *who = cell_who(NULL, run->host, run->user);
    cell_run(state, run);
    const struct row row = {.state = state,
                            .state_style = run->exit_status == 0 ? CELL_FREE : CELL_FAILED,
                            .who = who,
                            .command = run->command,
                            .pid = -1, /* that process is gone */
                            .for_ms = age_ms(view, run->ended_ms),
                            .token = -1};
    const bool added = who != NULL && add_row(filling, &row);
    free(who);
    return added;
}

/* Whether what there is of the lock as a whole stands in a row of its own. */
static bool has_own_row(const rlock_view *view) {
    return view->permits_available != INT64_MIN || view->holder_count == 0;
}

static size_t count_rows(const rlock_view *view, const struct status_form *form) {
    const size_t waiters = waiters_shown(view, form);
    return has_own_row(view) + view->holder_count + waiters + (waiters < view->waiter_count) +
           (view->last_run != NULL);
}

static bool add_view(struct filling *filling, const rlock_view *view) {
    char state[CELL_STATE_SIZE];
    cell_state(state, view);
    const struct row own = {.name = view->name,
                            .kind = view->kind,
                            .state = state,
                            .state_style = view->held ? CELL_TAKEN : CELL_FREE,
                            EMPTY_ROW};
    if (has_own_row(view) && !add_row(filling, &own))
        return false;
    for (size_t i = 0; i < view->holder_count; i++) {
        if (!add_holder(filling, view, i, i == 0 && !has_own_row(view)))
            return false;
    }
    return add_waiters(filling, view) && add_last_run(filling, view);
}

/* --- the locks of one server ------------------------------------------------------------------ */

/* Whether they take more rows than there are. */
static bool are_more(rlock_view *const *views, size_t count, const struct status_form *form,
                     size_t rows) {
    for (size_t i = 0; i < count; i++) {
        const size_t taken = count_rows(views[i], form);
        if (taken > rows)
            return true;
        rows -= taken;
    }
    return false;
}

static bool has_note(const rlock_view *view) {
    for (size_t i = 0; i < view->holder_count; i++) {
        if (view->holders[i].note != NULL)
            return true;
    }
    for (size_t i = 0; i < view->waiter_count; i++) {
        if (view->waiters[i].note != NULL)
            return true;
    }
    return false;
}

static size_t columns_for(rlock_view *const *views, size_t count) {
    size_t i = 0;
    while (i < count && !has_note(views[i]))
        i++;
    return i < count ? COLUMNS : COLUMNS - 1;
}

/* What had no row: locks, or rows of the last one. */
static void write_rest(FILE *stream, rlock_view *const *views, size_t count, size_t rows,
                       size_t width) {
    char line[128];
    size_t held = 0, waiting = 0;
    for (size_t i = 0; i < count; i++) {
        held += views[i]->held;
        waiting += views[i]->waiter_count;
    }
    if (count > 0)
        (void)snprintf(line, sizeof line, "%zu more: %zu held, %zu waiting", count, held, waiting);
    else
        (void)snprintf(line, sizeof line, "%zu more lines", rows);
    columns_cut(line, width);
    fprintf(stream, "%s\n", line);
}

bool status_table_part(FILE *stream, const struct survey *survey, size_t from, size_t to,
                       size_t lines, const struct status_form *form, size_t *taken) {
    rlock_view *const *views = &survey->views[from];
    const size_t count = to - from, rows = lines > 0 ? lines - 1 : 0; /* below the titles */
    const bool more = are_more(views, count, form, rows);
    struct filling filling = {
        .table = {.columns = columns, .column_count = columns_for(views, count)},
        .form = form,
        .room = more && rows > 0 ? rows - 1 : rows,
    };
    bool added = true;
    size_t shown = 0, left_out = 0;
    for (; added && shown < count && filling.room > 0; shown++) {
        const size_t room = filling.room, wanted = count_rows(views[shown], form);
        added = add_view(&filling, views[shown]);
        left_out = wanted > room ? wanted - room : 0;
    }
    if (added && lines > 0)
        table_write(&filling.table, stream, form->width, form->colours);
    if (added && more && rows > 0)
        write_rest(stream, &views[shown], count - shown, left_out, form->width);
    *taken =
        lines > 0 ? 1 + filling.table.count / filling.table.column_count + (more && rows > 0) : 0;
    table_free(&filling.table);
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

size_t status_table_end(const struct survey *survey, size_t from) {
    size_t to = from;
    while (to < survey->count &&
           strcmp(survey->views[to]->server, survey->views[from]->server) == 0)
        to++;
    return to;
}

bool status_table(FILE *stream, const struct survey *survey, const struct status_form *form) {
    bool written = true;
    if (form->says_none && survey->count == 0)
        fputs("no locks\n", stream);
    for (size_t from = 0, to, taken; written && from < survey->count; from = to) {
        to = status_table_end(survey, from);
        if (form->several)
            write_server(stream, survey->views[from]->server, from > 0, form->width);
        written = status_table_part(stream, survey, from, to, SIZE_MAX, form, &taken);
    }
    return written;
}
