/* self.c: what a process of ours changes about itself. */
#include "process/self.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NICE = -10, URGENT = SCHED_RR | SCHED_RESET_ON_FORK, LOWEST = 1 };
#define NEVER_OOM "-1000" /* proc(5), oom_score_adj */

static bool is_kept(int fd, const int *kept, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (kept[i] == fd)
            return true;
    }
    return false;
}

void self_close_others(const int *kept, size_t count) {
    int last = STDERR_FILENO;
    for (size_t i = 0; i < count; i++)
        last = kept[i] > last ? kept[i] : last;
    for (int fd = STDERR_FILENO + 1; fd < last; fd++) {
        if (!is_kept(fd, kept, count))
            close(fd);
    }
    closefrom(last + 1);
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

/* Real-time, where that is allowed, and has no limit (RLIMIT_RTTIME) that would end us in the midst
 * of a large tree; above the command, which has what rlock was started with. A nice value counts
 * within a session only (sched(7), The autogroup feature). Among many small processes the one that
 * ends them is the largest, and reading who they are costs memory. */
void self_raise_priority(void) {
    struct sched_param priority = {0};
    struct rlimit limit;
    (void)sched_getparam(0, &priority);
    priority.sched_priority += priority.sched_priority < sched_get_priority_max(SCHED_RR);
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    if (getrlimit(RLIMIT_RTTIME, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
        (void)sched_setscheduler(0, URGENT, &priority);
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, NEVER_OOM, strlen(NEVER_OOM));
        close(fd);
    }
}

/* To reap, the kernel drops what /proc shows of the dead, and spins while a process that has just
 * read it is dropping the same. As a real-time process we would keep that one from running, and
 * with it all others on this processor, until sched_rt_runtime_us (sched(7)) is used up: 950 ms.
 * But a command that is real-time itself might not let us run again. */
pid_t self_reap(pid_t pid, int *status, int options) {
    struct sched_param priority = {0};
    (void)sched_getparam(0, &priority);
    const bool lowered =
        sched_getscheduler(0) == URGENT && priority.sched_priority == LOWEST &&
        sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &(struct sched_param){0}) == 0;
    const pid_t reaped = waitpid(pid, status, options);
    const int error = errno;
    if (lowered)
        (void)sched_setscheduler(0, URGENT, &priority);
    errno = error;
    return reaped;
}
