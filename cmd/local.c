/* local.c: a private redis-server for one machine.
 *
 * The directory is the same whatever the environment says, so that cron and a shell meet; it is
 * ours alone (0700, no symbolic link), so nobody else can put a socket there. Of several first
 * users one starts the server, under flock(2); it belongs to none of them: it is nobody's child,
 * has its own session and none of their descriptors. */
#include "local.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boottime.h"
#include "out.h"
#include "percent.h"

enum { ROUND_MS = 2 };

static const char prefix[] = "local:";

struct local {
    char *dir; /* absolute */
    int dir_fd;
    struct sockaddr_un address;
    int64_t deadline_ms;
};

bool local_is(const char *server) {
    return strncmp(server, prefix, sizeof prefix - 1) == 0;
}

static char *absolute_dir(const char *server) {
    char *dir = percent_decode(server + sizeof prefix - 1), *here = NULL, *made = NULL;
    int n = -1;
    if (dir != NULL && *dir == '\0')
        n = geteuid() == 0 ? asprintf(&made, "/run/rlock")
                           : asprintf(&made, "/tmp/rlock-%ld", (long)geteuid());
    else if (dir != NULL && *dir == '/')
        n = asprintf(&made, "%s", dir);
    else if (dir != NULL && (here = getcwd(NULL, 0)) != NULL)
        n = asprintf(&made, "%s/%s", here, dir);
    free(here);
    free(dir);
    if (n < 0)
        return NULL;
    /* With a slash behind it a symbolic link is what it leads to, also for O_NOFOLLOW. */
    for (size_t length = (size_t)n; length > 1 && made[length - 1] == '/'; length--)
        made[length - 1] = '\0';
    return made;
}

char *local_socket(const char *server) {
    char *dir = absolute_dir(server), *path = NULL;
    const int n = dir != NULL ? asprintf(&path, "%s/redis.sock", dir) : -1;
    free(dir);
    return n < 0 ? NULL : path;
}

static int refuse(const struct local *local, const char *why) {
    out_error("cannot trust the directory %s: %s; a local: directory belongs to its user alone "
              "(mode 0700)",
              local->dir, why);
    return EXIT_DENIED;
}

