/* proc.c: whether /proc shows our processes. */
#include "process/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINK_SIZE = 64 };

/* A status of proc_pid_status(5), but for the list of groups, which may fill pages. */
static bool read_status(const char *path, char status[PROC_STATUS_SIZE]) {
    static const char groups[] = "\nGroups:";
    const size_t name = sizeof groups - 1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    bool skips = false;
    char part[1024];
    ssize_t n = 0;
    while (fd >= 0 && (n = read(fd, part, sizeof part)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            skips = skips && part[i] != '\n';
            if (!skips && length < PROC_STATUS_SIZE - 1)
                status[length++] = part[i];
            skips = length >= name && memcmp(status + length - name, groups, name) == 0;
        }
    }
    const int why = errno;
    if (fd >= 0)
        close(fd);
    status[length] = '\0';
    errno = why;
    return length > 0;
}

bool proc_read_status(pid_t pid, char status[PROC_STATUS_SIZE]) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    return read_status(path, status);
}

/* A field of /proc/PID/stat, by its number in proc_pid_stat(5), from 3 on. The name, the second
 * one, may be anything, and ends at the last parenthesis. 0: unknown. */
static int64_t stat_field(pid_t pid, int number) {
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int i = 2; at != NULL && i < number; i++) {
        at = strchr(at, ' ');
        at += at != NULL;
    }
    return at != NULL ? strtoll(at, NULL, 10) : 0;
}

pid_t proc_parent(pid_t pid) {
    return (pid_t)stat_field(pid, 4);
}

int64_t proc_started(pid_t pid) {
    return stat_field(pid, 22);
}

/* Whether the numbers in /proc are those of our PID namespace. A number of ours in another one may
 * be the same by chance, but then there are two. status: /proc/self/status. */
static bool numbers_are_ours(const char *status) {
    const char *line = strstr(status, "\nNSpid:");
    if (line == NULL)
        line = strstr(status, "\nPid:"); /* a kernel without namespaces */
    if (line == NULL)
        return false;
    char *end;
    const long number = strtol(strchr(line, ':') + 1, &end, 10);
    return number == getpid() && *end == '\n';
}

/* In a PID namespace that is not the first one. */
static bool is_ours_inside(const char *childrens, const char **why) {
    char ours[LINK_SIZE] = "", status[PROC_STATUS_SIZE];
    (void)!readlink("/proc/self/ns/pid", ours, sizeof ours - 1);
    if (!read_status("/proc/self/status", status))
        *why = errno == ENOENT || errno == ENOTDIR
                   ? "there is no /proc to find its processes by: mount it (mount -t proc proc "
                     "/proc)"
                   : strerror(errno);
    else if (!numbers_are_ours(status))
        *why = "/proc is that of another PID namespace, so its processes could not be found: mount "
               "this one's (unshare --mount-proc, bwrap --proc /proc)";
    else if (strcmp(ours, childrens) != 0)
        *why = "it would be in another PID namespace than rlock (unshare --pid needs --fork)";
    else
        return true;
    return false;
}

bool proc_is_ours(const char **why) {
    /* The initial PID namespace has this number on each kernel. If our children are in it, so are
     * we, and /proc cannot be that of a namespace above: skip the slower checks. */
    static const char first[] = "pid:[4026531836]";
    char childrens[LINK_SIZE] = "";
    (void)!readlink("/proc/self/ns/pid_for_children", childrens, sizeof childrens - 1);
    return strcmp(childrens, first) == 0 || is_ours_inside(childrens, why);
}
