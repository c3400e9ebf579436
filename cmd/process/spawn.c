/* spawn.c: the command, seen from rlock. */
#include "process/spawn.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/deadline.h"
#include "process/guardian.h"
#include "process/proc.h"
#include "process/self.h"

enum { KILL_PATIENCE_MS = 1000 };

/* A script that has become rlock (exec) may have left children behind in the background. */
static bool note_strangers(struct spawn *spawn) {
    if (!descendants_has_children())
        return true;
    spawn->stranger_count = descendants_note_strangers(NULL, 0);
    spawn->strangers = malloc((size_t)spawn->stranger_count * sizeof *spawn->strangers);
    if (spawn->strangers == NULL)
        return false;
    (void)descendants_note_strangers(spawn->strangers, spawn->stranger_count);
    return true;
}

/* For the command's environ: the guardian allocates no memory. */
static char **make_room(void) {
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    return malloc((count + TEXTS_MAX + 1) * sizeof *environ);
}

static bool get_memory(struct spawn *spawn) {
    void *memory = mmap(NULL, sizeof *spawn->plan.shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    spawn->plan.shared = memory == MAP_FAILED ? NULL : memory;
    spawn->plan.environment = make_room();
    if (spawn->plan.shared == NULL || spawn->plan.environment == NULL)
        return false;
    spawn_set_lease_end(spawn, INT64_MAX);
    return true;
}

bool spawn_prepare(struct spawn *spawn, const struct signals *signals, char *const *argv,
                   struct deadline_plan deadline, const char **why) {
    *spawn = (struct spawn){
        .guardian = -1,
        .socket = -1,
        .plan =
            {
                .argv = argv,
                .caller_mask = &signals->caller_mask,
                .caller_ignored_child = signals_ignored(SIGCHLD),
                .rlock = getpid(),
                .deadline = deadline,
            },
    };
    if (!proc_is_ours(why))
        return false;
    if (!note_strangers(spawn) || !get_memory(spawn)) {
        *why = strerror(errno);
        return false;
    }
    descendants_adopt_orphans(); /* if the guardian is killed, its orphans become our children */
    if (getpid() == 1 || spawn->stranger_count > 0)
        (void)signal(SIGCHLD, SIG_IGN); /* the kernel reaps what we adopt */
    return true;
}

bool spawn_fork_guardian(struct spawn *spawn) {
    int sockets[2];
    if (spawn->guardian > 0)
        return true;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        return false;
    spawn->plan.socket = sockets[1];
    spawn->guardian = fork();
    if (spawn->guardian == 0) {
        /* With our end open the guardian would not see our death. */
        close(sockets[0]);
        guardian_main(&spawn->plan);
    }
    const int error = errno;
    close(sockets[1]);
    spawn->socket = sockets[0];
    if (spawn->guardian < 0)
        spawn_end_guardian(spawn);
    errno = error;
    return spawn->guardian > 0;
}

/* Running, or dead and not reaped: its number is not another's. */
static bool is_our_child(pid_t pid) {
    siginfo_t info;
    return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* By SIGKILL: nothing else ends one that is stopped. */
static void end_child(pid_t pid) {
    if (!is_our_child(pid))
        return;
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

void spawn_end_guardian(struct spawn *spawn) {
    end_child(spawn->guardian);
    if (spawn->socket >= 0)
        close(spawn->socket);
    spawn->guardian = spawn->socket = -1;
}

/* For a guardian that is late or dead; kills it, too. */
static void kill_tree(struct spawn *spawn, enum end_cause cause) {
    struct descendants descendants = {
        .child = is_our_child(spawn->guardian) ? spawn->guardian : 0,
        .strangers = spawn->strangers,
        .stranger_count = spawn->stranger_count,
    };
    self_raise_priority(); /* this is the guardian's work, with its priority */
    const bool all = descendants_kill(&descendants, boottime_ms() + KILL_PATIENCE_MS);
    spawn->guardian = -1;
    spawn->report = (struct report){
        .verb = REPORT_ENDED,
        .status = SIGKILL, /* as waitpid(2) returns it of a command that was killed */
        .cause = cause,
        .killed = true,
        .left = !all,
        .at_ms = boottime_ms(),
    };
}

/* The command has got what the kernel sent to the whole job, if it was there, and whether rlock
 * ignores that or not. For any other signal the guardian asks its witness. */
static void pass_on(const struct spawn *spawn, const struct signals *signals) {
    struct signal_taken taken = {.by_keys = false};
    const bool is_ours = signals_take(signals, &taken) && taken.sender != spawn->guardian;
    if (is_ours || taken.by_keys)
        (void)order_send(spawn->socket,
                         (struct order){taken.by_keys ? ORDER_KEYS : ORDER_SIGNAL, taken.number});
}

/* The shell must see rlock stop as it would see the command stop. Meanwhile nothing renews the
 * lease: the guardian keeps the deadline. A pending SIGCONT is younger than this stop: we have been
 * stopped and continued since. */
static void stop_as(const struct spawn *spawn, const struct report *report) {
    sigset_t waiting;
    if (sigpending(&waiting) == 0 && sigismember(&waiting, SIGCONT) == 1)
        return;
    signals_raise_default(report->status);
    (void)order_send(spawn->socket, (struct order){ORDER_AWAKE, report->stop});
}

/* Reads a report, or finds that the guardian is gone without one. True: it was the last. */
static bool read_report(struct spawn *spawn) {
    struct report report;
    const ssize_t n = recv(spawn->socket, &report, sizeof report, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n != (ssize_t)sizeof report) {
        spawn->guardian_lost = true;
        kill_tree(spawn, spawn->stop_cause);
    } else if (report.verb == REPORT_STOPPED) {
        stop_as(spawn, &report);
        return false;
    } else {
        spawn->report = report;
        if (is_our_child(spawn->guardian)) /* it waits for SIGKILL */
            (void)kill(spawn->guardian, SIGKILL);
    }
    return true;
}

void spawn_set_lease_end(struct spawn *spawn, int64_t lease_end_ms) {
    __atomic_store_n(&spawn->plan.shared->lease_end_ms, lease_end_ms, __ATOMIC_RELEASE);
}

bool spawn_start(struct spawn *spawn) {
    spawn->started_ms = boottime_ms();
    if (order_send(spawn->socket, (struct order){.verb = ORDER_START}))
        return true;
    spawn->report = (struct report){.verb = REPORT_NO_START, .status = errno};
    return false;
}

static bool kill_if_overdue(struct spawn *spawn) {
    const int64_t now = boottime_ms();
    if (now < plan_deadline(&spawn->plan, spawn->started_ms).overdue_ms)
        return false;
    const bool for_lease = now >= plan_deadline(&spawn->plan, INT64_MAX).overdue_ms;
    kill_tree(spawn, for_lease ? END_FOR_LEASE : END_FOR_TIME);
    return true;
}

enum spawn_event spawn_watch(struct spawn *spawn, const struct signals *signals, int lost_fd,
                             int report_fd) {
    struct pollfd fds[] = {
        {.fd = spawn->socket, .events = POLLIN},
        {.fd = signals->fd, .events = POLLIN},
        {.fd = lost_fd, .events = POLLIN},
        {.fd = report_fd, .events = POLLIN},
    };
    for (;;) {
        const int64_t overdue_ms = plan_deadline(&spawn->plan, spawn->started_ms).overdue_ms;
        if (poll(fds, sizeof fds / sizeof fds[0], boottime_left_ms(overdue_ms)) < 0)
            continue;
        /* The guardian reports a stop before it sends us SIGCONT: read in that order. */
        if ((fds[0].revents != 0 || fds[1].revents != 0) && read_report(spawn))
            return SPAWN_ENDED;
        if (fds[1].revents != 0)
            pass_on(spawn, signals);
        if (fds[2].revents != 0)
            return SPAWN_LOST;
        if (fds[3].revents != 0)
            return SPAWN_REPORT;
        if (kill_if_overdue(spawn))
            return SPAWN_ENDED;
    }
}

void spawn_stop(struct spawn *spawn, enum end_cause cause) {
    const struct order order = {ORDER_STOP, (int)cause};
    spawn->stop_cause = cause;
    /* Too many orders are unread: the guardian is stopped. Its death ends the tree. */
    if (!order_send(spawn->socket, order) && is_our_child(spawn->guardian))
        (void)kill(spawn->guardian, SIGKILL);
}

int64_t spawn_ran_ms(const struct spawn *spawn) {
    return spawn->report.verb == REPORT_ENDED ? spawn->report.at_ms - spawn->started_ms : -1;
}

void spawn_finish(struct spawn *spawn) {
    spawn_end_guardian(spawn);
    end_child(spawn->report.witness); /* else whoever adopts orphans had to reap it */
    free(spawn->strangers);
    free(spawn->plan.environment);
    if (spawn->plan.shared != NULL)
        (void)munmap(spawn->plan.shared, sizeof *spawn->plan.shared);
    *spawn = (struct spawn){.guardian = -1, .socket = -1};
}
