/* process.c: which process a number means. */
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UUID_LENGTH = 36 };

const char *rlock__pid_space(char out[RLOCK__PID_SPACE_SIZE]) {
    char boot[UUID_LENGTH];
    struct stat namespace;
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const bool known = fd >= 0 && read(fd, boot, sizeof boot) == sizeof boot &&
                       stat("/proc/self/ns/pid", &namespace) == 0;
    if (fd >= 0)
        close(fd);
    out[0] = '\0';
    if (known)
        (void)snprintf(out, RLOCK__PID_SPACE_SIZE, "%.36s/%ju", boot, (uintmax_t) namespace.st_ino);
    return out;
}

bool rlock__process_ended(const char *pid_space, int64_t pid) {
    char ours[RLOCK__PID_SPACE_SIZE];
    return *pid_space != '\0' && strcmp(pid_space, rlock__pid_space(ours)) == 0 && pid > 0 &&
           pid == (pid_t)pid && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}
