/* descendants.c: all descendants of this process.
 *
 * A process group is not enough: setsid(2) leaves it. The kernel's lists of children are walked
 * instead (proc(5), /proc/PID/task/TID/children; where the kernel was built without them, every
 * /proc/PID/stat); as a subreaper we inherit every orphan, so what one walk misses the next one
 * finds.
 *
 * Numbers of processes are used again. So a process is signalled by a descriptor, and only if by
 * then the list was young, or its parent is still the one that was listed. */
#include "process/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/deadline.h"
#include "process/proc.h"
#include "process/self.h"

enum {
    DESCENDANTS_MAX = 16384,
    READY = 1000, /* memory for so many is there from the start */
    READ_SIZE = 4096,
    PAUSE_MIN_US = 100,
    PAUSE_MAX_US = 1000,
    FRESH_MS = 5, /* in so short a time no number is used again: all others come first */
};

/* A walk, of which there is one at a time. Not on the stack, which may be small (ulimit -s), nor
 * on the heap: when the tree has to end, the system may have no memory left. */
static struct walk {
    const struct descendants *descendants;
    bool lists; /* the kernel has lists of children */
    bool child_seen;
    bool gone; /* a listed process ended before its turn: we may have adopted its children since */
    int found, refused, strangers;
    int count;
    struct {
        pid_t pid, parent;
        int64_t at_ms;         /* when it was listed */
    } listed[DESCENDANTS_MAX]; /* and not yet visited; the last one is the next */
} walk;

void descendants_get_memory(void) {
    memset(&walk, 0, offsetof(struct walk, listed) + READY * sizeof walk.listed[0]);
}

void descendants_adopt_orphans(void) {
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* --- the walk -------------------------------------------------------------------------------- */

static bool is_stranger(const struct descendants *descendants, pid_t pid) {
    for (int i = 0; i < descendants->stranger_count; i++) {
        if (descendants->strangers[i].pid == pid)
            return descendants->strangers[i].started == proc_started(pid);
    }
    return false;
}

static void add(pid_t pid, pid_t parent) {
    if (pid <= 0 || walk.count == DESCENDANTS_MAX)
        return;
    if (walk.descendants->stranger_count > 0 && parent == getpid() &&
        is_stranger(walk.descendants, pid)) {
        walk.strangers++;
        return;
    }
    walk.listed[walk.count].pid = pid;
    walk.listed[walk.count].parent = parent;
    walk.listed[walk.count++].at_ms = boottime_ms();
}

/* Adds the numbers of a "children" file, which one read may cut in two. */
static void read_children(pid_t parent, int task_dir, const char *task) {
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
                add(pid, parent);
                pid = 0;
            }
        }
    }
    close(fd);
}

/* Adds the children of a process: those that its threads list, or those that /proc says it is the
 * parent of. */
static void add_children(pid_t parent) {
    char path[64], entries[READ_SIZE] __attribute__((aligned(8)));
    (void)snprintf(path, sizeof path, walk.lists ? "/proc/%ld/task" : "/proc", (long)parent);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return;
    ssize_t n;
    while ((n = getdents64(dir, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
            const pid_t number = (pid_t)strtol(entry->d_name, NULL, 10);
            if (number > 0 && walk.lists)
                read_children(parent, dir, entry->d_name);
            else if (number > 0 && proc_parent(number) == parent)
                add(number, parent);
            at += entry->d_reclen;
        }
    }
    close(dir);
}

static void begin_walk(const struct descendants *descendants) {
    walk.descendants = descendants;
    walk.lists = access("/proc/thread-self/children", R_OK) == 0; /* these stand for all */
    walk.child_seen = walk.gone = false;
    walk.found = walk.refused = walk.strangers = walk.count = 0;
    add_children(getpid());
}

/* Whether the process that has this number now is the one that was listed. */
static bool is_still(pid_t pid, pid_t listed_parent, int64_t listed_ms) {
    if (boottime_ms() < listed_ms + FRESH_MS)
        return true;
    const pid_t parent = proc_parent(pid); /* 0: another user's, hidden from us */
    return parent == 0 || parent == listed_parent || parent == getpid();
}

/* By descriptor, or by number on a kernel that gives none. */
static int send_signal(pid_t pid, int fd, int signal) {
    return fd >= 0 ? (int)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) : kill(pid, signal);
}

