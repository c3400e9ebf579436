/* script_replicas.c: waits until enough replicas have what a script wrote, and with fsync until it
 * is on disk. */
#include "redis/script.h"

#include <inttypes.h>
#include <stdio.h>

#include "os/clock.h"
#include "redis/link.h"

static const char not_on_disk[] =
    "it was not on disk in time (see --fsync; appendfsync must be everysec or always)";

static void end_unconfirmed(struct rlock__run *run, enum rlock_status status) {
    rlock__link_distrust(run->link);
    rlock__run_end(run, status);
}

/* WAIT counts the replicas that have all that this connection wrote, WAITAOF those that have it on
 * disk, behind a count of 1 for the server itself; ROLE after it lists them. */
static bool add_wait(const struct rlock__run *run, int64_t replicas, int64_t left_ms) {
    struct rlock__link *link = run->link;
    const size_t first = link->expected + 1;
    char count[24], timeout[24];
    const char *wait[] = {"WAIT", count, timeout}, *waitaof[] = {"WAITAOF", "1", count, timeout};
    const char *role[] = {"ROLE"};
    const bool fsync = run->route->site->fsync;
    (void)snprintf(count, sizeof count, "%" PRId64, replicas);
    (void)snprintf(timeout, sizeof timeout, "%" PRId64,
                   left_ms > 0 ? left_ms : 1); /* 0: for ever */
    const bool asked =
        rlock__link_ask_words(link, fsync ? 4 : 3, fsync ? waitaof : wait) &&
        (rlock__route_named(run->route) == NULL || rlock__link_ask_words(link, 1, role));
    link->waited = asked ? first : 0;
    return asked;
}

/* The runs of one request ask once, for all that they wrote. */
static void ask(struct rlock__run *run, int64_t replicas) {
    const int64_t now = rlock_now_ms();
    struct rlock__link *link = run->link;
    if (run->replicas_by_ms == 0)
        run->replicas_by_ms = rlock__after_ms(now, run->route->site->replica_timeout_ms);
    run->stage = RLOCK__RUN_REPLICAS;
    if (link->waited == 0 && !add_wait(run, replicas, run->replicas_by_ms - now)) {
        end_unconfirmed(run, RLOCK_SYSTEM);
        return;
    }
    run->first = link->waited;
    run->last = run->first + (rlock__route_named(run->route) != NULL);
}

void rlock__run_ask_replicas(struct rlock__run *run) {
    const int replicas = rlock__route_replicas(run->route, run->link);
    const bool named = rlock__route_named(run->route) != NULL;
    if (replicas > 0 || named || run->route->site->fsync)
        ask(run, replicas);
    else
        rlock__run_end(run, RLOCK_OK);
}

/* A number of replicas, whichever they are. */
static void count_replicas(struct rlock__run *run, int64_t replicas) {
    const int wanted = rlock__route_replicas(run->route, run->link);
    if (replicas >= wanted) {
        rlock__run_end(run, RLOCK_OK);
        return;
    }
    rlock__error_set(&run->route->error,
                     "%" PRId64 " of %d replicas acknowledged it in time (see --replicas)",
                     replicas, wanted);
    end_unconfirmed(run, RLOCK_AGAIN);
}

/* Those that could become the master. WAIT ends with the number that it was asked for, and the one
 * that matters may have been slower than one that does not: then for one more. */
static void name_replicas(struct rlock__run *run, int64_t replicas, const rlock__reply *role) {
    const struct rlock__replica *which;
    const enum rlock__having having =
        rlock__replicas_have(&run->route->replicas, role, replicas, &which);
    if (having == RLOCK__ALL_HAVE_IT) {
        rlock__run_end(run, RLOCK_OK);
        return;
    }
    if (having == RLOCK__SOME_WILL && rlock_now_ms() < run->replicas_by_ms) {
        ask(run, replicas + 1);
        return;
    }
    if (which != NULL)
        rlock__error_set(&run->route->error,
                         "the replica %s:%s, which could become the master, did not acknowledge it "
                         "in time (see --replicas)",
                         which->host, which->port);
    else
        rlock__error_set(&run->route->error,
                         "not all replicas acknowledged it in time (see --replicas)");
    end_unconfirmed(run, RLOCK_AGAIN);
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

/* How many have it, and which these are: the answers to WAIT and to ROLE. */
static void hear_role(struct rlock__run *run, int64_t replicas, const rlock__reply *role) {
    const enum rlock_status status = rlock__reply_judge(run->link, role);
    if (status != RLOCK_DENIED && status != RLOCK_UNAVAILABLE) {
        name_replicas(run, replicas, role);
        return;
    }
    run->route->no_role = true; /* by their number then, of all that are alive */
    ask(run, rlock__route_replicas(run->route, run->link));
}

void rlock__run_hear_replicas(struct rlock__run *run, const rlock__reply *reply) {
    const rlock__reply *counted = run->before != NULL ? run->before : reply;
    const enum rlock_status status = rlock__reply_judge(run->link, counted);
    int64_t replicas;
    if (status == RLOCK_DENIED)
        advise(&run->route->error, run->route->site->fsync);
    if (status == RLOCK_UNAVAILABLE && rlock__route_without_wait(run->route, run->link))
        rlock__run_end(run, RLOCK_OK);
    else if (status != RLOCK_OK)
        end_unconfirmed(run, status);
    else if (!read_count(run, counted, &replicas))
        end_unconfirmed(run, RLOCK_AGAIN);
    else if (counted == reply)
        count_replicas(run, replicas);
    else
        hear_role(run, replicas, reply);
}
