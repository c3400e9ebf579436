/* script_replicas.c: waits until enough replicas have what a script wrote, and with fsync until it
 * is on disk. */
#include "redis/script.h"

#include <inttypes.h>
#include <stdio.h>

#include "os/clock.h"
#include "redis/link.h"

static const char not_on_disk[] =
    "it was not on disk in time (see --fsync; appendfsync must be everysec or always)";

/* Whether it matters which replicas have it, and the master lists them. */
static bool by_name(const struct rlock__run *run) {
    return rlock__route_named(run->route) != NULL && !run->route->no_role;
}

static enum rlock_status not_confirmed(struct rlock__run *run, enum rlock_status status) {
    run->unconfirmed = true;
    rlock__link_distrust(run->link);
    return status;
}

/* WAIT counts the replicas that have all that this connection wrote, WAITAOF those that have it on
 * disk, behind a count of 1 for the server itself; ROLE after it lists them. */
static bool ask(struct rlock__run *run, int64_t replicas, enum rlock_status *status) {
    const int64_t now = rlock_now_ms();
    if (run->replicas_by_ms == 0)
        run->replicas_by_ms = rlock__after_ms(now, run->route->site->replica_timeout_ms);
    const int64_t left_ms = run->replicas_by_ms - now;
    char count[24], timeout[24];
    const char *wait[] = {"WAIT", count, timeout}, *waitaof[] = {"WAITAOF", "1", count, timeout};
    const char *role[] = {"ROLE"};
    const bool fsync = run->route->site->fsync;
    (void)snprintf(count, sizeof count, "%" PRId64, replicas);
    (void)snprintf(timeout, sizeof timeout, "%" PRId64,
                   left_ms > 0 ? left_ms : 1); /* 0: for ever */
    run->stage = RLOCK__RUN_REPLICAS;
    run->first = run->link->expected + 1;
    const bool asked = rlock__link_ask_words(run->link, fsync ? 4 : 3, fsync ? waitaof : wait) &&
                       (!by_name(run) || rlock__link_ask_words(run->link, 1, role));
    run->last = run->link->expected;
    *status = asked ? RLOCK_OK : not_confirmed(run, RLOCK_SYSTEM);
    return asked;
}

bool rlock__run_ask_replicas(struct rlock__run *run, enum rlock_status *status) {
    const int replicas = rlock__route_replicas(run->route, run->link);
    *status = RLOCK_OK;
    return (replicas > 0 || by_name(run) || run->route->site->fsync) && ask(run, replicas, status);
}

/* A number of replicas, whichever they are. */
static enum rlock_status count_replicas(struct rlock__run *run, int64_t replicas) {
    const int wanted = rlock__route_replicas(run->route, run->link);
    if (replicas >= wanted)
        return RLOCK_OK;
    rlock__error_set(&run->route->error,
                     "%" PRId64 " of %d replicas acknowledged it in time (see --replicas)",
                     replicas, wanted);
    return not_confirmed(run, RLOCK_AGAIN);
}

/* Those that could become the master. WAIT ends with the number that it was asked for, and the one
 * that matters may have been slower than one that does not: then for one more. */
static bool name_replicas(struct rlock__run *run, int64_t replicas, const rlock__reply *role,
                          enum rlock_status *status) {
    const struct rlock__replica *which;
    const enum rlock__having having =
        rlock__replicas_have(rlock__route_named(run->route), role, replicas, &which);
    *status = RLOCK_OK;
    if (having == RLOCK__ALL_HAVE_IT)
        return false;
    if (having == RLOCK__SOME_WILL && rlock_now_ms() < run->replicas_by_ms)
        return ask(run, replicas + 1, status);
    if (which != NULL)
        rlock__error_set(&run->route->error,
                         "the replica %s:%s, which could become the master, did not acknowledge it "
                         "in time (see --replicas)",
                         which->host, which->port);
    else
        rlock__error_set(&run->route->error,
                         "not all replicas acknowledged it in time (see --replicas)");
    *status = not_confirmed(run, RLOCK_AGAIN);
    return false;
}

/* Some servers say of a command that they do not have that we may not use it. */
static void advise(struct rlock__error *error, bool fsync) {
    const struct rlock__error why = *error;
    rlock__error_set(error, "%s (%s)", why.text,
                     fsync
                         ? "WAITAOF, by which --fsync learns what is on disk"
                         : "WAIT, by which replicas acknowledge a lock: --replicas 0 does without");
}

/* How many replicas have it. False: the server itself does not have it on disk. */
static bool read_count(struct rlock__run *run, const rlock__reply *reply, int64_t *replicas) {
    int64_t on_disk = 0;
    *replicas = 0;
    if (!run->route->site->fsync) {
        (void)rlock__reply_number(reply, replicas);
        return true;
    }
    (void)rlock__reply_integer(reply, 1, replicas);
    if (rlock__reply_integer(reply, 0, &on_disk) && on_disk > 0)
        return true;
    rlock__error_set(&run->route->error, "%s", not_on_disk);
    return false;
}

void rlock__run_note_unconfirmed(struct rlock__run *run) {
    rlock__error_set(&run->route->error, "%s",
                     run->route->site->fsync ? not_on_disk
                                             : "the replicas did not acknowledge it in time");
}

bool rlock__run_hear_replicas(struct rlock__run *run, const rlock__reply *reply,
                              enum rlock_status *status) {
    const rlock__reply *before = run->before;
    const rlock__reply *counted = by_name(run) && before != NULL ? before : reply;
    int64_t replicas;
    *status = rlock__reply_judge(run->link, counted);
    if (*status == RLOCK_UNAVAILABLE && rlock__route_without_wait(run->route, run->link)) {
        *status = RLOCK_OK;
        return false;
    }
    if (*status == RLOCK_DENIED)
        advise(&run->route->error, run->route->site->fsync);
    if (*status != RLOCK_OK) {
        (void)not_confirmed(run, *status);
        return false;
    }
    if (!read_count(run, counted, &replicas)) {
        *status = not_confirmed(run, RLOCK_AGAIN);
        return false;
    }
    if (counted == reply) {
        *status = count_replicas(run, replicas);
        return false;
    }
    const enum rlock_status role = rlock__reply_judge(run->link, reply);
    if (role != RLOCK_DENIED && role != RLOCK_UNAVAILABLE)
        return name_replicas(run, replicas, reply, status);
    run->route->no_role = true; /* by their number then, of all that are alive */
    return ask(run, rlock__route_replicas(run->route, run->link), status);
}
