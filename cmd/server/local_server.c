/* local_server.c: a redis-server that belongs to nobody.
 *
 * Its data is in an append-only file, written before each answer: killed and started anew it still
 * knows every lock, so nobody's command is stopped for it and nobody else enters. */
#include "server/local.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/self.h"

enum { PATH_SIZE = 4096 };

/* One that is stopped takes connections until its line is full: neither waits for long. */
static int connect_to(const struct local_server *server) {
    static const struct timeval patience = {.tv_usec = 200000};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&server->address, sizeof server->address) == 0)
        return fd;
    close(fd);
    return -1;
}

bool local_server_listens(const struct local_server *server) {
    const int fd = connect_to(server);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

bool local_server_is_ready(const struct local_server *server) {
    static const char ping[] = "PING\r\n", pong[] = "+PONG";
    char answer[sizeof pong - 1];
    const int fd = connect_to(server);
    if (fd < 0)
        return false;
    const bool ready = send(fd, ping, sizeof ping - 1, MSG_NOSIGNAL) == (ssize_t)sizeof ping - 1 &&
                       recv(fd, answer, sizeof answer, 0) == (ssize_t)sizeof answer &&
                       memcmp(answer, pong, sizeof answer) == 0;
    close(fd);
    return ready;
}

/* --- in the server's process: nothing that needs a lock which another thread may have held ---- */

/* What it is started with, made before. */
struct plan {
    const struct local_server *server;
    char path[PATH_SIZE]; /* PATH=... */
    int error_fd;         /* where to say why it can't be */
};

_Noreturn static void become_server(const struct plan *plan) {
    char *environment[] = {(char *)plan->path, NULL};
    char *socket_path = (char *)plan->server->address.sun_path;
    char *dir = (char *)plan->server->dir;
    static char *const servers[] = {"redis-server", "valkey-server"};
    /* clang-format off */
    char *arguments[] = {
        servers[0],
        "--port", "0", "--unixsocket", socket_path, "--unixsocketperm", "700",
        "--dir", dir, "--logfile", "redis.log", "--pidfile", "redis.pid",
        "--daemonize", "no", "--save", "", "--appendonly", "yes", "--appendfsync", "everysec",
        "--maxmemory-policy", "noeviction", NULL};
    /* clang-format on */
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        arguments[0] = servers[i];
        (void)execvpe(servers[i], arguments, environment);
        if (errno != ENOENT)
            break;
    }
    const int why = errno;
    (void)!write(plan->error_fd, &why, sizeof why);
    _exit(127);
}

/* The caller's limits would be everybody's. Each is raised as far as anyone may; those of core
 * dumps and the stack, which are usually less, stay. */
static void leave_limits(void) {
    struct rlimit limit;
    for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
        if (i == RLIMIT_CORE || i == RLIMIT_STACK || getrlimit(i, &limit) != 0)
            continue;
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(i, &limit);
    }
}

/* So would the caller's place before or behind others. What we have no right to stays as it is. */
static void leave_priority(void) {
    static const struct sched_param normal = {.sched_priority = 0};
    cpu_set_t all;
    char score = '-';
    memset(&all, 0xff, sizeof all);
    (void)setpriority(PRIO_PROCESS, 0, 0);
    (void)sched_setscheduler(0, SCHED_OTHER, &normal);
    (void)sched_setaffinity(0, sizeof all, &all);
    const int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read(fd, &score, 1) == 1 && score != '-')
        (void)!pwrite(fd, "0", 1, 0);
    close(fd);
}

/* Leaves behind all that is the caller's: session, descriptors, mask, directory, limits. */
_Noreturn static void detach(const struct plan *plan) {
    sigset_t none;
    sigemptyset(&none);
    (void)setsid();
    leave_limits();
    leave_priority();
    if (fork() != 0)
        _exit(0);
    for (int signal = 1; signal < NSIG; signal++)
        (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    const int null = open("/dev/null", O_RDWR);
    if (fchdir(plan->server->dir_fd) != 0 || null < 0)
        _exit(126);
    self_leave_streams(null);
    const int kept[] = {plan->server->dir_fd, plan->error_fd};
    self_close_others(kept, sizeof kept / sizeof kept[0]);
    (void)fcntl(plan->server->dir_fd, F_SETFD, 0);
    become_server(plan);
}

/* --- in ours --------------------------------------------------------------------------------- */

/* Forks the server's process and lets go of it. While we are to adopt orphans it would fall to us,
 * and be taken for one of the command's. Returns 0, or errno. */
static int fork_and_forget(const struct plan *plan) {
    int adopts = 0;
    (void)prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0);
    if (adopts != 0)
        (void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    const pid_t child = fork();
    if (child == 0)
        detach(plan);
    const int why = child < 0 ? errno : 0;
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    if (adopts != 0)
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return why;
}

int local_server_start(const struct local_server *server) {
    const char *path = getenv("PATH");
    struct plan plan = {.server = server};
    int pipe_fds[2], why = 0;
    if (pipe2(pipe_fds, O_CLOEXEC) != 0)
        return errno;
    plan.error_fd = pipe_fds[1];
    (void)snprintf(plan.path, sizeof plan.path, "PATH=%s", path != NULL ? path : "");
    const int fork_error = fork_and_forget(&plan);
    close(pipe_fds[1]);
    const ssize_t n = read(pipe_fds[0], &why, sizeof why); /* ends when exec has closed it */
    close(pipe_fds[0]);
    return fork_error != 0 ? fork_error : n == (ssize_t)sizeof why ? why : 0;
}
