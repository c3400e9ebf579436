/* watch.c: rlock status --watch: redraws, follows the terminal's size, and ends at q. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "output/duration.h"
#include "output/out.h"
#include "output/printable.h"
#include "process/deadline.h"
#include "report/status.h"

enum {
    PATIENCE_MS = 1000, /* for a server that has answered before: ask it again soon */
    SHARE = 4,          /* pause four times as long as a look takes: a fifth of the time at most */
    LINE_SIZE = 2048
};

struct watch {
    const struct server *server;
    struct survey last; /* the last one that some server has answered */
    int64_t last_ms;    /* when; -1: none yet */
    bool answers;       /* the latest look is that one */
    char *messages;     /* of the latest look, on a terminal */
    int64_t pause_ms;
    int64_t patience_ms; /* doubled each time that it was too short: some servers are far away */
    int signals;
};

/* --- the key q ------------------------------------------------------------------------------- */

/* Lines and echo are off meanwhile, Ctrl-C and Ctrl-Z are the terminal's as ever. Whatever ends or
 * stops the process first restores the terminal: tcsetattr(3) may be called by a signal handler,
 * also while a server is being waited for. */

/* File-scope, for signal handlers have no arguments. */
static struct {
    struct termios before;
    volatile sig_atomic_t changed;
    bool is_gone;
} terminal;

static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};

/* Gives the terminal back as it was. A signal that ends or stops the process does so, too. */
static void keys_end(void) {
    if (terminal.changed && tcgetpgrp(STDIN_FILENO) == getpgrp())
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
    terminal.changed = false;
}

/* The handler has been reset by then (SA_RESETHAND): the signal does what it always does, but to
 * PID 1, which ends by itself. keys_listen() begins anew after SIGCONT. */
static void restore(int number) {
    const int error = errno;
    keys_end();
    (void)raise(number);
    if (number != SIGTSTP && getpid() == 1)
        _exit(128 + number);
    errno = error;
}

