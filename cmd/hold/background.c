/* background.c: rlock acquire; with `--while PID` in the background, by a process that renews until
 * that process ends.
 *
 * The process in the background itself takes the lock, so that it is the one shown to others, and
 * writes to the terminal until it has printed the handle. It was forked before any thread, lives in
 * a session of its own, and holds no descriptor of the caller's by then: $(...) returns. The first
 * process only waits for that, and passes signals on. */
#include "hold/acquired.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/out.h"
#include "process/self.h"

enum { AGAIN_MS = 500 };

struct background {
    const struct settings *settings;
    const struct signals *signals;
    int process_fd; /* --while: its end ends the hold; opened before the lock is taken */
    int socket;     /* to the other of our two processes */
};

/* --- the process in the background ----------------------------------------------------------- */

/* Or the caller's descriptors would stay open for as long as the lock is kept. */
static void close_others(const struct background *background) {
    const int ours[] = {background->process_fd, background->socket, background->signals->fd};
    self_close_others(ours, sizeof ours / sizeof ours[0]);
}

/* Until the process ends, the lock is lost, or a signal comes. True: the process has ended. */
static bool wait_for_end(const struct background *background, const struct acquired *acquired,
                         rlock_keeper *keeper) {
    const struct rlock_renewal *renewal;
    struct pollfd fds[] = {
        {.fd = background->process_fd, .events = POLLIN},
        {.fd = rlock_keeper_fd(keeper), .events = POLLIN},
        {.fd = background->signals->fd, .events = POLLIN},
        {.fd = rlock_keeper_report_fd(keeper), .events = POLLIN},
    };
    for (;;) {
        if (poll(fds, sizeof fds / sizeof fds[0], -1) < 0)
            continue;
        while (fds[3].revents != 0 && (renewal = rlock_keeper_report(keeper)) != NULL) {
            if (renewal->status != RLOCK_OK)
                server_revive(&acquired->server, 0);
        }
        if (fds[0].revents != 0 || fds[1].revents != 0 || signals_read(background->signals) != 0)
            return fds[0].revents != 0;
    }
}

/* A file system on which nobody stands can be unmounted. Each connection, though, reads the
 * certificates and the password's file again. */
static void leave_directory(const struct settings *settings) {
    const char *const paths[] = {settings->server.tls.ca, settings->server.tls.cert,
                                 settings->server.tls.key, settings->server.password_file};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (paths[i] != NULL && *paths[i] != '/')
            return;
    }
    (void)!chdir("/");
}

/* patient: nobody else would give it back, so as long as it is held, or until a signal comes. */
static void give_back(const struct background *background, const struct acquired *acquired,
                      bool patient, bool was_lost) {
    struct pollfd told = {.fd = background->signals->fd, .events = POLLIN};
    enum rlock_status status;
    do
        status = acquire_give_back(acquired, 0, was_lost);
    while (patient && (status == RLOCK_UNAVAILABLE || status == RLOCK_DENIED) &&
           rlock_now_ms() < rlock_lease_end_ms(acquired->lock) && poll(&told, 1, AGAIN_MS) == 0);
}

static int print_and_stay(const struct background *background, const struct acquired *acquired,
                          int null) {
    const struct rlock_keeper_options options = {
        .size = sizeof options,
        .report_failures = server_is_local(&acquired->server),
    };
    const char stands = 1;
    rlock_keeper *keeper;
    bool process_ended = false;
    if (rlock_keeper_start(&keeper, acquired->lock, &options) != RLOCK_OK) {
        (void)out_fail(EXIT_SYSTEM, acquire_name(acquired), NULL, "cannot keep %s: %s",
                       acquire_name(acquired), rlock_error(acquired->server.client));
        return detached_undo(acquired, EXIT_SYSTEM);
    }
    const int status = detached_print(acquired, background->signals);
    if (status == 0) {
        (void)prctl(PR_SET_PDEATHSIG, 0);
        leave_directory(background->settings);
        self_leave_streams(null);
        (void)!send(background->socket, &stands, sizeof stands, MSG_NOSIGNAL);
        process_ended = wait_for_end(background, acquired, keeper);
    }
    const enum rlock_status verdict = rlock_keeper_stop(keeper);
    if (status == 0)
        give_back(background, acquired, process_ended, verdict != RLOCK_OK);
    else
        (void)detached_undo(acquired, status);
    return status;
}

