/* check.c: what options, environment and config files must be to each other. */
#include <stdio.h>
#include <string.h>

#include "options/command.h"
#include "options/opt.h"
#include "options/settings.h"
#include "output/duration.h"
#include "output/out.h"

bool settings_want_command(const struct settings *settings, struct complaint *why) {
    return settings->run.command != NULL ||
           complain(why, EXIT_USAGE,
                    "missing command: give one after the options, as in 'rlock %s -n NAME -- "
                    "COMMAND', or with -c STRING",
                    settings->cmd->name);
}

bool settings_check_take(const struct settings *settings, struct complaint *why) {
    return settings->lock.permits == 0 || settings->lock.take <= settings->lock.permits ||
           complain(why, EXIT_USAGE,
                    "cannot use --take '%d': it is more than all permits: give at most %d",
                    settings->lock.take, settings->lock.permits);
}

static bool check_name(const struct settings *settings, struct complaint *why) {
    if (settings->name_count == 0 && settings->cmd->operand == NULL)
        return complain(why, EXIT_USAGE, "missing --name: give the lock's name with -n NAME");
    if (settings->cmd->one_name && settings->name_count > 1)
        return complain(why, EXIT_USAGE, "several names: 'rlock %s' takes one: give -n once",
                        settings->cmd->name);
    return true;
}

static bool check_command(const struct settings *settings, struct complaint *why) {
    switch (settings->cmd->child) {
    case CHILD_NEEDED: return settings_want_command(settings, why);
    case CHILD_OPTIONAL: break;
    case CHILD_NONE:
        return settings->run.command == NULL ||
               complain(why, EXIT_USAGE, "unexpected operand: 'rlock %s' runs no command",
                        settings->cmd->name);
    }
    return true;
}

/* At most a third of the lease, so that two thirds are left to renew it in. If it comes from a
 * weaker source than the lease it is cut: a config file need not know of every lease. */
static bool check_kill_after(struct settings *settings, struct complaint *why) {
    const struct origin *from = OPT_FROM(settings, run.kill_after_ms);
    int64_t third_ms = settings->lock.lease_ms / 3;
    const bool leaseless = (settings->cmd->options & (CMD_LATCH_WAIT | CMD_LATCH_DOWN)) != 0;
    if (leaseless || settings->run.kill_after_ms <= third_ms)
        return true;
    if (from->source == SOURCE_DEFAULT ||
        from->source < OPT_FROM(settings, lock.lease_ms)->source) {
        settings->run.kill_after_ms = third_ms;
        return true;
    }
    char text[DURATION_TEXT_SIZE];
    const struct given given = {.row = opt_find("kill-after"),
                                .text = duration_format(text, settings->run.kill_after_ms),
                                .from = from,
                                .why = why};
    if (settings->run.kill_after_ms % 1000 != 0) /* rounded, it may be what is allowed */
        snprintf(text, sizeof text, "%lldms", (long long)settings->run.kill_after_ms);
    return opt_refuse(
        &given, "it is more than a third of the lease: give at most %lldms, or a longer lease",
        (long long)third_ms);
}

/* --timeout of flock(1) limits the wait: without a command that is probably meant, and rlock would
 * wait for ever. */
static bool check_timeout(const struct settings *settings, struct complaint *why) {
    return settings->run.command != NULL || settings->run.timeout_ms == 0 ||
           !OPT_IS_GIVEN(settings, run.timeout_ms) ||
           complain(why, EXIT_USAGE,
                    "--timeout without a command: it limits how long a command runs; what limits "
                    "a wait is --wait");
}

/* A certificate needs its key, and a key its certificate. */
static bool check_tls(const struct settings *settings, struct complaint *why) {
    const struct rlock_tls_options *tls = &settings->server.tls;
    const bool has_cert = tls->cert != NULL;
    if (has_cert == (tls->key != NULL))
        return true;
    const struct opt *row = opt_find(has_cert ? "tls-cert" : "tls-key");
    const struct given given = {.row = row,
                                .text = has_cert ? tls->cert : tls->key,
                                .from = opt_from(settings, row->field),
                                .why = why};
    return opt_refuse(&given, "%s is missing: give it with --tls-%s",
                      has_cert ? "its key" : "the key's certificate", has_cert ? "key" : "cert");
}

