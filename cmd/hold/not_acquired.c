/* not_acquired.c: what is said of a lock that was not acquired, and with what status rlock ends. */
#include "hold/acquired.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "options/opt.h"
#include "output/duration.h"
#include "output/out.h"
#include "process/proc.h"
#include "rlock_count.h"

enum {
    WHY_SIZE = 1024,
    GENERATIONS_MAX = 1000, /* as numbers are used again while we look, it might go round */
};

static const char *verb_of(const struct acquired *acquired) {
    return acquired->kind->passed ? "pass" : "take";
}

/* What every event of an attempt begins with. */
#define ATTEMPT(acquired, about)                                                                   \
    OUT_TEXT("name", about), OUT_TEXT("kind", (acquired)->kind->name),                             \
        OUT_TEXT("server", rlock_client_server((acquired)->server.client)),                        \
        OUT_NUMBER("waited_ms", rlock_now_ms() - (acquired)->asked_ms)

static const char *text_or_null(const char *text) {
    return *text != '\0' ? text : NULL;
}

/* --- a holder that waits for us -------------------------------------------------------------- */

static const char advice[] =
    "that rlock is an ancestor of this one, and something between them cleared the environment "
    "(sudo, env -i): this one cannot re-enter, and waits for itself; pass on RLOCK_HOLDS";

static bool is_ancestor(int64_t pid) {
    int64_t at = getppid();
    for (int i = 0; i < GENERATIONS_MAX && at > 0 && at != pid; i++)
        at = proc_parent((pid_t)at);
    return at == pid;
}

static bool is_enclosing(const struct environment *enclosing, const char *owner) {
    for (size_t i = 0; i < enclosing->count; i++) {
        if (strcmp(enclosing->proofs[i].owner, owner) == 0)
            return true;
    }
    return false;
}

/* Whether the holder is an ancestor of this process, although the environment lists no such hold:
 * sudo(8) or env(1) has cleared it. Permits are taken beside those of an enclosing hold, and a
 * latch is nobody's. */
static bool holder_is_ancestor(const struct acquired *acquired) {
    const struct rlock_holder *holder = rlock_blocker(acquired->lock);
    struct utsname here;
    return holder != NULL && acquired->kind->detail != DETAIL_COUNT &&
           strcmp(acquired->kind->name, "sem") != 0 && holder->pid > 0 && !holder->kept &&
           uname(&here) == 0 && strcmp(here.nodename, holder->host) == 0 &&
           !is_enclosing(&acquired->enclosing, holder->owner) && is_ancestor(holder->pid);
}

void not_acquired_warn_of_ancestor(struct acquired *acquired) {
    if (acquired->warned || !holder_is_ancestor(acquired))
        return;
    acquired->warned = true;
    out_warn("%s is held by pid %" PRId64 ": %s", rlock_blocker(acquired->lock)->name,
             rlock_blocker(acquired->lock)->pid, advice);
}

/* --- the end of the wait --------------------------------------------------------------------- */

/* Counts that the lock was not acquired in time, where --max-skips asks for it. Returns how often
 * in a row; 0: not asked for, or it could not be counted, which is said. */
static int64_t count_skip(const struct acquired *acquired, const char *name) {
    const struct rlock_count count = {.size = sizeof count,
                                      .name = name,
                                      .deadline_ms =
                                          rlock_now_ms() + acquired->settings->server.io_timeout_ms,
                                      .cancel_fd = -1};
    int64_t skips = 0;
    if (acquired->settings->lock.max_skips == 0)
        return 0;
    if (rlock_skip(acquired->server.client, &count, &skips) == RLOCK_OK)
        return skips;
    out_warn("cannot count that %s was skipped: %s", name, rlock_error(acquired->server.client));
    return 0;
}

/* What a request without a reply may have left on the servers. */
static void describe_doubt(char text[WHY_SIZE], const struct acquired *acquired) {
    const struct settings *settings = acquired->settings;
    char left[DURATION_TEXT_SIZE];
    const char *what = settings->name_count == 1 ? settings->names[0] : "some of the names";
    text[0] = '\0';
    if (!rlock_in_doubt(acquired->lock))
        return;
    if (rlock_renewal_due_ms(acquired->lock) == RLOCK_FOREVER)
        (void)snprintf(text, WHY_SIZE, "; plain permits of %s may stay taken: see 'rlock break'",
                       what);
    else
        (void)snprintf(text, WHY_SIZE, "; %s may stay held for up to %s", what,
                       duration_format(left, settings->lock.lease_ms));
}

