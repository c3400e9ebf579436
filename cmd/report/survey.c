/* survey.c: what all servers say of the names that were asked for, or of all their locks. */
#include "report/survey.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "options/command.h"
#include "output/out.h"

enum {
    AT_ONCE = 100,    /* names: one round trip to a server that is far away */
    PROGRESS_MS = 300 /* a search that is over by then needs no line, and between two of them */
};

struct surveyor {
    struct survey *survey;
    const struct server *server;
    const struct settings *settings;
    size_t which;      /* of the servers */
    size_t first;      /* where its part of the survey begins: those asked for by name */
    size_t found;      /* where what was found begins */
    bool searches;     /* what is asked about now was found */
    bool has_patterns; /* among the names: all locks have to be found */
    int failure;       /* of that one */
    enum survey_depth depth;
    int64_t patience_ms;
    locale_t utf8;   /* in which a pattern's `?` is a character; 0: there is none */
    bool unanswered; /* it has not answered: more questions are of no use */
};

void survey_free(struct survey *survey) {
    for (size_t i = 0; i < survey->count; i++)
        rlock_view_free(survey->views[i]);
    free(survey->views);
    *survey = (struct survey){.views = NULL};
}

static int64_t deadline_ms(const struct surveyor *s) {
    return server_answer_by_ms(s->server, s->patience_ms, SERVER_GLANCE_MS);
}

static void explain(struct surveyor *s, const char *verb, const char *name,
                    enum rlock_status status) {
    const char *url = rlock_client_server_at(s->server->client, s->which);
    if (status == RLOCK_WRONG_KIND)
        s->failure = out_fail(EXIT_WRONG_KIND, name, url,
                              "cannot %s %s on %s: it is a key that is no lock", verb, name, url);
    else
        s->failure = server_explain(s->server, url, NULL, verb, name, status, "");
    s->unanswered = status != RLOCK_WRONG_KIND;
}

/* Takes the view over. */
static bool add_view(struct survey *survey, rlock_view *view) {
    if (survey->count == survey->room) {
        const size_t room = survey->room > 0 ? 2 * survey->room : 16;
        rlock_view **views = realloc(survey->views, room * sizeof *views);
        if (views == NULL) {
            rlock_view_free(view);
            return false;
        }
        survey->views = views;
        survey->room = room;
    }
    survey->views[survey->count++] = view;
    return true;
}

static bool is_pattern(const struct surveyor *s, const char *name) {
    const char *bracket = strchr(name, '[');
    return (s->settings->cmd->options & CMD_WAIT) == 0 &&
           (strpbrk(name, "*?") != NULL || (bracket != NULL && strchr(bracket, ']') != NULL));
}

/* What a key belonged to may be over, or have been something else all along. */
static bool is_lock(const rlock_view *view) {
    return view->held || view->waiter_count > 0 || view->permits_available != INT64_MIN ||
           view->last_run != NULL || view->skips > 0;
}

