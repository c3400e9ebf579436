/* disk.c: a library to be loaded before libc, for a server whose machine is to lose its power.
 *
 *   LD_PRELOAD=disk.so DISK_STUCK=STUCK PROGRAM...
 *
 * Whenever FILE has been flushed, FILE.synced says how many bytes of it are on disk. While STUCK
 * exists no flush ends. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAUSE_US = 1000 };

static void note(int fd, long long size) {
    char link[64], path[PATH_MAX], noted[PATH_MAX + sizeof ".synced"];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return;
    path[length] = '\0';
    (void)snprintf(noted, sizeof noted, "%s.synced", path);
    FILE *to = fopen(noted, "we");
    if (to == NULL)
        return;
    fprintf(to, "%lld\n", size);
    fclose(to);
}

/* What is written while a flush goes on need not be on disk after it. */
static int flush(int fd, long number) {
    struct stat before;
    const char *stuck = getenv("DISK_STUCK");
    while (stuck != NULL && access(stuck, F_OK) == 0)
        usleep(PAUSE_US);
    const int known = fstat(fd, &before);
    const int status = (int)syscall(number, fd);
    if (status == 0 && known == 0 && S_ISREG(before.st_mode))
        note(fd, (long long)before.st_size);
    return status;
}

int fdatasync(int fd) {
    return flush(fd, SYS_fdatasync);
}

int fsync(int fd) {
    return flush(fd, SYS_fsync);
}