static int say_busy(const struct acquired *acquired, const char *doubt) {
    const struct settings *settings = acquired->settings;
    char why[WHY_SIZE];
    const struct rlock_holder *holder = rlock_blocker(acquired->lock);
    if (holder != NULL) {
        const int64_t skips = count_skip(acquired, holder->name);
        progress_why(why, sizeof why, acquired->kind, holder);
        const bool inside = !acquired->warned && holder_is_ancestor(acquired);
        const bool too_many = settings->lock.max_skips > 0 && skips >= settings->lock.max_skips;
        char times[64] = "", pool[PROGRESS_POOL_SIZE];
        progress_describe_pool(pool, settings);
        if (too_many) /* whatever -q and -E say */
            (void)snprintf(times, sizeof times, ", %" PRId64 " time%s in a row (--max-skips)",
                           skips, skips == 1 ? "" : "s");
        out_event(too_many ? OUT_ERROR : OUT_WARNING, "busy",
                  OUT_FIELDS(ATTEMPT(acquired, holder->name),
                             PROGRESS_BLOCKER(acquired->kind, holder),
                             OUT_NUMBER("skips", skips > 0 ? skips : -1)),
                  "cannot %s %s%s%s: %s%s%s%s", verb_of(acquired), holder->name, pool, times, why,
                  inside ? "; " : "", inside ? advice : "", doubt);
        if (too_many)
            return EXIT_CONFLICT;
    }
    return settings->lock.conflict_exit_code;
}

static int say_ousted(const struct acquired *acquired, const char *doubt) {
    const char *name = rlock_stuck_at(acquired->lock);
    out_event(OUT_WARNING, "superseded", OUT_FIELDS(ATTEMPT(acquired, name)),
              "cannot take %s: %s%s", name, rlock_error(acquired->server.client), doubt);
    return EXIT_GAVE_WAY;
}

/* No run is wanted. -E counts here only if it was set. */
static int say_done(const struct acquired *acquired) {
    const struct settings *settings = acquired->settings;
    const struct rlock_run *run = rlock_last_run(acquired->lock);
    const char *name = rlock_stuck_at(acquired->lock);
    char age[DURATION_TEXT_SIZE], took[DURATION_TEXT_SIZE], period[DURATION_TEXT_SIZE];
    const bool by_key = run->same_key && settings->lock.once_key != NULL;
    const char *why =
        by_key ? settings->lock.once_key : duration_format(period, settings->lock.once_per_ms);
    out_event(OUT_INFO, "skipped",
              OUT_FIELDS(ATTEMPT(acquired, name), OUT_NUMBER("age_ms", run->age_ms),
                         OUT_NUMBER("took_ms", run->took_ms),
                         OUT_TEXT("host", text_or_null(run->host))),
              "not running %s: a run that took %s succeeded %s ago%s%s (--once-%s %s)", name,
              duration_format(took, run->took_ms), duration_format_seconds(age, run->age_ms),
              *run->host != '\0' ? " on " : "", run->host, by_key ? "key" : "per", why);
    const bool is_set = OPT_FROM(settings, lock.conflict_exit_code)->source != SOURCE_DEFAULT;
    return is_set ? settings->lock.conflict_exit_code : 0;
}

int not_acquired_interrupted(const struct acquired *acquired, int signal) {
    const char *name = rlock_stuck_at(acquired->lock);
    char doubt[WHY_SIZE];
    describe_doubt(doubt, acquired);
    out_event(*doubt != '\0' ? OUT_WARNING : OUT_DEBUG, "interrupted",
              OUT_FIELDS(ATTEMPT(acquired, name), OUT_NUMBER("signal", signal)),
              "stopped waiting for %s: signal %d%s", name, signal, doubt);
    return EXIT_BY_SIGNAL + signal;
}

int not_acquired(const struct acquired *acquired, enum rlock_status status) {
    char doubt[WHY_SIZE];
    describe_doubt(doubt, acquired);
    if (status == RLOCK_BUSY)
        return say_busy(acquired, doubt);
    if (status == RLOCK_OUSTED)
        return say_ousted(acquired, doubt);
    if (status == RLOCK_DONE)
        return say_done(acquired);
    return server_explain(&acquired->server, NULL, acquired->kind->name, verb_of(acquired),
                          rlock_stuck_at(acquired->lock), status, doubt);
}
