/* watch.c: rlock status --watch. */
#include "report/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "output/out.h"
#include "process/deadline.h"
#include "report/status.h"

enum {
    PATIENCE_MS = 1000, /* with a server that has answered before: it is asked again soon */
    SHARE = 4, /* to look takes at most a fifth of the time: the pause is four times as long */
    BAR_PART = 10,
    BAR_MAX = 20, /* a bar has a tenth of the columns, and so many at most */
};

struct watch {
    const struct server *server;
    const struct settings *settings;
    struct survey last; /* the last one that some server has answered */
    int64_t last_ms;    /* when; -1: there has been none */
    bool answers;       /* the last one asked for is that */
    char *messages;     /* of that */
    int64_t pause_ms;
    int64_t patience_ms; /* twice as much each time that it was not enough: some are far away */
    struct leases leases;
    int signals;
};

/* --- a look ---------------------------------------------------------------------------------- */

/* On a screen messages stand in it; elsewhere, and until there is one, they go where they always
 * do. Returns the exit status, of which only what cannot be helped ends it. */
static int look(struct watch *w, bool on_screen) {
    struct survey survey;
    size_t size;
    const int64_t begun_ms = rlock_now_ms();
    free(w->messages);
    w->messages = NULL;
    FILE *kept = open_memstream(&w->messages, &size);
    out_keep(kept, !on_screen || w->last_ms < 0 || !isatty(STDERR_FILENO));
    survey_make(&survey, w->server, w->settings, w->patience_ms);
    out_keep(NULL, true);
    const bool made = kept != NULL && fclose(kept) == 0;
    const int status = survey.failure;
    w->answers = survey.answered > 0;
    if (w->answers) {
        survey_free(&w->last);
        w->last = survey;
        w->last_ms = rlock_now_ms();
        w->patience_ms = PATIENCE_MS;
    } else {
        w->patience_ms = w->patience_ms < INT32_MAX ? 2 * w->patience_ms : RLOCK_FOREVER;
        survey_free(&survey);
    }
    const int64_t took_ms = rlock_now_ms() - begun_ms;
    w->pause_ms = w->settings->watch_ms;
    if (w->answers && w->pause_ms < SHARE * took_ms)
        w->pause_ms = SHARE * took_ms;
    return made ? status : EXIT_SYSTEM;
}

/* --- and what it shows ----------------------------------------------------------------------- */

static int draw(struct watch *w, struct status_form *form) {
    struct out_page page;
    const struct status_moment moment = {
        .messages = w->messages,
        .silent_ms = w->answers ? -1 : rlock_now_ms() - w->last_ms,
        .every_ms = w->pause_ms,
    };
    FILE *stream = out_page_begin(&page);
    if (stream == NULL)
        return EXIT_SYSTEM;
    form->width -= 1; /* at a line's very end what erases its rest would erase the last letter */
    form->bar = form->width / BAR_PART < BAR_MAX ? form->width / BAR_PART : BAR_MAX;
    form->leases = &w->leases;
    leases_turn(&w->leases);
    (void)status_screen(stream, &w->last, form, &moment);
    return out_page_end(&page);
}

/* Where nothing is drawn over, what was seen before is not shown again. */
static int show(struct watch *w) {
    struct status_form form = status_form_choose(w->settings);
    if (form.is_screen)
        return draw(w, &form);
    return w->answers ? status_print(&w->last, w->settings) : 0;
}

/* --- until the next -------------------------------------------------------------------------- */

/* What calls for another drawing at once: another size, and a shell that has written in between.
 * Signals are read, and never come while a line is written. Returns a descriptor, -1 for none. */
static int begin_signals(void) {
    sigset_t drawn_again;
    (void)sigemptyset(&drawn_again);
    (void)sigaddset(&drawn_again, SIGWINCH);
    (void)sigaddset(&drawn_again, SIGCONT);
    (void)sigprocmask(SIG_BLOCK, &drawn_again, NULL);
    return signalfd(-1, &drawn_again, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* As a write would; but none comes while there is nothing to print. */
static int end_unread(void) {
    (void)raise(SIGPIPE);
    return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot write to standard output: %s",
                    strerror(EPIPE));
}

static int rest(struct watch *w) {
    const int64_t end_ms = boottime_ms() + w->pause_ms;
    struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN}, {.fd = STDOUT_FILENO}};
    struct signalfd_siginfo taken;
    int status = 0;
    for (int left_ms; status == 0 && (left_ms = boottime_left_ms(end_ms)) > 0;) {
        if (poll(fds, sizeof fds / sizeof *fds, left_ms) <= 0)
            continue;
        if (fds[1].revents != 0)
            return end_unread();
        const bool one = read(w->signals, &taken, sizeof taken) == sizeof taken;
        if (one && status_form_choose(w->settings).is_screen)
            status = show(w);
    }
    return status;
}

int watch(const struct server *server, const struct settings *settings) {
    struct watch w = {.server = server,
                      .settings = settings,
                      .last_ms = -1,
                      .patience_ms = RLOCK_FOREVER,
                      .signals = begin_signals()};
    int status = 0;
    while (status != EXIT_SYSTEM) {
        status = look(&w, status_form_choose(settings).is_screen);
        if (w.last_ms < 0 || status == EXIT_SYSTEM)
            break;
        if (show(&w) != 0 || rest(&w) != 0)
            status = EXIT_SYSTEM;
    }
    survey_free(&w.last);
    leases_free(&w.leases);
    free(w.messages);
    if (w.signals >= 0)
        (void)close(w.signals);
    return status;
}
