/* survey.c: what all servers say of the names that were asked for, or of all their locks. */
#include "survey.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

enum {
    QUORUM_MS = 1000, /* for one of several servers: the others know as much */
    PROGRESS_MS = 300 /* a search that is over by then needs no line, and between two of them */
};

struct surveyor {
    struct survey *survey;
    const struct server *server;
    const struct settings *settings;
    size_t which;    /* of the servers */
    int failure;     /* of that one */
    bool unanswered; /* it has not answered: more questions are of no use */
};

void survey_free(struct survey *survey) {
    for (size_t i = 0; i < survey->count; i++)
        rlock_view_free(survey->views[i]);
    free(survey->views);
    *survey = (struct survey){.views = NULL};
}

static int64_t deadline_ms(const struct surveyor *s) {
    const int64_t timeout_ms = s->settings->connect_timeout_ms + s->settings->io_timeout_ms;
    const bool several = s->settings->server_count > 1;
    return rlock_now_ms() + (several && timeout_ms > QUORUM_MS ? QUORUM_MS : timeout_ms);
}

static void explain(struct surveyor *s, const char *verb, const char *name,
                    enum rlock_status status) {
    s->failure = server_explain_at(s->server, s->settings, s->which, verb, name, status);
    s->unanswered = status != RLOCK_WRONG_KIND;
}

/* Takes the view over. */
static bool keep(struct survey *survey, rlock_view *view) {
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

static enum rlock_status look(const struct surveyor *s, const char *name, rlock_view **view) {
    const struct rlock_look_at at = {
        .name = name, .server = s->which, .deadline_ms = deadline_ms(s), .cancel_fd = -1};
    return rlock_look(s->server->client, &at, view);
}

static void look_at_names(struct surveyor *s) {
    for (size_t i = 0; i < s->settings->name_count && !s->unanswered; i++) {
        rlock_view *view;
        enum rlock_status status = look(s, s->settings->names[i], &view);
        if (status == RLOCK_OK && !keep(s->survey, view))
            status = RLOCK_SYSTEM;
        if (status != RLOCK_OK)
            explain(s, "look at", s->settings->names[i], status);
    }
}

/* --- all of them ----------------------------------------------------------------------------- */

static void show_progress(int64_t *next_ms, int64_t looked, size_t found) {
    const int64_t now = rlock_now_ms();
    if (now < *next_ms)
        return;
    *next_ms = now + PROGRESS_MS;
    if (found == 0)
        out_live("looking for locks: %" PRId64 " keys", looked);
    else
        out_live("looking at locks: %zu", found);
}

/* What a key tells of may be over, or have been something else all along. */
static bool is_lock(const rlock_view *view) {
    return view->held || view->waiter_count > 0 || view->permits_available >= 0;
}

static int newest_first(const void *a, const void *b) {
    const rlock_view *one = *(rlock_view *const *)a, *other = *(rlock_view *const *)b;
    if (one->since_ms != other->since_ms)
        return one->since_ms > other->since_ms ? -1 : 1;
    return strcmp(one->name, other->name);
}

static void look_at_found(struct surveyor *s, const rlock_scan *scan, int64_t *next_ms) {
    const size_t first = s->survey->count;
    const char *name;
    for (size_t i = 0; (name = rlock_scan_name(scan, i)) != NULL && !s->unanswered; i++) {
        rlock_view *view;
        enum rlock_status status = look(s, name, &view);
        show_progress(next_ms, 0, i + 1);
        if (status == RLOCK_WRONG_KIND)
            continue;
        if (status == RLOCK_OK && !is_lock(view))
            rlock_view_free(view);
        else if (status == RLOCK_OK && !keep(s->survey, view))
            status = RLOCK_SYSTEM;
        if (status != RLOCK_OK)
            explain(s, "look at", name, status);
    }
    if (s->survey->count > first)
        qsort(s->survey->views + first, s->survey->count - first, sizeof(rlock_view *),
              newest_first);
}

static void look_at_all(struct surveyor *s) {
    rlock_scan *scan;
    int64_t next_ms = rlock_now_ms() + PROGRESS_MS;
    enum rlock_status status = rlock_scan_new(&scan, s->server->client, s->which);
    if (status == RLOCK_OK)
        status = RLOCK_AGAIN;
    while (status == RLOCK_AGAIN) {
        status = rlock_scan_step(scan, deadline_ms(s), -1);
        show_progress(&next_ms, rlock_scan_looked(scan), 0);
    }
    if (status == RLOCK_OK)
        look_at_found(s, scan, &next_ms);
    out_live_end();
    if (status != RLOCK_OK)
        explain(s, "look for", "locks", status);
    rlock_scan_free(scan);
}

/* Of several servers a majority is enough, as for a lock; what is no lock anywhere is told. */
void survey_make(struct survey *survey, const struct server *server,
                 const struct settings *settings) {
    const size_t count = settings->server_count;
    int wrong_kind = 0, unanswered = 0;
    *survey = (struct survey){.views = NULL};
    for (size_t i = 0; i < count; i++) {
        struct surveyor surveyor = {survey, server, settings, i, 0, false};
        if (settings->name_count > 0)
            look_at_names(&surveyor);
        else
            look_at_all(&surveyor);
        survey->answered += !surveyor.unanswered;
        if (surveyor.unanswered)
            unanswered = surveyor.failure;
        else if (surveyor.failure != 0)
            wrong_kind = surveyor.failure;
    }
    survey->failure = survey->answered <= count / 2 ? unanswered : wrong_kind;
}