static void handle_endings(void) {
    struct sigaction now, action = {.sa_handler = restore};
    action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (sigaction(endings[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            (void)sigaction(endings[i], &action, NULL);
    }
}

/* Lets the terminal on standard input pass on each key at once, if this job has it. Call it before
 * each wait: another job may have had the terminal since. Returns the descriptor to poll for input;
 * -1: none. */
static int keys_listen(void) {
    if (terminal.is_gone || !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp())
        return -1;
    if (terminal.changed)
        return STDIN_FILENO;
    if (tcgetattr(STDIN_FILENO, &terminal.before) != 0)
        return -1;
    struct termios keys = terminal.before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    terminal.changed = true;
    handle_endings();
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    return STDIN_FILENO;
}

/* Takes what was typed. q ends the process as Ctrl-C does. */
static void keys_read(void) {
    char typed[64];
    const ssize_t length = read(STDIN_FILENO, typed, sizeof typed);
    terminal.is_gone = length == 0 || (length < 0 && errno != EINTR);
    if (length > 0 && memchr(typed, 'q', (size_t)length) != NULL)
        (void)raise(SIGINT);
}

/* --- a look ---------------------------------------------------------------------------------- */

/* On a terminal messages stand in the drawing; without one, and before the first drawing, they go
 * to standard error. Returns the exit status. */
static int look(struct watch *w, bool on_screen) {
    struct survey survey;
    size_t size;
    const int64_t begun_ms = rlock_now_ms();
    free(w->messages);
    w->messages = NULL;
    FILE *kept = open_memstream(&w->messages, &size);
    out_keep(kept, kept == NULL || !on_screen || w->last_ms < 0 || !isatty(STDERR_FILENO));
    survey_make(&survey, w->server, SURVEY_ALL, w->patience_ms);
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
    w->pause_ms = w->server->settings->look.watch_ms;
    if (w->answers && w->pause_ms < SHARE * took_ms)
        w->pause_ms = SHARE * took_ms;
    return made ? status : EXIT_SYSTEM;
}

/* --- a drawing ------------------------------------------------------------------------------- */

/* "12:00:03, every 2s: 4 locks, 3 held, 2 waiting on redis://10.77.0.1:6379" */
static void write_title(const struct watch *w, FILE *stream) {
    char clock[16] = "", text[DURATION_TEXT_SIZE];
    const time_t now = time(NULL);
    struct tm local;
    size_t held = 0, waiting = 0;
    for (size_t i = 0; i < w->last.count; i++) {
        held += w->last.views[i]->held;
        waiting += w->last.views[i]->waiter_count;
    }
    if (localtime_r(&now, &local) != NULL)
        (void)strftime(clock, sizeof clock, "%H:%M:%S", &local);
    fprintf(stream, "%s, every %s: ", clock, duration_format(text, w->pause_ms));
    if (!w->answers)
        fprintf(stream, "no answer for %s, this was last seen:\n",
                duration_format_seconds(text, rlock_now_ms() - w->last_ms));
    else if (w->last.server_count > 1)
        fprintf(stream, "%zu of %zu servers answer\n", w->last.answered, w->last.server_count);
    else
        fprintf(stream, "%zu lock%s, %zu held, %zu waiting on %s\n", w->last.count,
                w->last.count == 1 ? "" : "s", held, waiting,
                rlock_client_server_at(w->server->client, 0));
}

/* The title and the messages, which are not yet fit for a terminal. */
static void write_top(const struct watch *w, FILE *stream, const struct status_form *form) {
    char *text = NULL, line[LINE_SIZE];
    size_t size;
    FILE *lines = open_memstream(&text, &size);
    if (lines == NULL)
        return;
    write_title(w, lines);
    fputs(w->messages, lines);
    (void)fclose(lines);
    for (char *at = text, *end; at != NULL && (end = strchr(at, '\n')) != NULL; at = end + 1) {
        const char *style = at == text && w->answers ? "1" : "31";
        (void)snprintf(line, sizeof line, "%.*s", (int)(end - at), at);
        out_make_printable(line);
        columns_cut(line, form->width);
        if (form->colours)
            fprintf(stream, "\033[%sm%s\033[0m\n", style, line);
        else
            fprintf(stream, "%s\n", line);
    }
    free(text);
}

/* Overwrites line by line and erases what is left below, so that the screen is never empty. The
 * terminal's last line is the cursor's. */
static void write_over(FILE *stream, const char *text, const struct status_form *form) {
    size_t lines = 0, room = form->lines > 2 ? form->lines - 1 : 1;
    char more[64];
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    const size_t shown = lines > room ? room - 1 : lines;
    fputs("\033[H", stream);
    for (size_t i = 0; i < shown; i++) {
        const size_t length = strcspn(text, "\n");
        fprintf(stream, "%.*s\033[K\n", (int)length, text);
        text += length + 1;
    }
    (void)snprintf(more, sizeof more, "%zu more lines", lines - shown);
    columns_cut(more, form->width);
    fprintf(stream, "%s%s\033[J", shown < lines ? more : "", shown < lines ? "\033[K\n" : "");
}

static int draw(const struct watch *w, struct status_form *form) {
    struct out_page page;
    char *text = NULL;
    size_t size;
    FILE *stream = out_page_begin(&page), *lines = open_memstream(&text, &size);
    form->width -= 1; /* erasing behind a line that is full would erase its last letter */
    bool made = stream != NULL && lines != NULL;
    if (made) {
        write_top(w, lines, form);
        made = status_table(lines, &w->last, form);
    }
    made = lines != NULL && fclose(lines) == 0 && made;
    if (made)
        write_over(stream, text, form);
    free(text);
    const int status = stream != NULL ? out_page_end(&page) : EXIT_SYSTEM;
    return made ? status : EXIT_SYSTEM;
}

/* Where nothing is drawn over, what was printed before is not printed again. */
static int show(const struct watch *w) {
    struct status_form form = status_form_choose(w->server->settings);
    if (form.is_screen)
        return draw(w, &form);
    return w->answers ? status_print(&w->last, w->server->settings) : 0;
}

/* --- until the next -------------------------------------------------------------------------- */

/* Another size, and a shell that has written in between, call for a drawing at once. */
static int begin_signals(void) {
    sigset_t redraw;
    (void)sigemptyset(&redraw);
    (void)sigaddset(&redraw, SIGWINCH);
    (void)sigaddset(&redraw, SIGCONT);
    (void)sigprocmask(SIG_BLOCK, &redraw, NULL);
    return signalfd(-1, &redraw, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* As a write would fail; but there may be nothing to print for hours. */
static int end_unread(void) {
    (void)raise(SIGPIPE);
    return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot write to standard output: %s",
                    strerror(EPIPE));
}

static int rest(struct watch *w) {
    const int64_t end_ms = boottime_ms() + w->pause_ms;
    struct signalfd_siginfo taken;
    int status = 0;
    for (int left_ms; status == 0 && (left_ms = boottime_left_ms(end_ms)) > 0;) {
        const bool on_screen = status_form_choose(w->server->settings).is_screen;
        struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
                               {.fd = STDOUT_FILENO},
                               {.fd = on_screen ? keys_listen() : -1, .events = POLLIN}};
        if (poll(fds, sizeof fds / sizeof *fds, left_ms) <= 0)
            continue;
        if (fds[1].revents != 0)
            return end_unread();
        if (fds[2].revents != 0)
            keys_read();
        if (read(w->signals, &taken, sizeof taken) == sizeof taken && on_screen)
            status = show(w);
    }
    return status;
}

int watch(const struct server *server) {
    struct watch w = {
        .server = server, .last_ms = -1, .patience_ms = RLOCK_FOREVER, .signals = begin_signals()};
    int status = 0;
    if (status_form_choose(server->settings).is_screen)
        (void)keys_listen(); /* before anything is drawn that an echo would spoil */
    while (status != EXIT_SYSTEM) {
        status = look(&w, status_form_choose(server->settings).is_screen);
        if (w.last_ms < 0 || status == EXIT_SYSTEM)
            break;
        if (show(&w) != 0 || rest(&w) != 0)
            status = EXIT_SYSTEM;
    }
    keys_end();
    survey_free(&w.last);
    free(w.messages);
    if (w.signals >= 0)
        (void)close(w.signals);
    return status;
}
