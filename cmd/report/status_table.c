/* status_table.c: what `rlock status` has seen, for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/describe.h"
#include "output/duration.h"
#include "output/printable.h"
#include "output/table.h"
#include "report/status.h"

enum { WAITERS_SHOWN = 5, STATE_SIZE = 64 };

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
    [NOTE] = {.title = "NOTE", .if_used = true},
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

/* Styles, see table_add(): rlock-status(1) has the rules. */
#define STYLE_FREE   "32"
#define STYLE_TAKEN  "33"
#define STYLE_WAITS  "36"
#define STYLE_KEPT   "2"
#define STYLE_FAILED "31"

/* A row's cells; NULL: empty. WHO is user@host, or of a client that leaves no more its owner. */
struct row {
    const char *name, *kind, *state, *owner, *host, *user, *lease, *command, *note;
    const char *state_style;    /* see table_add() */
    int64_t pid, for_ms, token; /* -1: unknown */
};

#define EMPTY_ROW .pid = -1, .for_ms = -1, .token = -1

static void add_row(struct table *table, const struct row *row) {
    char pid[24] = "", token[24] = "", age[DURATION_TEXT_SIZE] = "", *who = NULL;
    const bool has_user = row->host != NULL && row->user != NULL;
    const char *host = row->host != NULL ? row->host : row->owner != NULL ? row->owner : "";
    if (asprintf(&who, "%s%s%s", has_user ? row->user : "", has_user ? "@" : "", host) < 0) {
        table->failed = true;
        return;
    }
    if (row->pid >= 0)
        (void)snprintf(pid, sizeof pid, "%" PRId64, row->pid);
    if (row->token >= 0)
        (void)snprintf(token, sizeof token, "%" PRId64, row->token);
    if (row->for_ms >= 0)
        duration_format_seconds(age, row->for_ms);
    const char *const cells[COLUMNS] = {
        [NAME] = row->name,   [KIND] = row->kind, [STATE] = row->state,
        [WHO] = who,          [PID] = pid,        [FOR] = age,
        [LEASE] = row->lease, [TOKEN] = token,    [COMMAND] = row->command,
        [NOTE] = row->note};
    for (size_t i = 0; i < COLUMNS; i++)
        table_add(table, cells[i], i == STATE ? row->state_style : NULL);
    free(who);
}

/* What there is of a lock as a whole: in words of its kind. */
static void describe_lock(char text[STATE_SIZE], const rlock_view *view) {
    if (view->count >= 0)
        (void)snprintf(text, STATE_SIZE, "%" PRId64 " to go", view->count);
    else if (view->permits_available != INT64_MIN && view->permits_total >= 0)
        (void)snprintf(text, STATE_SIZE, "%" PRId64 " of %" PRId64 " free", view->permits_available,
                       view->permits_total);
    else if (view->permits_available != INT64_MIN)
        (void)snprintf(text, STATE_SIZE, "%" PRId64 " free", view->permits_available);
    else
        (void)snprintf(text, STATE_SIZE, "%s", view->held ? "held" : "free");
}

/* What a holder has: permits, or several holds; else "held". What --min-hold alone keeps is
 * nobody's any more. */
static void describe_hold(char text[STATE_SIZE], const struct rlock_view_holder *holder) {
    if (holder->permits >= 0)
        (void)snprintf(text, STATE_SIZE, "%s %" PRId64, holder->kept ? "kept" : "has",
                       holder->permits);
    else if (holder->holds > 1 && !holder->kept)
        (void)snprintf(text, STATE_SIZE, "held %" PRId64 "x", holder->holds);
    else
        (void)snprintf(text, STATE_SIZE, "%s", holder->kept ? "kept" : "held");
}

/* --- rows ------------------------------------------------------------------------------------ */

static void add_holder(struct table *table, const rlock_view *view, size_t i, bool named) {
    const struct rlock_view_holder *holder = &view->holders[i];
    const int64_t ttl_ms = holder->ttl_ms;
    char state[STATE_SIZE], lease[DURATION_TEXT_SIZE] = "";
    describe_hold(state, holder);
    if (ttl_ms >= 0)
        duration_format(lease, ttl_ms < 1000 ? ttl_ms : ttl_ms / 1000 * 1000);
    const struct row row = {
        .name = named ? view->name : NULL,
        .kind = named ? view->kind : NULL,
        .state = state,
        .state_style = holder->kept ? STYLE_KEPT : STYLE_TAKEN,
        .owner = holder->owner,
        .host = holder->host,
        .user = holder->user,
        .lease = lease,
        .command = holder->command,
        .note = holder->note,
        .pid = holder->kept ? -1 : holder->pid,
        .for_ms = describe_age_ms(view, holder->since_ms),
        .token = holder->token,
    };
    add_row(table, &row);
}

