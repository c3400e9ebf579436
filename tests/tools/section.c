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

struct plan {
    const char *log, *note, *beat, *beat_dir, *until;
    bool ignore_term, chain;
    long stay_ms, status;
};

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

static void log_line(const struct plan *plan, int64_t enter, int64_t exit_ns, int64_t term) {
    char line[2048], end[32] = "-", term_text[48] = "";
    const char *note = plan->note ? plan->note : "";
    if (!plan->log)
        return;
    if (exit_ns)
        snprintf(end, sizeof end, "%lld", (long long)exit_ns);
    if (term)
        snprintf(term_text, sizeof term_text, " term=%lld", (long long)term);
    snprintf(line, sizeof line, "enter=%lld exit=%s owner=%s token=%s kind=%s pid=%ld%s%s%s\n",
             (long long)enter, end, env_or_dash("RLOCK_OWNER"), env_or_dash("RLOCK_TOKEN"),
             env_or_dash("RLOCK_KIND"), (long)getpid(), *note ? " " : "", note, term_text);
    append(plan->log, line);
}

static volatile int64_t *map_beat(const struct plan *plan, int64_t enter) {
    char own[4096];
    const char *file = plan->beat;
    if (plan->beat_dir) {
        snprintf(own, sizeof own, "%s/%ld-%lld", plan->beat_dir, (long)getpid(), (long long)enter);
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

static void read_plan(struct plan *plan, char **argv) {
    const struct {
        const char *name;
        bool *flag;
        const char **text;
        long *number;
    } options[] = {
        {"--ignore-term", &plan->ignore_term, NULL, NULL},
        {"--chain", &plan->chain, NULL, NULL},
        {"--log", NULL, &plan->log, NULL},
        {"--note", NULL, &plan->note, NULL},
        {"--beat", NULL, &plan->beat, NULL},
        {"--beat-dir", NULL, &plan->beat_dir, NULL},
        {"--until", NULL, &plan->until, NULL},
        {"--ms", NULL, NULL, &plan->stay_ms},
        {"--exit", NULL, NULL, &plan->status},
    };
    const size_t count = sizeof options / sizeof *options;
    for (char **arg = argv + 1; *arg; arg++) {
        size_t i = 0;
        while (i < count && strcmp(*arg, options[i].name) != 0)
            i++;
        if (i == count || (!options[i].flag && !arg[1])) {
            fprintf(stderr, "section: %s: no such option, or no value\n", *arg);
            exit(99);
        }
        if (options[i].flag)
            *options[i].flag = true;
        else if (options[i].text)
            *options[i].text = *++arg;
        else
            *options[i].number = atol(*++arg);
    }
}

static void stay(const struct plan *plan, int64_t enter, volatile int64_t *beat) {
    int64_t end = enter + plan->stay_ms * 1000000;
    bool noted = false;
    for (;;) {
        int64_t now = now_ns();
        if (beat)
            *beat = now;
        if (term_seen && !noted) {
            log_line(plan, enter, 0, now);
            noted = true;
        }
        if (plan->until ? access(plan->until, F_OK) == 0 : now >= end)
            return;
        if (!plan->chain)
            pause_us(200);
        else if (fork() > 0)
            _exit(0);
    }
}

int main(int argc, char **argv) {
    int64_t enter = now_ns();
    struct plan plan = {0};
    if (argc == 2 && strcmp(argv[1], "--now") == 0)
        return printf("%lld\n", (long long)enter) > 0 ? 0 : 99;
    read_plan(&plan, argv);
    if (plan.ignore_term)
        signal(SIGTERM, note_term);
    volatile int64_t *beat = map_beat(&plan, enter);
    log_line(&plan, enter, 0, 0);
    stay(&plan, enter, beat);
    log_line(&plan, enter, now_ns(), 0);
    return (int)plan.status;
}
