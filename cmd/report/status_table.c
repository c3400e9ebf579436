/* status_table.c: what `rlock status` has seen, for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/columns.h"
#include "output/duration.h"
#include "output/table.h"
#include "report/cell.h"
#include "report/status.h"

enum { WAITERS_SHOWN = 5 };

enum column { NAME, KIND, STATE, WHO, PID, FOR, LEASE, TOKEN, COMMAND, NOTE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [NAME] = {.title = "NAME"},
    [KIND] = {.title = "KIND"},
    [STATE] = {.title = "STATE"},
    [WHO] = {.title = "WHO"},
    [PID] = {.title = "PID"},
    [FOR] = {.title = "FOR", .right = true},
    [LEASE] = {.title = "LEASE", .right = true},
    [TOKEN] = {.title = "TOKEN", .right = true},
    [COMMAND] = {.title = "COMMAND"},
    [NOTE] = {.title = "NOTE"}, /* where anybody has one */
};

/* The question at night is: on which host, which lock? So these go last. A part of a token, of a
 * process id or of a job's URL is of no use. Short commands are never cut: "slee..." saves nothing.
 */
static const struct table_step steps[] = {
    {NOTE, TABLE_DROP}, {TOKEN, TABLE_DROP}, {PID, TABLE_DROP},   {COMMAND, 12},
    {WHO, TABLE_TAIL},  {WHO, 30},           {NAME, 30},          {COMMAND, TABLE_DROP},
    {WHO, 20},          {NAME, 20},          {LEASE, TABLE_DROP}, {FOR, TABLE_DROP},
    {KIND, TABLE_DROP}, {WHO, 12},           {NAME, 12},          {STATE, TABLE_DROP},
    {WHO, 6},           {NAME, 6},           {WHO, TABLE_DROP},
};

/* A row's cells; NULL: empty. */
struct row {
    const char *name, *kind, *state, *who, *lease, *command, *note;
    const char *state_style;    /* see table_add() */
    int64_t pid, for_ms, token; /* -1: unknown */
};

#define EMPTY_ROW .pid = -1, .for_ms = -1, .token = -1

static bool add_row(struct table *table, const struct row *row) {
    char pid[24] = "", token[24] = "", age[DURATION_TEXT_SIZE] = "";
    if (row->pid >= 0)
        (void)snprintf(pid, sizeof pid, "%" PRId64, row->pid);
    if (row->token >= 0)
        (void)snprintf(token, sizeof token, "%" PRId64, row->token);
    if (row->for_ms >= 0)
        duration_format_seconds(age, row->for_ms);
    return table_add(table, row->name, NULL) && table_add(table, row->kind, NULL) &&
           table_add(table, row->state, row->state_style) && table_add(table, row->who, NULL) &&
           table_add(table, pid, NULL) && table_add(table, age, NULL) &&
           table_add(table, row->lease, NULL) && table_add(table, token, NULL) &&
           table_add(table, row->command, NULL) &&
           (table->column_count < COLUMNS || table_add(table, row->note, NULL));
}

static int64_t age_ms(const rlock_view *view, int64_t since_ms) {
    return since_ms < 0 ? -1 : view->as_of_ms > since_ms ? view->as_of_ms - since_ms : 0;
}

/* --- rows ------------------------------------------------------------------------------------ */

static bool add_holder(struct table *table, const rlock_view *view, size_t i, bool named) {
    const struct rlock_view_holder *holder = &view->holders[i];
    char state[CELL_STATE_SIZE], lease[CELL_LEASE_SIZE];
    char *who = cell_who(holder->owner, holder->host, holder->user);
    cell_hold(state, holder);
    cell_lease(lease, holder);
    const struct row row = {
        .name = named ? view->name : NULL,
        .kind = named ? view->kind : NULL,
        .state = state,
        .state_style = holder->kept ? CELL_KEPT : CELL_TAKEN,
        .who = who,
        .lease = lease,
        .command = holder->command,
        .note = holder->note,
        .pid = holder->kept ? -1 : holder->pid,
        .for_ms = age_ms(view, holder->since_ms),
        .token = holder->token,
    };
    const bool added = who != NULL && add_row(table, &row);
    free(who);
    return added;
}