/* Whether it was asked for by its name, and is a lock. */
static bool is_named(const struct surveyor *s, const char *name) {
    for (size_t i = s->first; i < s->found; i++) {
        if (strcmp(s->survey->views[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* What a name is; takes the view over. What is no lock is left out, unless it was asked for by its
 * name: what may be a pattern is one then. */
static void add(struct surveyor *s, const char *name, rlock_view *view, enum rlock_status status) {
    const bool no_lock = status == RLOCK_WRONG_KIND || (status == RLOCK_OK && !is_lock(view)) ||
                         (status == RLOCK_DENIED && !s->searches);
    if (no_lock && (s->searches || is_pattern(s, name))) {
        s->has_patterns = true;
        rlock_view_free(view);
        return;
    }
    if (status == RLOCK_OK && !add_view(s->survey, view))
        status = RLOCK_SYSTEM;
    if (status != RLOCK_OK && !s->unanswered)
        explain(s, "look at", name, status);
}

/* Some names, in one round trip. */
static void inspect_some(struct surveyor *s, const char *const *names, size_t count) {
    rlock_view *views[AT_ONCE];
    enum rlock_status statuses[AT_ONCE];
    const struct rlock_inspect_options options = {
        .size = sizeof options,
        .server = s->which,
        .deadline_ms = deadline_ms(s),
        .cancel_fd = -1,
        .only_held = s->depth == SURVEY_HELD,
    };
    const enum rlock_status status =
        rlock_inspect_all(s->server->client, &options, names, count, views, statuses);
    for (size_t i = 0; i < count; i++)
        add(s, names[i], views[i], status == RLOCK_OK ? statuses[i] : status);
}

static void inspect_names(struct surveyor *s) {
    const char *const *names = (const char *const *)s->settings->names;
    for (size_t at = 0, count; at < s->settings->name_count && !s->unanswered; at += count) {
        const size_t rest = s->settings->name_count - at;
        count = rest < AT_ONCE ? rest : AT_ONCE;
        inspect_some(s, names + at, count);
    }
}

/* Names are UTF-8, whatever the caller's locale; where the system knows none a `?` is a byte. */
static bool fits(const struct surveyor *s, const char *pattern, const char *name) {
    const locale_t before = uselocale(s->utf8);
    const bool does = fnmatch(pattern, name, 0) == 0;
    (void)uselocale(before);
    return does;
}

/* A name that was found is asked for: all are, or one of the patterns fits. Those that are the name
 * of a lock themselves fit nothing else. */
static bool is_wanted(const struct surveyor *s, const char *found) {
    if (s->settings->name_count == 0)
        return true;
    for (size_t i = 0; i < s->settings->name_count; i++) {
        const char *name = s->settings->names[i];
        if (is_pattern(s, name) && !is_named(s, name) && fits(s, name, found))
            return !is_named(s, found);
    }
    return false;
}

/* --- all of them ----------------------------------------------------------------------------- */

static void show_progress(int64_t *next_ms, int64_t examined, size_t found) {
    const int64_t now = rlock_now_ms();
    if (now < *next_ms)
        return;
    *next_ms = now + PROGRESS_MS;
    if (found == 0)
        out_live("looking for locks: %" PRId64 " keys", examined);
    else
        out_live("looking at locks: %zu", found);
}

static int by_name(const void *a, const void *b) {
    const rlock_view *one = *(rlock_view *const *)a, *other = *(rlock_view *const *)b;
    return strcmp(one->name, other->name);
}

static int newest_first(const void *a, const void *b) {
    const rlock_view *one = *(rlock_view *const *)a, *other = *(rlock_view *const *)b;
    if (one->since_ms != other->since_ms)
        return one->since_ms > other->since_ms ? -1 : 1;
    return by_name(a, b);
}

/* The next of those that were found and are wanted, as many as are asked about at once. */
static size_t next_wanted(const struct surveyor *s, const rlock_scan *scan, size_t *at,
                          const char *names[AT_ONCE]) {
    const char *name;
    size_t count = 0;
    for (; count < AT_ONCE && (name = rlock_scan_name(scan, *at)) != NULL; ++*at) {
        if (is_wanted(s, name))
            names[count++] = name;
    }
    return count;
}

static void inspect_found(struct surveyor *s, const rlock_scan *scan, int64_t *next_ms) {
    const char *names[AT_ONCE];
    size_t at = 0, count;
    s->searches = true;
    while (!s->unanswered && (count = next_wanted(s, scan, &at, names)) > 0) {
        inspect_some(s, names, count);
        show_progress(next_ms, 0, at);
    }
    if (s->survey->count > s->found)
        qsort(s->survey->views + s->found, s->survey->count - s->found, sizeof(rlock_view *),
              s->settings->look.sort == SORT_NAME ? by_name : newest_first);
}

static void inspect_all(struct surveyor *s) {
    rlock_scan *scan;
    int64_t next_ms = rlock_now_ms() + PROGRESS_MS;
    enum rlock_status status = rlock_scan_new(&scan, s->server->client, s->which);
    if (status == RLOCK_OK)
        status = RLOCK_AGAIN;
    while (status == RLOCK_AGAIN) {
        status = rlock_scan_step(scan, deadline_ms(s), -1);
        show_progress(&next_ms, rlock_scan_looked(scan), 0);
    }
    if (status != RLOCK_OK)
        explain(s, "look for", "locks", status);
    s->unanswered = false; /* of a cluster with a node that is down: what the others have */
    if (scan != NULL)
        inspect_found(s, scan, &next_ms);
    s->unanswered = s->unanswered || status != RLOCK_OK;
    out_live_end();
    rlock_scan_free(scan);
}

/* Of several servers a majority is enough, as for a lock; what is no lock anywhere is said. */
void survey_make(struct survey *survey, const struct server *server, enum survey_depth depth,
                 int64_t patience_ms) {
    const struct settings *settings = server->settings;
    const size_t count = settings->server.count;
    const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    int wrong_kind = 0, unanswered = 0;
    *survey = (struct survey){.server_count = count};
    for (size_t i = 0; i < count; i++) {
        struct surveyor surveyor = {
            .survey = survey,
            .server = server,
            .settings = settings,
            .which = i,
            .first = survey->count,
            .depth = depth,
            .patience_ms = patience_ms,
            .utf8 = utf8,
        };
        inspect_names(&surveyor);
        surveyor.found = survey->count;
        if (settings->name_count == 0 || (surveyor.has_patterns && !surveyor.unanswered))
            inspect_all(&surveyor);
        survey->answered += !surveyor.unanswered;
        if (surveyor.unanswered)
            unanswered = surveyor.failure;
        else if (surveyor.failure != 0)
            wrong_kind = surveyor.failure;
    }
    survey->failure = survey->answered <= count / 2 ? unanswered : wrong_kind;
    if (utf8 != (locale_t)0)
        freelocale(utf8);
}

/* On how many of the servers the lock is held. A server's views stand beside each other, and a name
 * that was given twice has two of each. */
static size_t count_held(const struct survey *survey, const char *name) {
    const char *last = NULL;
    size_t held = 0;
    for (size_t i = 0; i < survey->count; i++) {
        const rlock_view *view = survey->views[i];
        if (!view->held || strcmp(view->name, name) != 0)
            continue;
        held += last == NULL || strcmp(last, view->server) != 0;
        last = view->server;
    }
    return held;
}

const rlock_view *survey_find_held(const struct survey *survey) {
    for (size_t i = 0; i < survey->count; i++) {
        const rlock_view *view = survey->views[i];
        if (view->held && count_held(survey, view->name) > survey->server_count / 2)
            return view;
    }
    return NULL;
}
