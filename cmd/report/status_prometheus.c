/* status_prometheus.c: what `rlock status` has seen, as figures in Prometheus's text format
 * (version 0.0.4). To add a figure: its row here, and its item in rlock-status(1), which
 * tests/cli/inspect/prometheus.bats compares.
 *
 * One sample of a series that comes twice, and a scraper refuses all of them: what has the same
 * labels is written once. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/describe.h"
#include "output/printable.h"
#include "report/status.h"

/* In the order in which they are written. Numbers of those in seconds are given in milliseconds.
 * What is said in words is a label of a series of its own: when it changes, as when a `run` that
 * `fair` waits for becomes a "fair", the other series go on. */
/* clang-format off */
#define FAMILIES(X)                                                                                \
    X(UP, "rlock_up", "Whether the server answered (1) or not (0).")                               \
    X(WRONG_KIND, "rlock_wrong_kind",                                                              \
      "How many of the names that were asked for are keys that are no lock.")                      \
    X(LOCK_INFO, "rlock_lock_info", "Which kind of lock it is; always 1.")                         \
    X(LAST_KEY, "rlock_last_key_info", "The last --once-key that has succeeded; always 1.")        \
    X(HELD, "rlock_held", "Whether the lock is held (1) or free (0).")                             \
    X(HOLDERS, "rlock_holders", "How many hold it.")                                               \
    X(READERS, "rlock_readers", "How many hold it to read.")                                       \
    X(KEPT, "rlock_kept", "How many of its holders are done with it, and --min-hold keeps it.")    \
    X(WAITING, "rlock_waiting", "How many wait for it.")                                           \
    X(HELD_SINCE, "rlock_held_since_timestamp_seconds",                                            \
      "When the first of its holders took it, since 1970, by the server's clock.")                 \
    X(HELD_FOR, "rlock_held_seconds", "How long the first of its holders has held it.")            \
    X(WAITING_FOR, "rlock_waiting_seconds", "How long the first of its waiters has waited.")       \
    X(TTL, "rlock_ttl_seconds", "How long until it frees itself unless it is renewed.")            \
    X(PERMITS, "rlock_permits", "How many permits there are in all.")                              \
    X(AVAILABLE, "rlock_permits_available", "How many permits are available.")                     \
    X(REMAINING, "rlock_latch_remaining", "How many count-downs are left.")                        \
    X(LAST_RUN, "rlock_last_run_timestamp_seconds",                                                \
      "When the last run with --once-per or --once-key ended, since 1970, by the server's clock.") \
    X(LAST_TOOK, "rlock_last_run_duration_seconds", "How long that run took.")                     \
    X(LAST_STATUS, "rlock_last_run_exit_status", "The exit status of that run.")                   \
    X(LAST_SUCCESS, "rlock_last_success_timestamp_seconds",                                        \
      "When the last such run that succeeded ended, since 1970.")                                  \
    X(SKIPS, "rlock_skips_in_a_row", "How often in a row it was not acquired, by --max-skips.")    \
    X(TOKEN, "rlock_token", "The last fencing token that was given out.")                          \
    X(HELD_BY, "rlock_held_by", "How many hold it there.")
/* clang-format on */

#define TO_CONSTANT(constant, name, help) constant,
#define TO_ROW(constant, name, help)      {name, help},
enum family { FAMILIES(TO_CONSTANT) FAMILY_COUNT };

static const struct { const char *name, *help; } families[] = {FAMILIES(TO_ROW)};

/* The samples of each family; zeroed at first. */
struct page {
    FILE *streams[FAMILY_COUNT]; /* NULL: it has none */
    char *texts[FAMILY_COUNT];
    size_t sizes[FAMILY_COUNT];
    bool failed; /* no memory */
};

static FILE *stream_of(struct page *page, enum family family) {
    FILE **stream = &page->streams[family];
    const char *name = families[family].name;
    if (*stream == NULL &&
        (*stream = open_memstream(&page->texts[family], &page->sizes[family])) != NULL)
        fprintf(*stream, "# HELP %s %s\n# TYPE %s gauge\n", name, families[family].help, name);
    return *stream;
}

/* A number that is negative is unknown, or there is none; but for the permits that are available,
 * of which there may be fewer than none. */