/* Opens the directory, making it if it is not there, and checks whose it is. */
static int open_dir(struct local *local) {
    if (mkdir(local->dir, 0700) != 0 && errno != EEXIST) {
        out_error("cannot make the directory %s: %s", local->dir, strerror(errno));
        return EXIT_UNAVAILABLE;
    }
    local->dir_fd = open(local->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (local->dir_fd < 0)
        return refuse(local, errno == ELOOP || errno == ENOTDIR
                                 ? "it is a symbolic link or no directory"
                                 : strerror(errno));
    struct stat about;
    if (fstat(local->dir_fd, &about) != 0)
        return refuse(local, strerror(errno));
    if (about.st_uid != geteuid())
        return refuse(local, "it belongs to someone else");
    if ((about.st_mode & 077) != 0)
        return refuse(local, "others may enter it");
    return 0;
}

static int connect_to(const struct local *local) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        connect(fd, (const struct sockaddr *)&local->address, sizeof local->address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Somebody listens. */
static bool listens(const struct local *local) {
    const int fd = connect_to(local);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* It has read its data, too: a server that is loading would refuse the first users. */
static bool is_ready(const struct local *local) {
    static const char ping[] = "PING\r\n", pong[] = "+PONG";
    static const struct timeval patience = {.tv_usec = 200000};
    char answer[sizeof pong - 1];
    const int fd = connect_to(local);
    if (fd < 0)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const bool ready = send(fd, ping, sizeof ping - 1, MSG_NOSIGNAL) == (ssize_t)sizeof ping - 1 &&
                       recv(fd, answer, sizeof answer, 0) == (ssize_t)sizeof answer &&
                       memcmp(answer, pong, sizeof answer) == 0;
    close(fd);
    return ready;
}

static bool pause_until_deadline(const struct local *local) {
    const struct timespec moment = {0, ROUND_MS * 1000000L};
    if (boottime_ms() >= local->deadline_ms)
        return false;
    (void)nanosleep(&moment, NULL);
    return true;
}

/* In the server's process. AOF: a server that is killed and started anew still knows every lock. */
_Noreturn static void become_server(const struct local *local, int error_fd) {
    const char *path = getenv("PATH");
    char path_variable[4096], socket_path[sizeof local->address.sun_path + 1];
    char *environment[] = {path_variable, NULL};
    (void)snprintf(path_variable, sizeof path_variable, "PATH=%s", path != NULL ? path : "");
    (void)snprintf(socket_path, sizeof socket_path, "%s", local->address.sun_path);
    static char *const servers[] = {"redis-server", "valkey-server"};
    /* clang-format off */
    char *arguments[] = {
        servers[0],
        "--port", "0", "--unixsocket", socket_path, "--unixsocketperm", "700",
        "--dir", local->dir, "--logfile", "redis.log", "--pidfile", "redis.pid",
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
    (void)!write(error_fd, &why, sizeof why);
    _exit(127);
}

/* Leaves behind all that is the caller's: session, descriptors, mask, directory. */
_Noreturn static void detach(const struct local *local, int error_fd) {
    sigset_t none;
    sigemptyset(&none);
    (void)setsid();
    if (fork() != 0)
        _exit(0);
    for (int signal = 1; signal < NSIG; signal++)
        (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)umask(077);
    int null = open("/dev/null", O_RDWR);
    if (fchdir(local->dir_fd) != 0 || null < 0)
        _exit(126);
    for (int fd = 0; fd < 3; fd++)
        (void)dup2(null, fd);
    error_fd = fcntl(error_fd, F_DUPFD_CLOEXEC, 3);
    if (error_fd > 3)
        (void)close_range(3, (unsigned)error_fd - 1, 0);
    (void)close_range((unsigned)error_fd + 1, ~0U, 0);
    become_server(local, error_fd);
}

static int start_server(const struct local *local) {
    int pipe_fds[2], why = 0;
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
        out_error("cannot start redis-server: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    const pid_t child = fork();
    if (child == 0)
        detach(local, pipe_fds[1]);
    const int fork_error = errno;
    close(pipe_fds[1]);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    const ssize_t n = read(pipe_fds[0], &why, sizeof why); /* ends when exec has closed it */
    close(pipe_fds[0]);
    if (child < 0) {
        out_error("cannot start redis-server: %s", strerror(fork_error));
        return EXIT_SYSTEM;
    }
    if (n == (ssize_t)sizeof why) {
        out_error("cannot start redis-server for local: %s; install the package redis-server (or "
                  "valkey-server)",
                  strerror(why));
        return EXIT_UNAVAILABLE;
    }
    while (!is_ready(local)) {
        if (!pause_until_deadline(local)) {
            out_error("cannot reach the redis-server started in %s: see %s/redis.log", local->dir,
                      local->dir);
            return EXIT_UNAVAILABLE;
        }
    }
    return 0;
}

/* Only one of all first users starts it, holding the lock until the server is ready; whoever comes
 * meanwhile waits for the lock, and finds it running. */
static int start_once(const struct local *local) {
    int lock = openat(local->dir_fd, "start.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) {
        out_error("cannot open %s/start.lock: %s", local->dir, strerror(errno));
        return EXIT_UNAVAILABLE;
    }
    int status = 0;
    if (flock(lock, LOCK_SH | LOCK_NB) == 0 && listens(local))
        goto out;
    /* Not a blocking flock(2): who holds it may be stopped. */
    while (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        if (!pause_until_deadline(local)) {
            out_error("cannot start redis-server in %s: another rlock has been starting it for too "
                      "long",
                      local->dir);
            status = EXIT_UNAVAILABLE;
            goto out;
        }
    }
    if (!listens(local))
        status = start_server(local);
out:
    close(lock);
    return status;
}

int local_start(const char *server, int64_t timeout_ms, char **url, char **absolute) {
    struct local local = {.dir = absolute_dir(server),
                          .dir_fd = -1,
                          .address = {.sun_family = AF_UNIX},
                          .deadline_ms = boottime_ms() + timeout_ms};
    const size_t size = sizeof local.address.sun_path;
    int status = EXIT_SYSTEM;
    *url = *absolute = NULL;
    if (local.dir == NULL || (*absolute = percent_url(prefix, local.dir)) == NULL) {
        out_error("cannot name the local: directory: %s", strerror(errno));
        goto out;
    }
    if ((size_t)snprintf(local.address.sun_path, size, "%s/redis.sock", local.dir) >= size) {
        out_error("cannot use local:%s: a socket's path has at most %zu bytes", local.dir,
                  size - 1);
        status = EXIT_USAGE;
        goto out;
    }
    status = open_dir(&local);
    if (status == 0)
        status = start_once(&local);
    if (status == 0 && (*url = percent_url("unix://", local.address.sun_path)) == NULL)
        status = EXIT_SYSTEM;
out:
    if (local.dir_fd >= 0)
        close(local.dir_fd);
    free(local.dir);
    return status;
}
