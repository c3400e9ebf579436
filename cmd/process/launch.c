/* launch.c: a process becomes the command. */
#include "process/launch.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Refused where no signal may be queued (RLIMIT_SIGPENDING). */
static bool make_timer(timer_t *timer) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    return timer_create(CLOCK_BOOTTIME, &event, timer) == 0;
}

static bool can_make_timer(void) {
    timer_t timer;
    return make_timer(&timer) && timer_delete(timer) == 0;
}

/* A program on a slow disk may take its time, and after vfork(2) the guardian sees nothing
 * meanwhile. A timer goes away with exec(3). */
static void limit_exec(int64_t kill_at_ms) {
    const struct itimerspec when = {
        .it_value = {kill_at_ms / 1000, (long)(kill_at_ms % 1000) * 1000000}};
    timer_t timer;
    if (kill_at_ms != INT64_MAX && make_timer(&timer))
        (void)timer_settime(timer, TIMER_ABSTIME, &when, NULL);
}

/* Whether one of the texts, "NAME=value" or "NAME", is about this variable. */
static bool is_replaced(const char *texts, const char *variable) {
    const size_t length = (size_t)(strchrnul(variable, '=') - variable);
    for (; *texts != '\0'; texts += strlen(texts) + 1) {
        if (strncmp(texts, variable, length) == 0 &&
            (texts[length] == '=' || texts[length] == '\0'))
            return true;
    }
    return false;
}

/* The variables stay where they are. Not by putenv(3): that asks for memory. */
static void fill_environment(char **to, char *texts) {
    for (char **variable = environ; *variable != NULL; variable++) {
        if (!is_replaced(texts, *variable))
            *to++ = *variable;
    }
    for (size_t i = 0; i < TEXTS_MAX && *texts != '\0'; i++, texts += strlen(texts) + 1) {
        if (strchr(texts, '=') != NULL)
            *to++ = texts;
    }
    *to = NULL;
}

/* In the child, which may share our memory until exec: touch nothing but exec_error. */
_Noreturn static void become_command(const struct plan *plan, pid_t parent, int64_t kill_at_ms) {
    /* Should the guardian be killed, the command goes with it. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(128 + SIGKILL);
    limit_exec(kill_at_ms);
    if (plan->caller_ignored_child)
        (void)signal(SIGCHLD, SIG_IGN);
    (void)sigprocmask(SIG_SETMASK, plan->caller_mask, NULL);
    (void)execvpe(plan->argv[0], plan->argv, plan->environment);
    plan->shared->exec_error = errno;
    _exit(127);
}

/* vfork(2) copies no page tables, but returns only when the child has become the command: without a
 * timer to end it the guardian must see its deadline come. posix_spawn(3) can't set the death
 * signal. */
pid_t launch(const struct plan *plan, int64_t kill_at_ms) {
    const pid_t self = getpid();
    pid_t child;
    fill_environment(plan->environment, plan->shared->environment);
    if (can_make_timer())
        child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
    else
        child = fork();
    if (child == 0)
        become_command(plan, self, kill_at_ms); /* NOLINT(clang-analyzer-unix.Vfork) */
    return child;
}