static void add(struct page *page, enum family family, const char *labels, int64_t number) {
    static const char seconds[] = "_seconds";
    const char *name = families[family].name;
    if (number == INT64_MIN || (number < 0 && family != AVAILABLE))
        return;
    FILE *stream = stream_of(page, family);
    if (stream == NULL)
        page->failed = true;
    else if (strcmp(name + strlen(name) - strlen(seconds), seconds) == 0)
        fprintf(stream, "%s{%s} %" PRId64 ".%03d\n", name, labels, number / 1000,
                (int)(number % 1000));
    else
        fprintf(stream, "%s{%s} %" PRId64 "\n", name, labels, number);
}

/* False: no memory. */
static bool write_all(struct page *page, FILE *stream) {
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (page->streams[i] != NULL && fclose(page->streams[i]) != 0)
            page->failed = true;
        else if (page->streams[i] != NULL)
            fputs(page->texts[i], stream);
        free(page->texts[i]);
    }
    return !page->failed;
}

/* --- labels ---------------------------------------------------------------------------------- */

static void write_escaped(FILE *stream, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\' || *text == '\n')
            fputc('\\', stream);
        fputc(*text == '\n' ? 'n' : *text, stream);
    }
}

/* Writes NAME="VALUE"; a value of NULL is empty. Passwords in it are hidden, and what is not
 * printable is a '?', but for a newline: the format has an escape for it. */
static void write_label(FILE *stream, const char *name, const char *value) {
    char *shown = strdup(value != NULL ? value : "");
    fprintf(stream, "%s=\"", name);
    if (shown != NULL) {
        secret_hide(shown);
        printable_make(shown, "\n");
        write_escaped(stream, shown);
    }
    fputc('"', stream);
    free(shown);
}

/* Those before it, and one or two more; NULL: none. Yours to free; NULL: no memory, which is noted.
 */
static char *make_labels(struct page *page, const char *before, const char *name, const char *value,
                         const char *second_name, const char *second) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream != NULL) {
        fprintf(stream, "%s%s", before != NULL ? before : "", before != NULL ? "," : "");
        write_label(stream, name, value);
        fputs(second_name != NULL ? "," : "", stream);
        if (second_name != NULL)
            write_label(stream, second_name, second);
        if (fclose(stream) == 0)
            return text;
    }
    free(text);
    page->failed = true;
    return NULL;
}

/* A sample whose last label is a text; NULL: there is none. */
static void add_text(struct page *page, enum family family, const char *labels, const char *name,
                     const char *text) {
    char *made = text != NULL ? make_labels(page, labels, name, text, NULL, NULL) : NULL;
    if (made != NULL)
        add(page, family, made, 1);
    free(made);
}

/* --- one lock -------------------------------------------------------------------------------- */

/* Of two times the earlier one that is known; -1: neither is. */
static int64_t sooner(int64_t a, int64_t b) {
    return b < 0 || (a >= 0 && a < b) ? a : b;
}

static void add_holders(struct page *page, const rlock_view *view, const char *labels) {
    const bool is_shared =
        view->kind != NULL && (strcmp(view->kind, "read") == 0 || strcmp(view->kind, "write") == 0);
    bool endless = false;
    int64_t readers = 0, kept = 0, since_ms = -1, ttl_ms = -1;
    for (size_t i = 0; i < view->holder_count; i++) {
        const struct rlock_view_holder *holder = &view->holders[i];
        readers += !holder->writes;
        kept += holder->kept;
        endless = endless || holder->ttl_ms < 0;
        since_ms = sooner(since_ms, holder->since_ms);
        ttl_ms = holder->ttl_ms > ttl_ms ? holder->ttl_ms : ttl_ms;
    }
    add(page, HOLDERS, labels, view->count < 0 ? (int64_t)view->holder_count : -1); /* a latch */
    add(page, READERS, labels, is_shared ? readers : -1);
    add(page, KEPT, labels, view->holder_count > 0 ? kept : -1);
    add(page, HELD_SINCE, labels, since_ms);
    add(page, HELD_FOR, labels, describe_age_ms(view, since_ms));
    add(page, TTL, labels, endless ? -1 : ttl_ms);
}

