/* sidebyside.c: runs commands in turn, again and again, so that whatever else the machine does
 * falls on all of them alike; prints the median wall time of each, and its ratio to the first.
 *
 * usage: sidebyside ROUNDS COMMAND [ARG...] [, COMMAND [ARG...]]... */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { COMMANDS_MAX = 16, WARM_UP = 20 };

extern char **environ;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t run(char **argv) {
    pid_t pid;
    int status;
    const int64_t begin = now_ns();
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        (void)fprintf(stderr, "sidebyside: %s failed\n", argv[0]);
        exit(1);
    }
    return now_ns() - begin;
}

static int by_value(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print(char **argv, int64_t *times, size_t rounds, int64_t measure) {
    qsort(times, rounds, sizeof *times, by_value);
    const int64_t median = times[rounds / 2];
    (void)printf("%8.1f us  %5.2f  (10 %%: %.1f, 90 %%: %.1f) ", (double)median / 1000,
                 (double)median / (double)(measure != 0 ? measure : median),
                 (double)times[rounds / 10] / 1000, (double)times[rounds - 1 - rounds / 10] / 1000);
    for (; *argv != NULL; argv++)
        (void)printf(" %s", strrchr(*argv, '/') != NULL ? strrchr(*argv, '/') + 1 : *argv);
    (void)printf("\n");
}

int main(int argc, char **argv) {
    char **commands[COMMANDS_MAX];
    int64_t *times[COMMANDS_MAX];
    size_t count = 0;
    const size_t rounds = argc > 2 ? (size_t)strtoul(argv[1], NULL, 10) : 0;
    if (rounds == 0) {
        (void)fprintf(stderr,
                      "usage: sidebyside ROUNDS COMMAND [ARG...] [, COMMAND [ARG...]]...\n");
        return 64;
    }
    for (char **word = argv + 2; *word != NULL && count < COMMANDS_MAX;) {
        commands[count] = word;
        times[count] = calloc(rounds, sizeof **times);
        if (times[count++] == NULL)
            return 71;
        while (*word != NULL && strcmp(*word, ",") != 0)
            word++;
        if (*word != NULL)
            *word++ = NULL;
    }
    for (size_t round = 0; round < WARM_UP + rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            const int64_t time = run(commands[i]);
            if (round >= WARM_UP)
                times[i][round - WARM_UP] = time;
        }
    }
    int64_t measure = 0;
    for (size_t i = 0; i < count; i++) {
        print(commands[i], times[i], rounds, measure);
        if (i == 0)
            measure = times[0][rounds / 2];
    }
    return 0;
}