/* "any 1 of dev1, dev2; NOTE", as far as there is some of it. Yours to free; NULL: no memory. */
static char *waiter_note(const struct rlock_view_waiter *waiter) {
    const bool pool = waiter->any != NULL, noted = waiter->note != NULL;
    char *text = NULL;
    if (asprintf(&text, "%s%s%s%s", pool ? "any " : "", pool ? waiter->any : "",
                 pool && noted ? "; " : "", noted ? waiter->note : "") < 0)
        return NULL;
    return text;
}

static void add_waiters(struct table *table, const rlock_view *view, bool all) {
    char state[STATE_SIZE];
    const size_t shown =
        all || view->waiter_count <= WAITERS_SHOWN ? view->waiter_count : WAITERS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const struct rlock_view_waiter *waiter = &view->waiters[i];
        char *note = waiter_note(waiter);
        const int used = snprintf(state, sizeof state, "waits %" PRId64, waiter->position);
        if (waiter->priority != 0)
            (void)snprintf(state + used, sizeof state - (size_t)used, ", priority %" PRId64,
                           waiter->priority);
        const struct row row = {.state = state,
                                .state_style = STYLE_WAITS,
                                .owner = waiter->owner,
                                .host = waiter->host,
                                .user = waiter->user,
                                .command = waiter->command,
                                .note = note != NULL && *note != '\0' ? note : NULL,
                                .pid = waiter->pid,
                                .for_ms = describe_age_ms(view, waiter->since_ms),
                                .token = -1};
        table->failed = table->failed || note == NULL;
        add_row(table, &row);
        free(note);
    }
    if (shown == view->waiter_count)
        return;
    (void)snprintf(state, sizeof state, "%zu more", view->waiter_count - shown);
    add_row(table, &(struct row){.state = state, .state_style = STYLE_WAITS, EMPTY_ROW});
}

/* FOR says how long ago it ended. */
static void add_last_run(struct table *table, const rlock_view *view) {
    const struct rlock_view_run *run = view->last_run;
    char state[STATE_SIZE], took[DURATION_TEXT_SIZE];
    if (run == NULL)
        return;
    duration_format(took, run->took_ms < 0 ? 0 : run->took_ms);
    if (run->exit_status == 0)
        (void)snprintf(state, sizeof state, "ran %s", took);
    else
        (void)snprintf(state, sizeof state, "failed %" PRId64 " after %s", run->exit_status, took);
    const struct row row = {.state = state,
                            .state_style = run->exit_status == 0 ? STYLE_FREE : STYLE_FAILED,
                            .host = run->host,
                            .user = run->user,
                            .command = run->command,
                            .note = run->key,
                            .pid = -1, /* that process is gone */
                            .for_ms = describe_age_ms(view, run->ended_ms),
                            .token = -1};
    add_row(table, &row);
}

/* By rlock run --max-skips: how often in a row the lock was not acquired in time. */
static void add_skips(struct table *table, const rlock_view *view) {
    char state[STATE_SIZE];
    if (view->skips == 0)
        return;
    (void)snprintf(state, sizeof state, "%" PRId64 " skip%s in a row", view->skips,
                   view->skips == 1 ? "" : "s");
    add_row(table, &(struct row){.state = state, .state_style = STYLE_FAILED, EMPTY_ROW});
}

/* Whether what there is of the lock as a whole stands in a row of its own. */
static bool has_own_row(const rlock_view *view) {
    return view->permits_available != INT64_MIN || view->holder_count == 0;
}

static void add_view(struct table *table, const rlock_view *view, bool all) {
    char state[STATE_SIZE];
    describe_lock(state, view);
    const struct row own = {.name = view->name,
                            .kind = view->kind,
                            .state = state,
                            .state_style = view->held ? STYLE_TAKEN : STYLE_FREE,
                            EMPTY_ROW};
    if (has_own_row(view))
        add_row(table, &own);
    for (size_t i = 0; i < view->holder_count; i++)
        add_holder(table, view, i, i == 0 && !has_own_row(view));
    add_waiters(table, view, all);
    add_last_run(table, view);
    add_skips(table, view);
}

/* --- the locks of one server ------------------------------------------------------------------ */

/* The locks of one server, those of the survey from `from` up to `to`. */
static bool write_part(FILE *stream, const struct survey *survey, size_t from, size_t to,
                       const struct status_form *form) {
    struct table table = {.columns = columns,
                          .column_count = COLUMNS,
                          .steps = steps,
                          .step_count = sizeof steps / sizeof *steps};
    for (size_t i = from; i < to; i++)
        add_view(&table, survey->views[i], form->all);
    if (!table.failed)
        table_write(&table, stream, form->width, form->colours);
    table_free(&table);
    return !table.failed;
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
    if (survey->count == 0 && form->width != SIZE_MAX)
        fputs("no locks\n", stream);
    for (size_t from = 0, to; written && from < survey->count; from = to) {
        to = end_of_server(survey, from);
        if (survey->server_count > 1)
            write_server(stream, survey->views[from]->server, from > 0, form->width);
        written = write_part(stream, survey, from, to, form);
    }
    return written;
}
