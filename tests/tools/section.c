/* section.c: a critical section that leaves evidence of when it ran.
 *
 *   section [--log FILE] [--note WORDS] [--beat FILE | --beat-dir DIR] [--ignore-term] [--chain]
 *           [--ms N | --until FILE] [--exit N]
 *   section --now
 *
 * --log FILE      a line when it begins and one when it ends, on CLOCK_MONOTONIC, the clock that
 *                 all processes share: "enter=NS exit=NS owner=O token=T kind=K pid=P"; at first
 *                 exit=-
 * --note WORDS    what its lines say besides: "arrival=NS permits=2"
 * --beat FILE     keeps the present time in FILE, where it survives SIGKILL: the last instant alive
 * --beat-dir DIR  the same in DIR/PID-ENTER: process ids come again
 * --ignore-term   SIGTERM is noted in the log (term=NS) and otherwise ignored
 * --chain         forks again and again while it stays, and each time the parent ends
 * --ms N          stays for N milliseconds
 * --until FILE    stays until FILE exists
 * --exit N        its exit status
 * --now           says what time it is on that clock, in ns, and is none
 *
 * Entry is stamped after the grant and exit before the release, so the interval told lies inside
 * the one held: an overlap in the log is a violation for certain. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BEAT_US = 400, LOOK_US = 5000 }; /* between two beats; and where no time is told */
enum { LOG, NOTE, BEAT, BEAT_DIR, UNTIL, MS, EXIT, IGNORE_TERM, CHAIN, OPTIONS };

static const char *const names[OPTIONS] = {"--log",      "--note",        "--beat",
                                           "--beat-dir", "--until",       "--ms",
                                           "--exit",     "--ignore-term", "--chain"};
static const char *given[OPTIONS]; /* the value, or the option itself */
static volatile sig_atomic_t term_seen;

static void note_term(int sig) {
    (void)sig;
    term_seen = 1;
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what) {
    perror(what);
    exit(99);
}

/* With several names the first line's: that of the first name. */
static const char *env_or_dash(const char *name) {
    char *value = getenv(name);
    if (!value || !*value)
        return "-";
    value[strcspn(value, "\n")] = '\0';
    return value;
}

/* One write(2) on an O_APPEND descriptor: lines of different processes never mix. */
static void append(const char *file, const char *line) {
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    size_t length = strlen(line);
    if (fd < 0 || write(fd, line, length) != (ssize_t)length)
        die(file);
    close(fd);
}

static void log_line(int64_t enter, int64_t exit_ns, int64_t term) {
    char line[2048], end[32] = "-", term_text[48] = "";
    const char *note = given[NOTE] ? given[NOTE] : "";
    if (!given[LOG])
        return;
    if (exit_ns)
        snprintf(end, sizeof end, "%lld", (long long)exit_ns);
    if (term)
        snprintf(term_text, sizeof term_text, " term=%lld", (long long)term);
    snprintf(line, sizeof line, "enter=%lld exit=%s owner=%s token=%s kind=%s pid=%ld%s%s%s\n",
             (long long)enter, end, env_or_dash("RLOCK_OWNER"), env_or_dash("RLOCK_TOKEN"),
             env_or_dash("RLOCK_KIND"), (long)getpid(), *note ? " " : "", note, term_text);
    append(given[LOG], line);
}

static volatile int64_t *map_beat(int64_t enter) {
    char own[4096];
    const char *file = given[BEAT];
    if (given[BEAT_DIR]) {
        snprintf(own, sizeof own, "%s/%ld-%lld", given[BEAT_DIR], (long)getpid(), (long long)enter);
        file = own;
    }
    if (!file)
        return NULL;
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || ftruncate(fd, sizeof(int64_t)) != 0)
        die(file);
    void *at = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        die(file);
    close(fd);
    return at;
}

static void pause_us(long us) {
    struct timespec t = {0, us * 1000};
    nanosleep(&t, NULL);
}

static void read_options(char **argv) {
    for (char **arg = argv + 1; *arg; arg++) {
        int i = 0;
        while (i < OPTIONS && strcmp(*arg, names[i]) != 0)
            i++;
        if (i == OPTIONS || (i < IGNORE_TERM && !arg[1])) {
            fprintf(stderr, "section: %s: no such option, or no value\n", *arg);
            exit(99);
        }
        given[i] = i < IGNORE_TERM ? *++arg : *arg;
    }
}

static long number(int option) {
    return given[option] ? atol(given[option]) : 0;
}

static void stay(int64_t enter, volatile int64_t *beat) {
    int64_t end = enter + number(MS) * 1000000;
    long between_us = beat || !given[UNTIL] ? BEAT_US : LOOK_US;
    bool noted = false;
    for (;;) {
        int64_t now = now_ns();
        if (beat)
            *beat = now;
        if (term_seen && !noted) {
            log_line(enter, 0, now);
            noted = true;
        }
        if (given[UNTIL] ? access(given[UNTIL], F_OK) == 0 : now >= end)
            return;
        if (!given[CHAIN])
            pause_us(between_us);
        else if (fork() > 0)
            _exit(0);
    }
}

int main(int argc, char **argv) {
    int64_t enter = now_ns();
    if (argc == 2 && strcmp(argv[1], "--now") == 0)
        return printf("%lld\n", (long long)enter) > 0 ? 0 : 99;
    read_options(argv);
    if (given[IGNORE_TERM])
        signal(SIGTERM, note_term);
    volatile int64_t *beat = map_beat(enter);
    log_line(enter, 0, 0);
    stay(enter, beat);
    log_line(enter, now_ns(), 0);
    return (int)number(EXIT);
}
