/* opt.c: the options as rows of data. They feed parsing, help, config files and completions. */
#include "options/opt.h"

#include <assert.h>
#include <string.h>

#include "options/command.h"
#include "rlock.h"

#define ALL_COMMANDS (~0U)
#define FIELD(name)  offsetof(struct settings, name)

/* Sets of commands. */
enum {
    HOLDING = CMD_RUN | CMD_FAIR | CMD_READ | CMD_WRITE | CMD_SEM, /* a lease, while CMD runs */
    RUNNING = HOLDING | CMD_LATCH_WAIT | CMD_LATCH_DOWN,           /* a command */
    ACQUIRING =
        CMD_ACQUIRE_RUN | CMD_ACQUIRE_FAIR | CMD_ACQUIRE_READ | CMD_ACQUIRE_WRITE | CMD_ACQUIRE_SEM,
    TAKING = HOLDING | ACQUIRING,
    WAITING = TAKING | CMD_LATCH_WAIT | CMD_WAIT,
    NAMED = RUNNING | ACQUIRING | CMD_LATCH_SET, /* by -n */
    ALL_LOCKS = NAMED | CMD_RENEW | CMD_RELEASE | CMD_CHECK,
    ALL_SERVED =
        ALL_LOCKS | CMD_STATUS | CMD_WAIT | CMD_BREAK | CMD_DOCTOR, /* all that speak to a server */
};

/* To add an option: a row here, a field in settings.h, and a setter if none of
 * opt_value.c fits. The drift tests then ask for the man page and the completions.
 * A row has what help shows, the commands that have it, and what it sets. */
