/* self.c: what a process of ours changes about itself.
 *
 * Descriptors: close_range(2) is not everywhere: Linux before 5.9 has none, and a container's
 * seccomp profile that does not know it refuses it. Then the kernel's list of what is open is gone
 * through. */
#include "process/self.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { READ_SIZE = 4096, NICE = -10 };
#define NEVER_OOM "-1000" /* proc(5), oom_score_adj */

static bool is_kept(int fd, const int *kept, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (kept[i] == fd)
            return true;
    }
    return fd <= STDERR_FILENO;
}

/* The lowest number in kept from `from` on; INT_MAX: none. */
static int next_kept(int from, const int *kept, size_t count) {
    int next = INT_MAX;
    for (size_t i = 0; i < count; i++) {
        if (kept[i] >= from && kept[i] < next)
            next = kept[i];
    }
    return next;
}

static bool close_ranges(const int *kept, size_t count) {
    int from = STDERR_FILENO + 1, next;
    for (; (next = next_kept(from, kept, count)) != INT_MAX; from = next + 1) {
        if (next > from && close_range((unsigned)from, (unsigned)next - 1, 0) != 0)
            return false;
    }
    return close_range((unsigned)from, ~0U, 0) == 0;
}

static void close_listed(const int *kept, size_t count) {
    char entries[READ_SIZE] __attribute__((aligned(8)));
    const int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ssize_t n;
    if (dir < 0)
        return;
    while ((n = getdents64(dir, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
            const int fd = (int)strtol(entry->d_name, NULL, 10);
            if (fd != dir && !is_kept(fd, kept, count))
                close(fd);
            at += entry->d_reclen;
        }
    }
    close(dir);
}

void self_close_others(const int *kept, size_t count) {
    if (!close_ranges(kept, count))
        close_listed(kept, count);
}

void self_leave_streams(int null) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        (void)dup2(null, fd);
    close(null);
}

/* /proc/PID/cmdline is read from where the system put the arguments. */
static struct {
    char *start;
    size_t size;
} arguments;

void self_note_arguments(int argc, char **argv) {
    if (argc < 1) /* before Linux 5.18 */
        return;
    arguments.start = argv[0];
    arguments.size = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - argv[0]);
}

void self_set_title(const char *word) {
    if (arguments.size == 0)
        return;
    memset(arguments.start, 0, arguments.size);
    (void)snprintf(arguments.start, arguments.size, "%s", word);
}

/* A nice value counts within a session only (sched(7), The autogroup feature). Among many small
 * processes the one that ends them is the largest, and reading who they are costs memory. */
void self_raise_priority(void) {
    if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &(struct sched_param){1}) != 0)
        (void)setpriority(PRIO_PROCESS, 0, NICE);
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, NEVER_OOM, strlen(NEVER_OOM));
        close(fd);
    }
}
