/* sidebyside.c: runs commands in turn, again and again, so that whatever else the machine does
 * falls on all of them alike; prints a line for each: the median wall time of a run, and the CPU
 * time of all its processes, in us.
 *
 * usage: sidebyside ROUNDS COMMAND [ARG...] [, COMMAND [ARG...]]... */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { COMMANDS_MAX = 16, WARM_UP = 20 };

struct command {
    char **words;
    double *wall_us, *cpu_us;
};

extern char **environ;

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double us(struct timeval time) {
    return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static double children_us(void) {
    struct rusage usage;
    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return us(usage.ru_utime) + us(usage.ru_stime);
}

static void run(char **argv, double *wall_us, double *cpu_us) {
    pid_t pid;
    int status;
    const double cpu = children_us(), begin = now_us();
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        (void)fprintf(stderr, "sidebyside: %s failed\n", argv[0]);
        exit(1);
    }
    *wall_us = now_us() - begin;
    while (wait(NULL) > 0) /* what it has left behind falls to us: see main() */
        continue;
    *cpu_us = children_us() - cpu;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* Parts the words at commas. Returns how many commands there are, 0: no memory. */
static size_t split(char **words, size_t rounds, struct command *commands) {
    size_t count = 0;
    while (*words != NULL && count < COMMANDS_MAX) {
        double *times = calloc(2 * rounds, sizeof *times);
        if (times == NULL)
            return 0;
        commands[count++] = (struct command){words, times, times + rounds};
        while (*words != NULL && strcmp(*words, ",") != 0)
            words++;
        if (*words != NULL)
            *words++ = NULL;
    }
    return count;
}

int main(int argc, char **argv) {
    struct command commands[COMMANDS_MAX];
    const size_t rounds = argc > 2 ? (size_t)strtoul(argv[1], NULL, 10) : 0;
    if (rounds == 0) {
        (void)fprintf(stderr,
                      "usage: sidebyside ROUNDS COMMAND [ARG...] [, COMMAND [ARG...]]...\n");
        return 64;
    }
    const size_t count = split(argv + 2, rounds, commands);
    if (count == 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return 71;
    for (size_t i = 0; i < WARM_UP; i++) {
        for (size_t k = 0; k < count; k++)
            run(commands[k].words, commands[k].wall_us, commands[k].cpu_us);
    }
    for (size_t i = 0; i < rounds; i++) {
        for (size_t k = 0; k < count; k++)
            run(commands[k].words, &commands[k].wall_us[i], &commands[k].cpu_us[i]);
    }
    for (size_t k = 0; k < count; k++)
        (void)printf("%.1f %.1f\n", median(commands[k].wall_us, rounds),
                     median(commands[k].cpu_us, rounds));
    return 0;
}