static int background_main(const struct background *background, pid_t starter) {
    struct acquired acquired = {.lock = NULL};
    close_others(background);
    (void)setsid();
    (void)signal(SIGTERM, SIG_DFL); /* we are told to end by it, whatever the caller ignores */
    /* Until the handle is printed the lock is of no use without the starter. */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != starter)
        return EXIT_SYSTEM;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) {
        return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot open /dev/null: %s", strerror(errno));
    }
    int status = detached_begin(&acquired, background->settings, background->signals);
    if (status == ACQUIRED)
        status = print_and_stay(background, &acquired, null);
    acquire_free(&acquired);
    return status;
}

/* --- the process that waits for it ----------------------------------------------------------- */

static int status_of(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return EXIT_SYSTEM;
    }
    return WIFSIGNALED(status) ? EXIT_BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int end_without(const struct background *background, pid_t pid, bool process_ended) {
    const struct settings *settings = background->settings;
    const int status = status_of(pid);
    if (!process_ended || status != EXIT_BY_SIGNAL + SIGTERM)
        return status;
    out_warn("cannot take %s for process %d: it has ended", settings->names[0],
             settings->handle.while_pid);
    return settings->lock.conflict_exit_code;
}

static int wait_until_it_stands(const struct background *background, pid_t pid) {
    struct pollfd fds[] = {
        {.fd = background->socket, .events = POLLIN},
        {.fd = background->signals->fd, .events = POLLIN},
        {.fd = background->process_fd, .events = POLLIN},
    };
    bool process_ended = false;
    for (;;) {
        char stands;
        if (poll(fds, sizeof fds / sizeof fds[0], -1) < 0)
            continue;
        if (fds[0].revents != 0)
            return recv(background->socket, &stands, sizeof stands, 0) == 1
                       ? 0
                       : end_without(background, pid, process_ended);
        const int signal = signals_read(background->signals);
        if (signal != 0)
            (void)kill(pid, signal);
        if (fds[2].revents != 0) {
            process_ended = true;
            fds[2].fd = -1;
            (void)kill(pid, SIGTERM);
        }
    }
}

/* --- both ------------------------------------------------------------------------------------ */

/* A zombie has ended, too. -1: errno says why. */
static int open_process(int pid) {
    const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    if (fd >= 0 && poll(&ended, 1, 0) > 0) {
        close(fd);
        errno = ESRCH;
        return -1;
    }
    return fd; /* close-on-exec */
}

static int refuse_process(int pid) {
    const bool is_thread = errno == EINVAL || errno == ENOENT; /* depends on the kernel */
    const char *why = errno == ESRCH ? "there is no such process"
                      : is_thread    ? "it is a thread, not a process"
                                     : strerror(errno);
    return out_fail(errno == ESRCH || is_thread ? EXIT_USAGE : EXIT_SYSTEM, NULL, NULL,
                    "cannot use --while '%d': %s", pid, why);
}

static int start(struct background *background) {
    int sockets[2];
    const pid_t starter = getpid();
    pid_t pid = -1;
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, as by many daemons, it would take the status away */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0) {
        pid = fork();
        const int ours = pid == 0 ? 1 : 0, why = errno;
        close(sockets[1 - ours]);
        background->socket = sockets[ours];
        errno = why;
    }
    if (pid == 0)
        return background_main(background, starter);
    if (pid > 0)
        return wait_until_it_stands(background, pid);
    return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot start a process in the background: %s",
                    strerror(errno));
}

static int acquire_while(const struct settings *settings, const struct signals *signals) {
    struct background background = {
        .settings = settings,
        .signals = signals,
        .process_fd = open_process(settings->handle.while_pid),
        .socket = -1,
    };
    if (background.process_fd < 0)
        return refuse_process(settings->handle.while_pid);
    const int status = start(&background);
    if (background.socket >= 0)
        close(background.socket);
    close(background.process_fd);
    return status;
}

/* --- without --while -------------------------------------------------------------------------- */

static int acquire_alone(const struct settings *settings, const struct signals *signals) {
    struct acquired acquired;
    int status = detached_begin(&acquired, settings, signals);
    if (status == ACQUIRED) {
        status = detached_print(&acquired, signals);
        if (status != 0)
            (void)detached_undo(&acquired, status);
    }
    acquire_free(&acquired);
    return status;
}

int acquire_exec(struct settings *settings) {
    struct signals signals;
    int status = acquire_signals(&signals);
    if (status != 0)
        return status;
    status = settings->handle.while_pid > 0 ? acquire_while(settings, &signals)
                                            : acquire_alone(settings, &signals);
    close(signals.fd);
    return status;
}
