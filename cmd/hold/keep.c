/* keep.c: `--while PID`: a keeper in the background, which renews until that process ends.
 *
 * The keeper itself takes the lock, so that it is whom others are shown, and speaks to the terminal
 * until it has printed the handle. It was forked before any thread, lives in a session of its own,
 * and holds no descriptor of the caller's by then: $(...) returns. Our first process only waits for
 * that, and passes signals on. */
#include "hold/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hold/acquire.h"
#include "output/out.h"
#include "process/daemon.h"

enum { RELEASE_AFTER_LOSS_MS = 1000 };

struct keeping {
    const struct wrap_kind *kind;
    const struct settings *settings;
    const struct signals *signals;
    int process_fd; /* of whom it is kept for; opened before the lock is taken */
    int socket;     /* to the other of our two processes */
};

/* --- the keeper ------------------------------------------------------------------------------ */

/* What the caller left open would stay open for as long as the lock is kept. */
static void close_others(const struct keeping *keeping) {
    const int ours[] = {keeping->process_fd, keeping->socket, keeping->signals->fd};
    daemon_close_others(ours, sizeof ours / sizeof ours[0]);
}

/* Until the process ends, the lock is lost, or somebody wants us to end. */
static void stay(const struct keeping *keeping, const struct taken *taken, rlock_keeper *keeper) {
    const struct rlock_renewal *renewal;
    struct pollfd fds[] = {
        {.fd = keeping->process_fd, .events = POLLIN},
        {.fd = rlock_keeper_fd(keeper), .events = POLLIN},
        {.fd = keeping->signals->fd, .events = POLLIN},
        {.fd = rlock_keeper_report_fd(keeper), .events = POLLIN},
    };
    for (;;) {
        if (poll(fds, sizeof fds / sizeof fds[0], -1) < 0)
            continue;
        while (fds[3].revents != 0 && (renewal = rlock_keeper_report(keeper)) != NULL) {
            if (renewal->status != RLOCK_OK)
                server_revive(&taken->server, 0);
        }
        if (fds[0].revents != 0 || fds[1].revents != 0 || signals_read(keeping->signals) != 0)
            return;
    }
}

static void give_back(const struct taken *taken, const struct settings *settings,
                      enum rlock_status verdict) {
    const int64_t now = rlock_now_ms();
    /* Of what is lost something may be left, on a minority of several servers. */
    const int64_t most =
        now + (verdict == RLOCK_OK ? settings->io_timeout_ms : (int64_t)RELEASE_AFTER_LOSS_MS);
    const int64_t lease_end = rlock_lease_end_ms(taken->lock);
    const bool sure = verdict == RLOCK_OK && lease_end < most;
    server_revive(&taken->server, (sure ? lease_end : most) - now);
    (void)!rlock_release(taken->lock, 0, sure ? lease_end : most);
}

static int print_and_stay(const struct keeping *keeping, const struct taken *taken, int null) {
    const struct rlock_keeper_options options = {
        .size = sizeof options,
        .troubles = server_is_local(&taken->server),
    };
    const char stands = 1;
    rlock_keeper *keeper;
    if (rlock_keeper_start(&keeper, taken->lock, &options) != RLOCK_OK) {
        out_error("cannot keep %s: %s", keeping->settings->names[0],
                  rlock_error(taken->server.client));
        return acquire_undo(taken, keeping->settings, EXIT_SYSTEM);
    }
    const int status = acquire_print(taken);
    if (status == 0) {
        (void)prctl(PR_SET_PDEATHSIG, 0);
        (void)!chdir("/");
        daemon_leave_streams(null);
        (void)!send(keeping->socket, &stands, sizeof stands, MSG_NOSIGNAL);
        stay(keeping, taken, keeper);
    }
    const enum rlock_status verdict = rlock_keeper_stop(keeper);
    if (status == 0)
        give_back(taken, keeping->settings, verdict);
    else
        (void)acquire_undo(taken, keeping->settings, status);
    return status;
}

static int keeper_main(const struct keeping *keeping, pid_t starter) {
    struct taken taken = {.lock = NULL};
    close_others(keeping);
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG,
                SIGTERM); /* until the handle is told nobody wants the lock else */
    if (getppid() != starter)
        return EXIT_SYSTEM;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) {
        out_error("cannot open /dev/null: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    int status = acquire_take(&taken, keeping->kind, keeping->settings, keeping->signals);
    if (status == 0)
        status = print_and_stay(keeping, &taken, null);
    take_free(&taken);
    return status;
}

/* --- who waits for it to stand ---------------------------------------------------------------- */

static int status_of(pid_t keeper) {
    int status;
    while (waitpid(keeper, &status, 0) < 0) {
        if (errno != EINTR)
            return EXIT_SYSTEM; /* our caller ignores SIGCHLD: what went wrong has been said */
    }
    return WIFSIGNALED(status) ? EXIT_BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int end_without(const struct keeping *keeping, pid_t keeper, bool process_ended) {
    const struct settings *settings = keeping->settings;
    const int status = status_of(keeper);
    if (!process_ended || status != EXIT_BY_SIGNAL + SIGTERM)
        return status;
    out_warn("cannot take %s for process %d: it has ended", settings->names[0],
             settings->while_pid);
    return settings->conflict_exit_code;
}

static int wait_until_it_stands(const struct keeping *keeping, pid_t keeper) {
    struct pollfd fds[] = {
        {.fd = keeping->socket, .events = POLLIN},
        {.fd = keeping->signals->fd, .events = POLLIN},
        {.fd = keeping->process_fd, .events = POLLIN},
    };
    bool process_ended = false;
    for (;;) {
        char stands;
        if (poll(fds, sizeof fds / sizeof fds[0], -1) < 0)
            continue;
        if (fds[0].revents != 0)
            return recv(keeping->socket, &stands, sizeof stands, 0) == 1
                       ? 0
                       : end_without(keeping, keeper, process_ended);
        const int signal = signals_read(keeping->signals);
        if (signal != 0)
            (void)kill(keeper, signal);
        if (fds[2].revents != 0) {
            process_ended = true;
            fds[2].fd = -1;
            (void)kill(keeper, SIGTERM);
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
    if (errno == ESRCH)
        out_error("cannot use --while '%d': there is no such process", pid);
    else
        out_error("cannot use --while '%d': %s", pid, strerror(errno));
    return errno == ESRCH || errno == EINVAL || errno == ENOENT ? EXIT_USAGE : EXIT_SYSTEM;
}

static int start(struct keeping *keeping) {
    int sockets[2];
    const pid_t starter = getpid();
    pid_t keeper = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0) {
        keeper = fork();
        const int ours = keeper == 0 ? 1 : 0, why = errno;
        close(sockets[1 - ours]);
        keeping->socket = sockets[ours];
        errno = why;
    }
    if (keeper == 0)
        return keeper_main(keeping, starter);
    if (keeper > 0)
        return wait_until_it_stands(keeping, keeper);
    out_error("cannot start a keeper: %s", strerror(errno));
    return EXIT_SYSTEM;
}

int keep(const struct wrap_kind *kind, const struct settings *settings,
         const struct signals *signals) {
    struct keeping keeping = {
        .kind = kind,
        .settings = settings,
        .signals = signals,
        .process_fd = open_process(settings->while_pid),
        .socket = -1,
    };
    if (keeping.process_fd < 0)
        return refuse_process(settings->while_pid);
    const int status = start(&keeping);
    if (keeping.socket >= 0)
        close(keeping.socket);
    close(keeping.process_fd);
    return status;
}
