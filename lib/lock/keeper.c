/* keeper.c: the thread that renews.
 *
 * All that the system may refuse is taken at its start: the thread itself and its descriptors. Its
 * connections are opened when they are due, so that a hold that is over in a moment costs none. It
 * reports by one descriptor that becomes readable when the lease is lost. Deadlines are kept by its
 * caller, not by this thread: it may be blocked in a request or a name look-up. Idea: Redisson's
 * watchdog, but with an end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "lock/lock.h"
#include "os/clock.h"
#include "os/options.h"
#include "os/random.h"
#include "os/thread.h"

enum {
    RENEWED_OFTEN_MS = 1000, /* renewals as frequent as this show a broken lock soon enough */
    BACKOFF_MIN_MS = 10,
    BACKOFF_MAX_MS = 500,
    LATE_MS = 100,
    LISTEN_AFTER_MS = 1000, /* a lock held for so long is worth a connection to hear of a break */
};

struct rlock_keeper {
    struct rlock_lock *lock;
    struct rlock__error error;
    struct rlock__routes routes;
    struct rlock__listener listener; /* for the word that the lock was taken away, which
                                        lua/include/broken.lua says on a channel of its own */
    bool may_not_listen;
    char broken_by[RLOCK__BY_SIZE]; /* "": no break was heard of */
    int64_t grace_ms;
    int64_t unknown_until_ms; /* of a lock that was resumed: to find out when its lease ends */
    pthread_t thread;
    int timer_fd;
    int stop_fd;
    int lost_fd;
    int report_fds[2]; /* a pipe of struct rlock_renewal, each written at once; -1: not wanted */
    bool reports_all, reports_failures;
    struct rlock_renewal reported;
    bool failing;              /* the last renewal has failed; the thread's */
    enum rlock_status verdict; /* the thread's until it is joined */
};

/* So long before the lease's end; where that is not known, when there is no time to find out. */
static int64_t before_end(const struct rlock_keeper *keeper, int64_t ms) {
    const int64_t end_ms = rlock_lease_end_ms(keeper->lock);
    return end_ms != 0 ? end_ms - ms : keeper->unknown_until_ms;
}

/* When the lease counts as lost if nothing is confirmed by then. */
static int64_t last_moment(const struct rlock_keeper *keeper) {
    return before_end(keeper, keeper->grace_ms);
}

/* One round over all names. Past that moment, as after the machine has slept, a first one finds
 * out. RLOCK_OK, RLOCK_LOST, RLOCK_AGAIN, RLOCK_CANCELLED, or final. */
static enum rlock_status renew_all(struct rlock_keeper *keeper) {
    struct rlock_lock *lock = keeper->lock;
    const int64_t now = rlock_now_ms(), last_ms = last_moment(keeper);
    const bool late = last_ms <= now && !keeper->failing;
    const int64_t by_ms = late ? now + LATE_MS : rlock__half_way_ms(now, last_ms);
    const struct rlock__limit limit =
        rlock__client_call_limit(lock->client, RLOCK_FOREVER, true, by_ms, keeper->stop_fd);
    size_t which = 0;
    const enum rlock_status status =
        rlock__lock_renew(lock, &keeper->routes, &limit, last_ms, &which);
    if (status == RLOCK_LOST && keeper->broken_by[0] != '\0')
        rlock__error_set(&keeper->error, "%s was taken away by %s, with rlock break",
                         lock->resources[which].name, keeper->broken_by);
    return status;
}

/* Reports a renewal or, if preempted, which waiter asks us to end, or why none can. By a pipe and
 * not by a callback: the thread never waits for a reader. A full pipe drops the report. */
static void send_report(const struct rlock_keeper *keeper, enum rlock_status status, bool preempted,
                        const char *why) {
    struct rlock_renewal renewal = {
        .status = status,
        .at_ms = rlock_now_ms(),
        .lease_end_ms = rlock_lease_end_ms(keeper->lock),
        .preempted = preempted,
    };
    (void)snprintf(renewal.why, sizeof renewal.why, "%.*s", (int)sizeof renewal.why - 1, why);
    (void)!write(keeper->report_fds[1], &renewal, sizeof renewal);
}

/* So that a lock that is taken away is missed at once, not at the next renewal. It can do without.
 */
static void listen_for_break(struct rlock_keeper *keeper, int64_t until_ms) {
    struct rlock_lock *lock = keeper->lock;
    struct rlock__listener *listener = &keeper->listener;
    if (keeper->may_not_listen || listener->resources != NULL)
        return;
    const struct rlock__limit limit = rlock__client_limit(lock->client, until_ms, keeper->stop_fd);
    struct rlock__resource *first = rlock__resource_first_held(lock);
    first->wanted = RLOCK__OWN_CHANNEL;
    const enum rlock_status status = rlock__listen(listener, lock->client, first, 1, &limit);
    keeper->may_not_listen = status != RLOCK_OK && status != RLOCK_AGAIN;
    if (keeper->may_not_listen && lock->preemptible)
        send_report(keeper, status, true, keeper->error.text);
}