static bool add_waiters(struct table *table, const rlock_view *view, bool all) {
    char state[CELL_STATE_SIZE];
    bool added = true;
    const size_t shown =
        all || view->waiter_count <= WAITERS_SHOWN ? view->waiter_count : WAITERS_SHOWN;
    for (size_t i = 0; added && i < shown; i++) {
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
        added = who != NULL && add_row(table, &row);
        free(who);
    }
    if (!added || shown == view->waiter_count)
        return added;
    (void)snprintf(state, sizeof state, "%zu more", view->waiter_count - shown);
    return add_row(table, &(struct row){.state = state, .state_style = CELL_WAITS, EMPTY_ROW});
}

/* FOR says how long ago it ended. */
static bool add_last_run(struct table *table, const rlock_view *view) {
    const struct rlock_view_run *run = view->last_run;
    char state[CELL_STATE_SIZE];
    if (run == NULL)
        return true;
    char *who = cell_who(NULL, run->host, run->user);
    cell_run(state, run);
    const struct row row = {.state = state,
                            .state_style = run->exit_status == 0 ? CELL_FREE : CELL_FAILED,
                            .who = who,
                            .command = run->command,
                            .note = run->key,
                            .pid = -1, /* that process is gone */
                            .for_ms = age_ms(view, run->ended_ms),
                            .token = -1};
    const bool added = who != NULL && add_row(table, &row);
    free(who);
    return added;
}

/* By rlock run --max-skips: how often in a row the lock was not acquired in time. */
static bool add_skips(struct table *table, const rlock_view *view) {
    char state[CELL_STATE_SIZE];
    if (view->skips == 0)
        return true;
    (void)snprintf(state, sizeof state, "%" PRId64 " skip%s in a row", view->skips,
                   view->skips == 1 ? "" : "s");
    return add_row(table, &(struct row){.state = state, .state_style = CELL_FAILED, EMPTY_ROW});
}

/* Whether what there is of the lock as a whole stands in a row of its own. */
static bool has_own_row(const rlock_view *view) {
    return view->permits_available != INT64_MIN || view->holder_count == 0;
}

static bool add_view(struct table *table, const rlock_view *view, bool all) {
    char state[CELL_STATE_SIZE];
    cell_state(state, view);
    const struct row own = {.name = view->name,
                            .kind = view->kind,
                            .state = state,
                            .state_style = view->held ? CELL_TAKEN : CELL_FREE,
                            EMPTY_ROW};
    if (has_own_row(view) && !add_row(table, &own))
        return false;
    for (size_t i = 0; i < view->holder_count; i++) {
        if (!add_holder(table, view, i, i == 0 && !has_own_row(view)))
            return false;
    }
    return add_waiters(table, view, all) && add_last_run(table, view) && add_skips(table, view);
}

/* --- the locks of one server ------------------------------------------------------------------ */

static bool has_note(const rlock_view *view) {
    if (view->last_run != NULL && view->last_run->key != NULL)
        return true;
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

/* The locks of one server, those of the survey from `from` up to `to`. */
static bool write_part(FILE *stream, const struct survey *survey, size_t from, size_t to,
                       const struct status_form *form) {
    rlock_view *const *views = &survey->views[from];
    struct table table = {.columns = columns,
                          .column_count = columns_for(views, to - from),
                          .steps = steps,
                          .step_count = sizeof steps / sizeof *steps};
    bool added = true;
    for (size_t i = from; added && i < to; i++)
        added = add_view(&table, survey->views[i], form->all);
    if (added)
        table_write(&table, stream, form->width, form->colours);
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

/* Where in the survey the locks of the server end that those at `from` are on. */
static size_t end_of_server(const struct survey *survey, size_t from) {
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
    for (size_t from = 0, to; written && from < survey->count; from = to) {
        to = end_of_server(survey, from);
        if (form->several)
            write_server(stream, survey->views[from]->server, from > 0, form->width);
        written = write_part(stream, survey, from, to, form);
    }
    return written;
}