static void signal_one(pid_t pid, int fd, int signal) {
    walk.found++;
    walk.child_seen = walk.child_seen || pid == walk.descendants->child;
    if (send_signal(pid, fd, signal) != 0 && errno == EPERM)
        walk.refused++;
    if (signal == SIGTERM)
        (void)send_signal(pid, fd, SIGCONT);
}

/* Signals the process that was listed last, and lists its children. SIGKILL before listing them: a
 * killed process cannot fork. Any other signal after listing: a process that exits on it would have
 * lost its children to us first. */
static void visit_last(int signal) {
    const int before = --walk.count;
    const pid_t pid = walk.listed[before].pid, parent = walk.listed[before].parent;
    const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 && errno == ESRCH) {
        walk.gone = true;
        return;
    }
    if (is_still(pid, parent, walk.listed[before].at_ms)) {
        if (signal == SIGKILL)
            signal_one(pid, fd, signal);
        add_children(pid);
        if (signal != SIGKILL)
            signal_one(pid, fd, signal);
        if (fd >= 0 && send_signal(pid, fd, 0) != 0 && errno == ESRCH)
            walk.count = before; /* reaped: they may be the children of another by that number */
    }
    if (fd >= 0)
        close(fd);
}

/* The last to be listed comes first: the processes that fork just now are below it. */
static void walk_all(const struct descendants *descendants, int signal) {
    begin_walk(descendants);
    while (walk.count > 0)
        visit_last(signal);
}

void descendants_stop(struct descendants *descendants) {
    walk_all(descendants, SIGTERM);
    if (descendants->child > 0 && !walk.child_seen)
        signal_one(descendants->child, -1, SIGTERM);
}

bool descendants_has_children(void) {
    return waitid(P_ALL, 0, &(siginfo_t){.si_pid = 0}, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int descendants_note_strangers(struct stranger *strangers, int size) {
    static const struct descendants all = {.child = 0};
    begin_walk(&all);
    for (int i = 0; i < walk.count && i < size; i++)
        strangers[i] = (struct stranger){walk.listed[i].pid, proc_started(walk.listed[i].pid)};
    return walk.count;
}

/* --- the dead -------------------------------------------------------------------------------- */

static void note_child(struct descendants *descendants, int status) {
    descendants->stopped_by = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
    descendants->stops += WIFSTOPPED(status);
    if (WIFSTOPPED(status) || WIFCONTINUED(status))
        return;
    descendants->status = status;
    descendants->child_ended = true;
    descendants->child = 0; /* its number may be someone else's now */
}

bool descendants_reap(struct descendants *descendants) {
    for (;;) {
        int status;
        const pid_t pid = self_reap(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
        if (pid <= 0)
            return pid < 0 && errno == ECHILD;
        if (pid == descendants->child)
            note_child(descendants, status);
    }
}

/* The rounds of descendants_kill(). Each signals before it reaps, which may take until others let
 * us run. */
static bool kill_all(struct descendants *descendants, int64_t deadline_ms) {
    long pause_us = PAUSE_MIN_US;
    do {
        walk_all(descendants, SIGKILL);
        const bool none = walk.found == 0 && !walk.gone;
        if (none && walk.strangers > 0)
            return true;
        /* There is a child that the walk does not find: that is no success. */
        const bool stuck = walk.refused > 0 || none;
        if (stuck && boottime_ms() >= deadline_ms)
            return descendants_reap(descendants);
        (void)nanosleep(&(struct timespec){0, pause_us * 1000}, NULL); /* the dying need a moment */
        if (pause_us < PAUSE_MAX_US)
            pause_us *= 2;
    } while (!descendants_reap(descendants));
    return true;
}

bool descendants_kill(struct descendants *descendants, int64_t deadline_ms) {
    if (descendants->child > 0)
        (void)kill(descendants->child, SIGKILL);
    /* Its status is not needed: let the kernel reap a chain of forks as it dies. */
    descendants->child = 0;
    void (*const before)(int) = signal(SIGCHLD, SIG_IGN);
    const bool all = kill_all(descendants, deadline_ms);
    (void)signal(SIGCHLD, before);
    return all;
}
