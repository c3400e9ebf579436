/* status_prometheus.c: what `rlock status` has seen, as figures in Prometheus's text format
 * (version 0.0.4). rlock-status(1) lists them.
 *
 * One sample of a series that comes twice, and a scraper refuses all of them: what has the same
 * labels is written once. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/printable.h"
#include "report/status.h"

/* What is said of one lock. */
struct series {
    const rlock_view *view;
    struct figures figures;
    char *labels; /* name="NAME",server="URL" */
};

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
static void label_write(FILE *stream, const char *name, const char *value) {
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

/* Yours to free; NULL: no memory. */
static char *make_labels(const rlock_view *view) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return NULL;
    label_write(stream, "name", view->name);
    fputc(',', stream);
    label_write(stream, "server", view->server);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

/* --- families --------------------------------------------------------------------------------- */

static void write_head(FILE *stream, const char *name, const char *help) {
    fprintf(stream, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void write_figure(FILE *stream, const struct figure *figure, const struct series *series,
                         size_t count) {
    bool begun = false;
    for (size_t i = 0; i < count; i++) {
        const int64_t number = *(const int64_t *)((const char *)&series[i].figures + figure->field);
        if (number == FIGURE_NONE)
            continue;
        if (!begun)
            write_head(stream, figure->name, figure->help);
        begun = true;
        fprintf(stream, "%s{%s} ", figure->name, series[i].labels);
        if (figure->is_ms)
            fprintf(stream, "%" PRId64 ".%03d\n", number / 1000, (int)(number % 1000));
        else
            fprintf(stream, "%" PRId64 "\n", number);
    }
}

/* --- what is no number of a lock ------------------------------------------------------------- */

static void write_servers(FILE *stream, const struct survey *survey) {
    write_head(stream, "rlock_up", "Whether the server answered (1) or not (0).");
    for (size_t i = 0; i < survey->server_count; i++) {
        fputs("rlock_up{", stream);
        label_write(stream, "server", survey->servers[i].url);
        fprintf(stream, "} %d\n", survey->servers[i].answered);
    }
    write_head(stream, "rlock_wrong_kind",
               "How many of the names that were asked for are keys that are no lock.");
    for (size_t i = 0; i < survey->server_count; i++) {
        fputs("rlock_wrong_kind{", stream);
        label_write(stream, "server", survey->servers[i].url);
        fprintf(stream, "} %zu\n", survey->servers[i].no_locks);
    }
}

/* What is said in words, as a label of a series of its own: when it changes, as when a `run` that
 * `fair` waits for becomes a "fair", the other series go on. */
struct word {
    const char *name, *help, *label;
    const char *(*of)(const rlock_view *view); /* NULL: none */
};

static const char *kind_of(const rlock_view *view) {
    return view->kind;
}

static const char *key_of(const rlock_view *view) {
    return view->last_run != NULL ? view->last_run->key : NULL;
}

static const struct word words[] = {
    {"rlock_lock_info", "Which kind of lock it is; always 1.", "kind", kind_of},
    {"rlock_last_key_info", "The last --once-key that has succeeded; always 1.", "key", key_of},
};

static void write_word(FILE *stream, const struct word *word, const struct series *series,
                       size_t count) {
    bool begun = false;
    for (size_t i = 0; i < count; i++) {
        const char *text = word->of(series[i].view);
        if (text == NULL)
            continue;
        if (!begun)
            write_head(stream, word->name, word->help);
        begun = true;
        fprintf(stream, "%s{%s,", word->name, series[i].labels);
        label_write(stream, word->label, text);
        fputs("} 1\n", stream);
    }
}

/* --- holders by host and user, which are fewer than processes --------------------------------- */

static char *make_place(const struct series *series, const struct rlock_view_holder *holder) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "%s,", series->labels);
    label_write(stream, "host", holder->host);
    fputc(',', stream);
    label_write(stream, "user", holder->user);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* places: as many as there are holders. Returns how many of them are known; SIZE_MAX: no memory. */
static size_t find_places(const struct series *series, char **places) {
    size_t count = 0;
    for (size_t i = 0; i < series->view->holder_count; i++) {
        const struct rlock_view_holder *holder = &series->view->holders[i];
        if (holder->host == NULL || holder->kept)
            continue;
        places[count] = make_place(series, holder);
        if (places[count++] == NULL)
            return SIZE_MAX;
    }
    qsort(places, count, sizeof *places, by_text);
    return count;
}

/* How many holders there are at each place. Returns false: no memory. */
static bool write_places(FILE *stream, const struct series *series, bool *begun) {
    const size_t room = series->view->holder_count;
    char **places = calloc(room + 1, sizeof *places);
    const size_t count = places != NULL ? find_places(series, places) : SIZE_MAX;
    for (size_t i = 0, to; count != SIZE_MAX && i < count; i = to) {
        for (to = i; to < count && strcmp(places[i], places[to]) == 0;)
            to++;
        if (!*begun)
            write_head(stream, "rlock_held_by", "How many hold it there.");
        *begun = true;
        fprintf(stream, "rlock_held_by{%s} %zu\n", places[i], to - i);
    }
    for (size_t i = 0; places != NULL && i < room; i++)
        free(places[i]);
    free(places);
    return count != SIZE_MAX;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int by_labels(const void *a, const void *b) {
    return strcmp(((const struct series *)a)->labels, ((const struct series *)b)->labels);
}

/* Each once, sorted. Returns how many; SIZE_MAX: no memory. */
static size_t make_series(const struct survey *survey, struct series *series) {
    size_t count = 0;
    for (size_t i = 0; i < survey->count; i++) {
        series[i] = (struct series){survey->views[i], figures_of(survey->views[i]),
                                    make_labels(survey->views[i])};
        if (series[i].labels == NULL)
            return SIZE_MAX;
    }
    if (survey->count > 0)
        qsort(series, survey->count, sizeof *series, by_labels);
    for (size_t i = 0; i < survey->count; i++) {
        if (count > 0 && by_labels(&series[count - 1], &series[i]) == 0)
            free(series[i].labels);
        else
            series[count++] = series[i];
        if (count <= i)
            series[i].labels = NULL;
    }
    return count;
}

bool status_prometheus(FILE *stream, const struct survey *survey) {
    struct series *series = calloc(survey->count + 1, sizeof *series);
    const size_t count = series != NULL ? make_series(survey, series) : SIZE_MAX;
    bool made = count != SIZE_MAX, begun = false;
    if (made) {
        write_servers(stream, survey);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            write_word(stream, &words[i], series, count);
        for (size_t i = 0; i < FIGURES; i++)
            write_figure(stream, &figure_rows[i], series, count);
    }
    for (size_t i = 0; made && i < count; i++)
        made = write_places(stream, &series[i], &begun);
    for (size_t i = 0; series != NULL && i < survey->count; i++)
        free(series[i].labels);
    free(series);
    return made;
}
