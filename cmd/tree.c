/* tree.c: all descendants of this process.
 *
 * A process group is not enough: setsid(2) leaves it. The kernel's lists of children are walked
 * instead (proc(5), /proc/PID/task/TID/children); as a subreaper we inherit every orphan, so what
 * one walk misses the next one finds. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "boottime.h"

enum { TREE_MAX = 16384, READ_SIZE = 4096, PAUSE_MIN_MS = 1, PAUSE_MAX_MS = 32 };

/* Found so far, breadth first. On the stack of the one who walks: no memory is asked for when the
 * system may have none left. */
struct found {
    int count;
    pid_t pids[TREE_MAX];
};

void tree_adopt_orphans(void) {
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static void add(struct found *found, pid_t pid) {
    if (pid > 0 && found->count < TREE_MAX)
        found->pids[found->count++] = pid;
}

/* Adds the numbers of a "children" file, which one read may cut in two. */
static void read_children(struct found *found, int task_dir, const char *task) {
    char path[NAME_MAX + sizeof "/children"], text[READ_SIZE];
    (void)snprintf(path, sizeof path, "%s/children", task);
    int fd = openat(task_dir, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    pid_t pid = 0;
    ssize_t n;
    while ((n = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
            } else {
                add(found, pid);
                pid = 0;
            }
        }
    }
    close(fd);
}

static void add_children(struct found *found, pid_t pid) {
    char path[64], entries[READ_SIZE] __attribute__((aligned(8)));
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return;
    ssize_t n;
    while ((n = getdents64(dir, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
            if (entry->d_name[0] != '.')
                read_children(found, dir, entry->d_name);
            at += entry->d_reclen;
        }
    }
    close(dir);
}

int tree_signal(int signal) {
    struct found found = {.count = 1, .pids = {getpid()}};
    int refused = 0;
    for (int i = 0; i < found.count; i++)
        add_children(&found, found.pids[i]);
    for (int i = 1; i < found.count; i++) {
        if (kill(found.pids[i], signal) != 0 && errno == EPERM)
            refused++;
    }
    return refused;
}

bool tree_reap(pid_t watched, int *status, bool *ended) {
    for (;;) {
        int this_status;
        pid_t pid = waitpid(-1, &this_status, WNOHANG);
        if (pid == 0)
            return false;
        if (pid < 0)
            return errno == ECHILD;
        if (pid == watched) {
            *status = this_status;
            *ended = true;
        }
    }
}

bool tree_kill(pid_t watched, int *status, bool *ended, int64_t deadline_ms) {
    long pause_ms = PAUSE_MIN_MS;
    while (!tree_reap(watched, status, ended)) {
        const bool refused = tree_signal(SIGKILL) > 0;
        if (tree_reap(watched, status, ended))
            return true;
        if (refused && boottime_ms() >= deadline_ms)
            return false;
        /* The dying need a moment; each that is gone may have left us its children. */
        const struct timespec pause = {0, pause_ms * 1000000};
        (void)nanosleep(&pause, NULL);
        if (pause_ms < PAUSE_MAX_MS)
            pause_ms *= 2;
    }
    return true;
}