static void add_waiters(struct page *page, const rlock_view *view, const char *labels) {
    int64_t since_ms = -1;
    for (size_t i = 0; i < view->waiter_count; i++)
        since_ms = sooner(since_ms, view->waiters[i].since_ms);
    add(page, WAITING, labels, (int64_t)view->waiter_count);
    add(page, WAITING_FOR, labels, describe_age_ms(view, since_ms));
}

static void add_last_run(struct page *page, const rlock_view *view, const char *labels) {
    const struct rlock_view_run *run = view->last_run;
    if (run == NULL)
        return;
    add_text(page, LAST_KEY, labels, "key", run->key);
    add(page, LAST_RUN, labels, run->ended_ms);
    add(page, LAST_TOOK, labels, run->took_ms);
    add(page, LAST_STATUS, labels, run->exit_status);
    add(page, LAST_SUCCESS, labels, run->succeeded_ms);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Holders by host and user, which are fewer than processes. */
static void add_places(struct page *page, const rlock_view *view, const char *labels) {
    char **places = calloc(view->holder_count + 1, sizeof *places);
    size_t count = 0;
    page->failed = page->failed || places == NULL;
    for (size_t i = 0; !page->failed && i < view->holder_count; i++) {
        const struct rlock_view_holder *holder = &view->holders[i];
        if (holder->host != NULL && !holder->kept)
            places[count++] = make_labels(page, labels, "host", holder->host, "user", holder->user);
    }
    if (!page->failed)
        qsort(places, count, sizeof *places, by_text);
    for (size_t i = 0, to; !page->failed && i < count; i = to) {
        for (to = i; to < count && strcmp(places[i], places[to]) == 0;)
            to++;
        add(page, HELD_BY, places[i], (int64_t)(to - i));
    }
    for (size_t i = 0; i < count; i++)
        free(places[i]);
    free(places);
}

static void add_view(struct page *page, const rlock_view *view, const char *labels) {
    add_text(page, LOCK_INFO, labels, "kind", view->kind);
    add(page, HELD, labels, view->held);
    add_holders(page, view, labels);
    add_waiters(page, view, labels);
    add(page, PERMITS, labels, view->permits_total);
    add(page, AVAILABLE, labels, view->permits_available);
    add(page, REMAINING, labels, view->count);
    add_last_run(page, view, labels);
    add(page, SKIPS, labels, view->skips > 0 ? view->skips : -1);
    add(page, TOKEN, labels, view->token);
    add_places(page, view, labels);
}

/* --- all of it ------------------------------------------------------------------------------- */

static void add_servers(struct page *page, const struct survey *survey) {
    for (size_t i = 0; i < survey->server_count; i++) {
        const struct survey_server *server = &survey->servers[i];
        char *labels = make_labels(page, NULL, "server", server->url, NULL, NULL);
        if (labels != NULL) {
            add(page, UP, labels, server->answered);
            add(page, WRONG_KIND, labels, (int64_t)server->no_locks);
        }
        free(labels);
    }
}

struct series {
    char *labels;
    const rlock_view *view;
};

static int by_labels(const void *a, const void *b) {
    return strcmp(((const struct series *)a)->labels, ((const struct series *)b)->labels);
}

/* Each lock once, sorted. */
static void add_locks(struct page *page, const struct survey *survey) {
    struct series *series = calloc(survey->count + 1, sizeof *series);
    page->failed = page->failed || series == NULL;
    for (size_t i = 0; !page->failed && i < survey->count; i++) {
        const rlock_view *view = series[i].view = survey->views[i];
        series[i].labels = make_labels(page, NULL, "name", view->name, "server", view->server);
    }
    if (!page->failed)
        qsort(series, survey->count, sizeof *series, by_labels);
    for (size_t i = 0; !page->failed && i < survey->count; i++) {
        if (i == 0 || by_labels(&series[i - 1], &series[i]) != 0)
            add_view(page, series[i].view, series[i].labels);
    }
    for (size_t i = 0; series != NULL && i < survey->count; i++)
        free(series[i].labels);
    free(series);
}

bool status_prometheus(FILE *stream, const struct survey *survey) {
    struct page page = {.failed = false};
    add_servers(&page, survey);
    add_locks(&page, survey);
    return write_all(&page, stream);
}