/* Sleeps until `when`, until told to stop, or until it hears that the lock was taken away. By a
 * timer, not by poll's time-out: that stands still while the machine sleeps, and a lease that could
 * be renewed after it would be missed. */
static enum rlock_status sleep_until(struct rlock_keeper *keeper, int64_t when) {
    const struct itimerspec at = {.it_value = {when / 1000, (long)(when % 1000) * 1000000}};
    const struct rlock__limit limit = {RLOCK_FOREVER, keeper->stop_fd};
    (void)timerfd_settime(keeper->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    for (;;) {
        const enum rlock_status status =
            rlock__hear(&keeper->listener, 1, keeper->timer_fd, &limit);
        const struct rlock__news news = rlock__take_news(rlock__resource_first_held(keeper->lock));
        if (status == RLOCK_UNAVAILABLE) /* a connection to hear it on has died */
            continue;
        if (status == RLOCK_OK && (news.what & RLOCK__PREEMPTED) != 0 && keeper->lock->preemptible)
            send_report(keeper, RLOCK_OK, true, news.by);
        keeper->lock->told_broken = (news.what & RLOCK__BROKEN) != 0;
        if (keeper->lock->told_broken)
            (void)snprintf(keeper->broken_by, sizeof keeper->broken_by, "%s", news.by);
        if (status != RLOCK_OK || news.what == 0 || keeper->lock->told_broken)
            return status;
    }
}

static void report(struct rlock_keeper *keeper, enum rlock_status status) {
    const bool is_news = keeper->reports_all || keeper->failing || status != RLOCK_OK;
    keeper->failing = status != RLOCK_OK;
    if (keeper->reports_failures && is_news)
        send_report(keeper, rlock__final(status), false, keeper->failing ? keeper->error.text : "");
}

/* Renews again and again; returns why it ended. */
static enum rlock_status keep(struct rlock_keeper *keeper) {
    int64_t due = rlock_renewal_due_ms(keeper->lock);
    int64_t backoff_ms = 0;
    enum rlock_status known = RLOCK_AGAIN; /* why it does not work, as far as it was said */
    struct rlock__error why = {""};
    const int64_t listen_at = rlock__sooner_ms(due, rlock_now_ms() + LISTEN_AFTER_MS);
    if (!keeper->lock->preemptible && sleep_until(keeper, listen_at) == RLOCK_CANCELLED)
        return RLOCK_OK;
    listen_for_break(keeper, due);
    if (keeper->listener.resources != NULL) /* it may have been taken away before we listened */
        due = rlock_now_ms();
    for (;;) {
        if (known == RLOCK_AGAIN)
            listen_for_break(keeper, due);
        if (sleep_until(keeper, due) == RLOCK_CANCELLED)
            return RLOCK_OK;
        enum rlock_status status = renew_all(keeper);
        if (status == RLOCK_CANCELLED)
            return RLOCK_OK;
        if (status == RLOCK_LOST || status == RLOCK_WRONG_KIND)
            return RLOCK_LOST;
        const int64_t now = rlock_now_ms();
        if (status == RLOCK_OK) {
            report(keeper, status);
            due = rlock_renewal_due_ms(keeper->lock);
            backoff_ms = 0;
            known = RLOCK_AGAIN;
            why.text[0] = '\0';
            continue;
        }
        /* The last try has no time: it tells less than what was found out before. */
        const bool is_hasty = now >= last_moment(keeper) && why.text[0] != '\0';
        if (status != RLOCK_AGAIN || (known == RLOCK_AGAIN && !is_hasty)) {
            known = status;
            why = keeper->error;
        }
        /* Whatever else it was, a right taken away too: it may come back until the last moment. */
        if (now >= last_moment(keeper)) {
            keeper->error = why;
            return rlock__final(known);
        }
        report(keeper, status);
        due = now + rlock__backoff(&backoff_ms, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
        due = rlock__sooner_ms(due, last_moment(keeper));
    }
}

static void *keeper_main(void *arg) {
    struct rlock_keeper *keeper = arg;
    keeper->verdict = keep(keeper);
    if (keeper->verdict != RLOCK_OK) {
        const uint64_t one = 1;
        (void)!write(keeper->lost_fd, &one, sizeof one);
    }
    rlock__routes_close(&keeper->routes);
    rlock__listen_no_more(&keeper->listener);
    return NULL;
}

static void free_keeper(struct rlock_keeper *keeper) {
    const int fds[] = {keeper->timer_fd, keeper->stop_fd, keeper->lost_fd, keeper->report_fds[0],
                       keeper->report_fds[1]};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    keeper->lock->published = NULL;
    rlock__routes_free(&keeper->routes);
    rlock__listener_free(&keeper->listener);
    free(keeper);
}

/* Whether the connections of a renewal can be opened when it is due: one to each server to renew
 * on, one to listen on, and one for a look-up. */
static bool can_connect(const struct rlock_keeper *keeper) {
    int fds[2 * RLOCK_SERVERS_MAX + 1];
    const size_t wanted = 2 * keeper->lock->client->count + 1;
    size_t count = 0;
    while (count < wanted && (fds[count] = fcntl(keeper->stop_fd, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    const int error = errno;
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    errno = error;
    return count == wanted;
}

/* Opens what the thread needs, in the caller's: what the client knows changes as soon as another
 * lock of it is used. Returns 0, or an errno. */
static int open_keeper(struct rlock_keeper *keeper, struct rlock_lock *lock,
                       const struct rlock_keeper_options *options) {
    keeper->lock = lock;
    lock->published = options->lease_end_ms;
    keeper->grace_ms = options->grace_ms;
    keeper->unknown_until_ms = rlock_now_ms() + lock->lease_ms / 3;
    keeper->may_not_listen = lock->lease_ms / 3 <= RENEWED_OFTEN_MS && !lock->preemptible;
    keeper->reports_all = options->report_renewals;
    keeper->reports_failures = options->report_failures || options->report_renewals;
    const bool reports = keeper->reports_failures || lock->preemptible;
    keeper->report_fds[0] = keeper->report_fds[1] = -1;
    keeper->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    keeper->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    keeper->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if ((reports && pipe2(keeper->report_fds, O_CLOEXEC | O_NONBLOCK) != 0) ||
        keeper->timer_fd < 0 || keeper->stop_fd < 0 || keeper->lost_fd < 0 || !can_connect(keeper))
        return errno;
    keeper->listener.channel = rlock__break_channel(lock->owner);
    const bool made = keeper->listener.channel != NULL &&
                      rlock__client_routes(lock->client, &keeper->routes, &keeper->error) &&
                      (keeper->may_not_listen ||
                       rlock__listener_make(&keeper->listener, lock->client, &keeper->error));
    return made ? 0 : ENOMEM;
}

enum rlock_status rlock_keeper_start(rlock_keeper **out, rlock_lock *lock,
                                     const struct rlock_keeper_options *given) {
    struct rlock_keeper_options options;
    *out = NULL;
    const enum rlock_status status = RLOCK__READ_OPTIONS(rlock_keeper_options, report_failures,
                                                         &options, given, &lock->client->error);
    if (status != RLOCK_OK)
        return status;
    if (options.grace_ms < 0 || options.grace_ms > lock->lease_ms / 2)
        return rlock__client_invalid(lock->client, "a keeper's grace is at most half of the lease");
    rlock_keeper *keeper = calloc(1, sizeof *keeper);
    int error = keeper != NULL ? open_keeper(keeper, lock, &options) : ENOMEM;
    if (error == 0)
        error = rlock__thread_start(&keeper->thread, keeper_main, keeper);
    if (error == 0) {
        *out = keeper;
        return RLOCK_OK;
    }
    if (keeper != NULL)
        free_keeper(keeper);
    rlock__error_set(&lock->client->error, "cannot start the thread that renews: %s",
                     strerror(error));
    return RLOCK_SYSTEM;
}

int rlock_keeper_fd(const rlock_keeper *keeper) {
    return keeper->lost_fd;
}

int rlock_keeper_report_fd(const rlock_keeper *keeper) {
    return keeper->report_fds[0];
}

const struct rlock_renewal *rlock_keeper_report(rlock_keeper *keeper) {
    struct rlock_renewal *reported = &keeper->reported;
    const ssize_t size = (ssize_t)sizeof *reported;
    const bool is_one = keeper->report_fds[0] >= 0 &&
                        read(keeper->report_fds[0], reported, sizeof *reported) == size;
    return is_one ? reported : NULL;
}

enum rlock_status rlock_keeper_stop(rlock_keeper *keeper) {
    if (keeper == NULL)
        return RLOCK_OK;
    const uint64_t one = 1;
    const int64_t asked_ms = rlock_now_ms();
    (void)!write(keeper->stop_fd, &one, sizeof one);
    pthread_join(keeper->thread, NULL);
    enum rlock_status verdict = keeper->verdict;
    /* The process may have been stopped, or the machine: the thread had no time to see the end. */
    if (verdict == RLOCK_OK && asked_ms >= before_end(keeper, 0)) {
        verdict = RLOCK_LOST;
        rlock__error_set(&keeper->error, "the lease could not be renewed in time");
    }
    if (verdict != RLOCK_OK)
        keeper->lock->client->error = keeper->error;
    free_keeper(keeper);
    return verdict;
}