/* clang-format off */
static const struct opt rows[] = {
    {"name", 'n', "NAME", NULL,
     "the lock's name; run, fair, read and write take several: all of them, or none",
     .commands = NAMED, .is_text = true, .set = set_name, .field = FIELD(names)},
    {"name", 'n', "NAME", NULL, "the same as NAME, as other commands take it",
     .commands = CMD_STATUS | CMD_WAIT | CMD_BREAK | CMD_DOCTOR, .is_text = true, .set = set_name,
     .field = FIELD(names)},
    {"server", 's', "URL", NULL,
     "where the lock lives: redis://, rediss:// (TLS), unix://, sentinel://, cluster://, or local: "
     "for a private server on this machine; run, read, write and status take several: a quorum",
     .commands = ALL_SERVED, .in_file = true, .secret = true, .is_text = true, .set = set_server,
     .field = FIELD(server.urls), .variable = "RLOCK_SERVER"},
    {"any", 0, "K", NULL,
     "take any K of the names, those that are free, in the order in which they are given",
     .commands = CMD_RUN | CMD_WRITE | CMD_ACQUIRE_RUN | CMD_ACQUIRE_WRITE, .set = set_number,
     .field = FIELD(lock.any), .min = 1, .max = RLOCK_NAMES_MAX},
    {"supersede", 0, NULL, NULL,
     "newest first: earlier waiters that have this option give up",
     .commands = CMD_FAIR | CMD_ACQUIRE_FAIR, .set = set_flag, .field = FIELD(lock.supersede)},
    {"priority", 0, "N", "0",
     "wait before all that wait with a lower priority, behind those with the same; -1000 to 1000. "
     "Never ends a running command",
     .commands = CMD_FAIR | CMD_ACQUIRE_FAIR, .set = set_number, .field = FIELD(lock.priority),
     .min = -RLOCK_PRIORITY_MAX, .max = RLOCK_PRIORITY_MAX},
    {"permits", 0, "N", NULL,
     "how many permits there are in all; all users of the name agree on it",
     .commands = CMD_SEM | CMD_ACQUIRE_SEM, .set = set_number, .field = FIELD(lock.permits), .min = 1,
     .max = RLOCK_PERMITS_MAX},
    {"take", 0, "K", "1", "how many permits to take: all K, or none",
     .commands = CMD_SEM | CMD_ACQUIRE_SEM, .set = set_number, .field = FIELD(lock.take), .min = 1,
     .max = RLOCK_TAKE_MAX},
    {"plain", 0, NULL, NULL,
     "use permits without a lease: those of a killed holder do not come back",
     .commands = CMD_SEM, .set = set_flag, .field = FIELD(lock.plain)},
    {"resize", 0, "N", NULL, "change the number of permits to N, and run nothing",
     .commands = CMD_SEM, .set = set_number, .field = FIELD(counter.resize), .min = 1,
     .max = RLOCK_PERMITS_MAX},
    {"count", 0, "N", NULL, "how many count-downs open the latch",
     .commands = CMD_LATCH_SET, .set = set_number, .field = FIELD(counter.count), .min = 1,
     .max = RLOCK_PERMITS_MAX},
    {"by", 0, "K", "1", "how much to count down by",
     .commands = CMD_LATCH_DOWN, .set = set_number, .field = FIELD(counter.by), .min = 1,
     .max = RLOCK_PERMITS_MAX},
    {"always", 0, NULL, NULL, "count down whatever the command's exit status is",
     .commands = CMD_LATCH_DOWN, .set = set_flag, .field = FIELD(run.always)},
    {"must-exist", 0, NULL, NULL, "if there is no latch, wait until it has been set, too",
     .commands = CMD_LATCH_WAIT, .set = set_flag, .field = FIELD(lock.must_exist)},
    {"force", 0, NULL, NULL, "do not ask for confirmation; required without a terminal",
     .commands = CMD_BREAK, .set = set_flag, .field = FIELD(look.force)},
    {"owner", 0, "OWNER", NULL, "break only what OWNER holds",
     .commands = CMD_BREAK, .is_text = true, .set = set_text, .field = FIELD(look.owner)},
    {"kind", 0, "run|fair|read|write|sem|latch", NULL,
     "check only the rights for that kind of lock",
     .commands = CMD_DOCTOR, .set = set_choice_text, .field = FIELD(look.kind)},
    {"json", 0, NULL, NULL, "print JSON",
     .commands = CMD_STATUS | CMD_DOCTOR, .set = set_flag, .field = FIELD(look.json)},
    {"sort", 0, "newest|name", "newest", "the order of all locks, and of those that fit a PATTERN",
     .commands = CMD_STATUS, .set = set_choice, .field = FIELD(look.sort)},
    {"watch", 0, "D", NULL, "show it again every D, until interrupted (default: 2s)", .bare = "2s",
     .commands = CMD_STATUS, .set = set_duration, .field = FIELD(look.watch_ms), .min = 100,
     .max = RLOCK_LEASE_MAX_MS},
    {"wait", 'w', "D", "forever", "wait at most D for the lock; 0: do not wait",
     .commands = WAITING, .in_file = true, .set = set_wait, .field = FIELD(lock.wait_ms)},
    {"wait", 'w', "D", "10s",
     "wait at most D for the holder to say that its command has stopped; 0: do not wait",
     .commands = CMD_BREAK, .set = set_duration, .field = FIELD(look.stop_wait_ms)},
    {"no-wait", 'x', NULL, NULL, "the same as --wait 0",
     .commands = WAITING, .in_file = true, .set = set_no_wait, .field = FIELD(lock.wait_ms)},
    {"lease", 'l', "D", "30s",
     "how long the server keeps the lock without a renewal, 100ms to 7d; renewed every third of it",
     .commands = HOLDING, .in_file = true, .set = set_duration, .field = FIELD(lock.lease_ms),
     .min = RLOCK_LEASE_MIN_MS, .max = RLOCK_LEASE_MAX_MS},
    {"lease", 'l', "D", "30s",
     "how long the server keeps the lock, 100ms to 7d; not renewed without --while",
     .commands = ACQUIRING, .in_file = true, .set = set_duration, .field = FIELD(lock.lease_ms),
     .min = RLOCK_LEASE_MIN_MS, .max = RLOCK_LEASE_MAX_MS},
    {"lease", 'l', "D", NULL,
     "the new lease, 100ms to 7d (default: the one in the handle)",
     .commands = CMD_RENEW, .set = set_duration, .field = FIELD(lock.lease_ms),
     .min = RLOCK_LEASE_MIN_MS, .max = RLOCK_LEASE_MAX_MS},
    {"export", 0, NULL, NULL, "print RLOCK_HANDLE=... and RLOCK_TOKEN=..., a line each",
     .commands = ACQUIRING, .set = set_flag, .field = FIELD(handle.exported)},
    {"while", 0, "PID", NULL,
     "renew the lock in the background until process PID ends, then give it back",
     .commands = ACQUIRING, .set = set_number, .field = FIELD(handle.while_pid), .min = 1,
     .max = INT32_MAX},
    {"min-ttl", 0, "D", NULL, "exit with status 1 also if less than D is left of the lease",
     .commands = CMD_CHECK, .set = set_duration, .field = FIELD(handle.min_ttl_ms)},
    {"no-renew", 0, NULL, NULL, "do not renew: the command has at most one lease to finish",
     .commands = HOLDING, .in_file = true, .set = set_flag, .field = FIELD(run.no_renew)},
    {"timeout", 0, "D", "0",
     "end the command, with status 124, when it has run for D, the wait not counted; 0: no limit",
     .commands = RUNNING, .in_file = true, .set = set_duration, .field = FIELD(run.timeout_ms)},
    {"kill-after", 0, "D", "5s",
     "SIGKILL this long after SIGTERM, when the lease is being lost or the time is over; at most a "
     "third of the lease",
     .commands = HOLDING, .in_file = true, .set = set_duration, .field = FIELD(run.kill_after_ms)},
    {"kill-after", 0, "D", "5s", "SIGKILL this long after SIGTERM when the time is over",
     .commands = RUNNING & ~HOLDING, .in_file = true, .set = set_duration,
     .field = FIELD(run.kill_after_ms)},
    {"on-lost", 0, "stop|warn", "stop", "what happens to the command when the lease is lost",
     .commands = HOLDING, .in_file = true, .set = set_choice, .field = FIELD(run.on_lost)},
    {"min-hold", 0, "D", "0", "keep the lock for at least D, even when the command ends sooner",
     .commands = HOLDING, .in_file = true, .set = set_duration, .field = FIELD(lock.min_hold_ms)},
    {"once-per", 0, "D", NULL,
     "run nothing, and exit with status 0 or that of -E, if a run with this option has succeeded "
     "within D",
     .commands = CMD_RUN | CMD_FAIR, .set = set_duration, .field = FIELD(lock.once_per_ms), .min = 1},
    {"once-key", 0, "KEY", NULL,
     "run nothing, and exit with status 0 or that of -E, if the last run that has succeeded with a "
     "key had this one",
     .commands = CMD_RUN | CMD_FAIR, .is_text = true, .set = set_text, .field = FIELD(lock.once_key),
     .max = 1024},
    {"max-skips", 0, "N", NULL,
     "with -x or -w: the Nth time in a row that the lock is not acquired in time is an error, "
     "whatever -q and -E say",
     .commands = CMD_RUN | CMD_FAIR, .in_file = true, .set = set_number, .field = FIELD(lock.max_skips),
     .min = 1, .max = 1000000},
    {"note", 0, "TEXT", NULL,
     "what waiters, status and the log show beside the command (default: the URL of the CI job, "
     "where one is in the environment); '': nothing",
     .commands = TAKING, .in_file = true, .is_text = true, .set = set_note, .field = FIELD(lock.note)},
    {"preempt", 0, NULL, NULL,
     "ask the holder to end, if it has --preemptible, and wait until it has",
     .commands = CMD_RUN | CMD_FAIR, .set = set_flag, .field = FIELD(lock.preempt)},
    {"preemptible", 0, NULL, NULL,
     "when a waiter asks for the lock with --preempt, stop the command, and exit with status 79",
     .commands = CMD_RUN | CMD_FAIR, .set = set_flag, .field = FIELD(lock.preemptible)},
    {"conflict-exit-code", 'E', "N", "75", "exit status when the lock was not acquired in time",
     .commands = WAITING, .in_file = true, .not_from_file = WAITING & ~HOLDING, .set = set_number,
     .field = FIELD(lock.conflict_exit_code), .max = 255},
    {"command", 'c', "STRING", NULL, "run STRING with /bin/sh -c instead of COMMAND",
     .commands = RUNNING, .is_text = true, .set = set_shell, .field = FIELD(run.command)},
    {"connect-timeout", 0, "D", "5s", "how long to try to reach the server", .heading = "Server",
     .commands = ALL_SERVED, .in_file = true, .set = set_duration,
     .field = FIELD(server.connect_timeout_ms), .min = 1},
    {"io-timeout", 0, "D", "5s", "how long to wait for a reply",
     .commands = ALL_SERVED, .in_file = true, .set = set_duration, .field = FIELD(server.io_timeout_ms),
     .min = 1},
    {"replicas", 0, "N", NULL,
     "how many replicas must acknowledge a hold and each renewal (default: 0; under "
     "sentinel:// all that could become the master, under cluster:// 1 where one is known)",
     .commands = TAKING | CMD_RENEW | CMD_DOCTOR | CMD_LATCH_SET | CMD_LATCH_DOWN, .in_file = true,
     .set = set_number, .field = FIELD(server.replicas), .max = RLOCK_REPLICAS_MAX},
    {"replica-timeout", 0, "D", "1s", "how long to wait for the replicas",
     .commands = TAKING | CMD_RENEW | CMD_DOCTOR | CMD_LATCH_SET | CMD_LATCH_DOWN, .in_file = true,
     .set = set_duration, .field = FIELD(server.replica_timeout_ms), .min = 1},
    {"fsync", 0, NULL, NULL,
     "a hold, and each renewal, counts once the server, and the replicas that acknowledge it, have "
     "it on disk; needs Redis 7.2 or later, with appendonly yes",
     .commands = TAKING | CMD_RENEW | CMD_LATCH_SET | CMD_LATCH_DOWN, .in_file = true,
     .set = set_flag, .field = FIELD(server.fsync)},
    {"password-file", 0, "F", NULL, "the password, for a URL without one, is the first line of F",
     .commands = ALL_SERVED, .in_file = true, .set = set_path, .field = FIELD(server.password_file),
     .variable = "RLOCK_PASSWORD_FILE"},
    {"tls-ca", 0, "F", NULL,
     "TLS: the certificate authorities to trust (default: the system's)",
     .commands = ALL_SERVED, .in_file = true, .is_text = true, .set = set_path,
     .field = FIELD(server.tls.ca)},
    {"tls-cert", 0, "F", NULL, "TLS: a client certificate, for a server that asks for one",
     .commands = ALL_SERVED, .in_file = true, .is_text = true, .set = set_path,
     .field = FIELD(server.tls.cert)},
    {"tls-key", 0, "F", NULL, "TLS: the key of that certificate",
     .commands = ALL_SERVED, .in_file = true, .is_text = true, .set = set_path,
     .field = FIELD(server.tls.key)},
    {"tls-name", 0, "HOST", NULL,
     "TLS: the name that the server's certificate must be for (default: the URL's host)",
     .commands = ALL_SERVED, .in_file = true, .is_text = true, .set = set_text,
     .field = FIELD(server.tls.name)},
    {"tls-insecure", 0, NULL, NULL, "TLS: do not verify the server's certificate",
     .commands = ALL_SERVED, .in_file = true, .set = set_flag, .field = FIELD(server.tls.insecure)},
    {"quiet", 'q', NULL, NULL, "print errors only", .heading = "Messages",
     .commands = ALL_SERVED, .in_file = true, .set = set_loudness, .field = FIELD(quiet)},
    {"verbose", 'v', NULL, NULL, "print more",
     .commands = ALL_SERVED, .in_file = true, .set = set_loudness, .field = FIELD(verbose)},
    {"log", 0, "text|json", "text", "json: print JSON to standard error, one object a line",
     .commands = ALL_SERVED, .in_file = true, .set = set_choice, .field = FIELD(log)},
    {"list-names", 0, NULL, NULL, "list names of locks for programs",
     .commands = CMD_STATUS, .hidden = true, .set = set_flag, .field = FIELD(look.list_names)},
    {"help", 'h', NULL, NULL, "show this help",
     .commands = ALL_COMMANDS, .asks = SETTINGS_HELP},
    {"list-options", 0, NULL, NULL, "list the options for programs",
     .commands = ALL_COMMANDS, .hidden = true, .asks = SETTINGS_LIST},
};
/* clang-format on */

const struct opt opt_operand_name = {.name = "NAME", .set = set_name, .field = FIELD(names)};
const struct opt opt_operand_handle = {
    .name = "HANDLE",
    .secret = true, /* anyone who reads it can give the lock back */
    .set = set_handle,
    .field = FIELD(handle.given),
};

#define ROW_COUNT (sizeof rows / sizeof *rows)
static_assert(ROW_COUNT < SETTINGS_MAX, "SETTINGS_MAX is too small");

const struct opt *opt_next(unsigned commands, const struct opt *row) {
    for (row = row != NULL ? row + 1 : rows; row < rows + ROW_COUNT; row++) {
        if ((row->commands & commands) != 0)
            return row;
    }
    return NULL;
}

const struct opt *opt_find(const char *name) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

size_t opt_place(size_t field) {
    size_t i = 0;
    while (i < ROW_COUNT && (rows[i].set == NULL || rows[i].field != field))
        i++;
    return i;
}
