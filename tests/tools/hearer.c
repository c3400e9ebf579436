/* hearer.c: writes the name of each signal it gets to a file, as often as it gets it.
 *
 * usage: hearer LOG [-NAME...] [NAME...] [stop=NAME]
 *
 * It hears the signals NAME and ignores those with a minus. With stop=NAME it sends that signal to
 * its own group first, or SIGSTOP to itself, and writes "back" when it goes on. It begins by
 * writing its number to LOG.ready, and ends with status 6 when LOG.end is there. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int out;

static void say(const char *word) {
    char line[32];
    const int n = snprintf(line, sizeof line, "%s\n", word);
    if (write(out, line, (size_t)n) != n)
        abort();
}

static void hear(int number) {
    char real_time[32];
    snprintf(real_time, sizeof real_time, "RTMIN+%d", number - SIGRTMIN);
    say(number < SIGRTMIN ? sigabbrev_np(number) : real_time);
}

static int number_of(const char *name) {
    if (strncmp(name, "RTMIN+", 6) == 0)
        return SIGRTMIN + atoi(name + 6);
    for (int number = 1; number < 32; number++) {
        if (strcmp(sigabbrev_np(number), name) == 0)
            return number;
    }
    abort();
}

static void take(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NODEFER};
    if (sigaction(number, &action, NULL) != 0)
        abort();
}

static void stop_by(int number) {
    if (number == SIGSTOP ? raise(number) : kill(0, number))
        abort();
    say("back");
}

int main(int count, char **arguments) {
    char ready[256], end[256];
    int stop = 0;
    snprintf(ready, sizeof ready, "%s.ready", arguments[1]);
    snprintf(end, sizeof end, "%s.end", arguments[1]);
    out = open(arguments[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (int i = 2; i < count; i++) {
        if (strncmp(arguments[i], "stop=", 5) == 0)
            stop = number_of(arguments[i] + 5);
        else if (arguments[i][0] == '-')
            take(number_of(arguments[i] + 1), SIG_IGN);
        else
            take(number_of(arguments[i]), hear);
    }
    FILE *stream = fopen(ready, "w");
    fprintf(stream, "%ld\n", (long)getpid());
    fclose(stream);
    if (stop != 0)
        stop_by(stop);
    while (access(end, F_OK) != 0)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    return 6;
}
