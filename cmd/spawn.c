/* spawn.c: the command, seen from rlock. */
#include "spawn.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boottime.h"
#include "tree.h"

enum { KILL_PATIENCE_MS = 1000 };

static bool caller_ignores_child(void) {
    struct sigaction now;
    return sigaction(SIGCHLD, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

bool spawn_prepare(struct spawn *spawn, const struct signals *signals,
                   const struct spawn_options *options) {
    int sockets[2];
    *spawn = (struct spawn){.guardian = -1, .socket = -1};
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    spawn->shared = shared;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        goto failed;
    const struct guardian_plan plan = {
        .argv = options->argv,
        .caller_mask = &signals->caller_mask,
        .caller_ignored_child = caller_ignores_child(),
        .shared = shared,
        .kill_after_ms = options->kill_after_ms,
        .margin_ms = options->margin_ms,
        .warn_only = options->warn_only,
        .socket = sockets[1],
    };
    tree_adopt_orphans(); /* should the guardian be killed, its orphans fall to us */
    spawn->guardian = fork();
    if (spawn->guardian == 0) {
        /* Our end in the guardian would hide our death from it. */
        close(sockets[0]);
        guardian_main(&plan);
    }
    const int why = errno;
    close(sockets[1]);
    spawn->socket = sockets[0];
    if (spawn->guardian > 0)
        return true;
    errno = why;
failed:
    spawn_finish(spawn);
    return false;
}

static void order(const struct spawn *spawn, enum order_verb verb, int signal) {
    const struct order packet = {verb, signal};
    (void)send(spawn->socket, &packet, sizeof packet, MSG_NOSIGNAL);
}

/* Has the terminal stopped the job, the shell must see rlock stop, too. While rlock is stopped
 * nothing renews: the guardian keeps the deadline. */
static void pass_on(const struct spawn *spawn, int signal, bool from_terminal) {
    if (!from_terminal)
        order(spawn, ORDER_SIGNAL, signal);
    else if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
        (void)raise(SIGSTOP);
}

/* Reads the report, or finds that the guardian is gone without one. */
static bool read_report(struct spawn *spawn) {
    const ssize_t n = recv(spawn->socket, &spawn->report, sizeof spawn->report, MSG_DONTWAIT);
    if (n == (ssize_t)sizeof spawn->report) {
        order(spawn, ORDER_READ, 0);
        return true;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    spawn->guardian_lost = true;
    spawn_kill(spawn);
    return true;
}

void spawn_start(struct spawn *spawn, int64_t lease_end_ms) {
    __atomic_store_n(&spawn->shared->lease_end_ms, lease_end_ms, __ATOMIC_RELEASE);
    order(spawn, ORDER_START, 0);
}

static int timeout_until(int64_t until_ms) {
    const int64_t left = until_ms - boottime_ms();
    return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

enum spawn_event spawn_watch(struct spawn *spawn, const struct signals *signals, int lost_fd,
                             int news_fd, int64_t until_ms) {
    struct pollfd fds[] = {
        {.fd = spawn->socket, .events = POLLIN},
        {.fd = signals->fd, .events = POLLIN},
        {.fd = lost_fd, .events = POLLIN},
        {.fd = news_fd, .events = POLLIN},
    };
    for (;;) {
        const int n = poll(fds, sizeof fds / sizeof fds[0], timeout_until(until_ms));
        if (n < 0)
            continue;
        if (fds[0].revents != 0 && read_report(spawn))
            return SPAWN_ENDED;
        if (fds[1].revents != 0) {
            bool from_terminal = false;
            const int signal = signals_read(signals, &from_terminal);
            if (signal != 0)
                pass_on(spawn, signal, from_terminal);
        }
        if (fds[2].revents != 0)
            return SPAWN_LOST;
        if (fds[3].revents != 0)
            return SPAWN_NEWS;
        if (boottime_ms() >= until_ms)
            return SPAWN_TIME;
    }
}

void spawn_stop(struct spawn *spawn) {
    order(spawn, ORDER_STOP, 0);
}

void spawn_kill(struct spawn *spawn) {
    int status = 0;
    bool ended = false;
    const bool all = tree_kill(spawn->guardian, &status, &ended, boottime_ms() + KILL_PATIENCE_MS);
    spawn->guardian = -1;
    spawn->report = (struct report){
        .verb = REPORT_ENDED,
        .status = SIGKILL, /* as waitpid(2) tells of a command that it ended */
        .stopped = true,
        .left = !all,
        .at_ms = boottime_ms(),
    };
}

void spawn_finish(struct spawn *spawn) {
    if (spawn->socket >= 0)
        close(spawn->socket);
    if (spawn->guardian > 0) {
        (void)kill(spawn->guardian, SIGKILL); /* it has nothing left to do, but may be stopped */
        (void)waitpid(spawn->guardian, NULL, 0);
    }
    if (spawn->shared != NULL)
        (void)munmap(spawn->shared, sizeof *spawn->shared);
    *spawn = (struct spawn){.guardian = -1, .socket = -1};
}
