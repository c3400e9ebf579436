/* keys.c: the key q on the terminal of rlock status --watch.
 *
 * Lines and echo are off meanwhile, Ctrl-C and Ctrl-Z are the terminal's as ever. Whatever ends or
 * stops the process first restores the terminal: tcsetattr(3) may be called by a signal handler,
 * also while a server is being waited for. */
#include "report/keys.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* File-scope, for signal handlers have no arguments. */
static struct {
    struct termios before;
    volatile sig_atomic_t changed;
    bool is_gone;
} terminal;

static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};

void keys_end(void) {
    if (terminal.changed && tcgetpgrp(STDIN_FILENO) == getpgrp())
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
    terminal.changed = false;
}

/* The handler has been reset by then (SA_RESETHAND): the signal does what it always does.
 * keys_listen() begins anew after SIGCONT. */
static void restore(int number) {
    const int error = errno;
    keys_end();
    (void)raise(number);
    errno = error;
}

static void handle_endings(void) {
    struct sigaction now, action = {.sa_handler = restore};
    action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (sigaction(endings[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            (void)sigaction(endings[i], &action, NULL);
    }
}

int keys_listen(void) {
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

void keys_read(void) {
    char typed[64];
    const ssize_t length = read(STDIN_FILENO, typed, sizeof typed);
    terminal.is_gone = length == 0 || (length < 0 && errno != EINTR);
    if (length > 0 && memchr(typed, 'q', (size_t)length) != NULL)
        (void)raise(SIGINT);
}