static bool check_once(const struct settings *settings, struct complaint *why) {
    const bool has_key = settings->lock.once_key != NULL;
    return (settings->lock.once_per_ms == 0 && !has_key) || settings->name_count == 1 ||
           complain(why, EXIT_USAGE,
                    "--once-%s and several names: it works with one: give -n once, and take the "
                    "others with a nested rlock",
                    has_key ? "key" : "per");
}

/* Without an end of the wait no run is ever skipped. What a file says is for the runs that it can
 * be for, and in no other's way. */
static bool check_skips(struct settings *settings, struct complaint *why) {
    const char *wrong = NULL;
    if (settings->server.count > 1)
        wrong = "several servers: skips are counted on one: give -s once";
    else if (settings->lock.any > 0)
        wrong = "--any: skips are counted for one name: give one of the two";
    else if (settings->lock.wait_ms == RLOCK_FOREVER)
        wrong = "no end of the wait: no run is skipped: give it with -x or -w D";
    if (settings->lock.max_skips > 0 && OPT_IS_GIVEN(settings, lock.max_skips))
        return wrong == NULL || complain(why, EXIT_USAGE, "--max-skips and %s", wrong);
    if (wrong != NULL || (settings->cmd->options & (CMD_RUN | CMD_FAIR)) == 0)
        settings->lock.max_skips = 0;
    return true;
}

/* So many that K is one of them; a name that is given twice counts once. */
static bool has_names(const struct settings *settings, int wanted) {
    int distinct = 0;
    for (size_t i = 0; i < settings->name_count && distinct < wanted; i++) {
        size_t k = 0;
        while (k < i && strcmp(settings->names[k], settings->names[i]) != 0)
            k++;
        distinct += k == i;
    }
    return distinct >= wanted;
}

static bool check_any(const struct settings *settings, struct complaint *why) {
    if (settings->lock.any == 0)
        return true;
    if (!has_names(settings, settings->lock.any))
        return complain(why, EXIT_USAGE,
                        "--any %d and fewer names: give each name with -n, and K from 1 to the "
                        "number of names",
                        settings->lock.any);
    if (settings->server.count > 1)
        return complain(why, EXIT_USAGE,
                        "--any and several servers: it works on one: give -s once");
    return !settings->lock.preempt ||
           complain(why, EXIT_USAGE,
                    "--any and --preempt: it would ask more holders to end than is needed: give "
                    "one of the two");
}

/* The request to end comes with a renewal; and a waiter that asks for the lock must be there to
 * take it. */
static bool check_preemption(const struct settings *settings, struct complaint *why) {
    if (settings->lock.preemptible && settings->run.no_renew)
        return complain(why, EXIT_USAGE,
                        "--preemptible and --no-renew: the request to end arrives with a renewal: "
                        "give one of the two");
    return !settings->lock.preempt || settings->lock.wait_ms != 0 ||
           complain(why, EXIT_USAGE,
                    "--preempt and no wait: the holder needs time to end: give it with --wait D");
}

/* Whether several servers can be a quorum is for the library to say. */
static bool check_servers(const struct settings *settings, struct complaint *why) {
    enum {
        WITH_HANDLE = CMD_RENEW | CMD_RELEASE | CMD_CHECK, /* whatever the handle's lock is */
        ON_SEVERAL = CMD_RUN | CMD_READ | CMD_WRITE | CMD_ACQUIRE_RUN | CMD_ACQUIRE_READ |
                     CMD_ACQUIRE_WRITE | WITH_HANDLE | CMD_STATUS | CMD_WAIT | CMD_BREAK |
                     CMD_DOCTOR,
    };
    return settings->server.count < 2 || (settings->cmd->options & ON_SEVERAL) != 0 ||
           complain(why, EXIT_USAGE,
                    "several servers: 'rlock %s' works on one: give one, or use run, read or "
                    "write, which take a lock on a majority of several",
                    settings->cmd->name);
}

bool settings_check_command_line(const struct settings *settings, struct complaint *why) {
    return check_name(settings, why) && check_command(settings, why) &&
           (settings->cmd->check == NULL || settings->cmd->check(settings, why));
}

bool settings_check(struct settings *settings, struct complaint *why) {
    return check_kill_after(settings, why) && check_timeout(settings, why) &&
           check_tls(settings, why) && check_once(settings, why) && check_skips(settings, why) &&
           check_any(settings, why) && check_preemption(settings, why) &&
           check_servers(settings, why);
}
