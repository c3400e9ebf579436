/* acquire.c: from settings to a lock that is held. */
#include "hold/acquired.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/command.h"
#include "output/describe.h"
#include "output/out.h"
#include "output/printable.h"
#include "process/proc.h"
#include "rlock_admin.h"

enum { COMMAND_SIZE = 256, LOOK_MS = 1000, GLANCE_MS = 200, AFTER_LOSS_MS = 1000 };

const struct kind kind_run = {.name = "run", .detail = DETAIL_NONE};
const struct kind kind_fair = {.name = "fair", .detail = DETAIL_PLACE};
const struct kind kind_read = {.name = "read", .detail = DETAIL_KIND};
const struct kind kind_write = {.name = "write", .detail = DETAIL_KIND};
const struct kind kind_sem = {.name = "sem", .detail = DETAIL_KIND};
const struct kind kind_latch = {.name = "latch", .detail = DETAIL_COUNT, .passed = true};
const struct kind kind_latch_down = {.name = "latch", .counted = true};

enum rlock_status acquire_give_back(const struct acquired *acquired, int64_t keep_ms,
                                    bool was_lost) {
    const int64_t now = rlock_now_ms();
    const int64_t deadline_ms =
        was_lost ? now + AFTER_LOSS_MS
                 : deadline_sooner(rlock_lease_end_ms(acquired->lock),
                                   now + acquired->settings->server.io_timeout_ms);
    server_revive(&acquired->server, deadline_ms - now);
    if (was_lost && acquired->settings->run.command != NULL)
        rlock_say_stopped(acquired->lock, deadline_ms);
    return rlock_release(acquired->lock, keep_ms, deadline_ms);
}

void acquire_free(struct acquired *acquired) {
    rlock_lock_free(acquired->lock);
    server_close(&acquired->server);
    environment_free(&acquired->enclosing);
    free(acquired->holds);
    free(acquired->asked);
    *acquired = (struct acquired){.lock = NULL};
}

const char *acquire_name(const struct acquired *acquired) {
    return acquired->hold_count > 0 ? acquired->holds[0]->name : acquired->settings->names[0];
}

/* Yours to free; NULL: no memory. */
static char *join(const char *const *words) {
    size_t size = 1;
    for (size_t i = 0; words[i] != NULL; i++)
        size += strlen(words[i]) + 1;
    char *text = calloc(1, size), *to = text;
    for (size_t i = 0; text != NULL && words[i] != NULL; i++)
        to = stpcpy(stpcpy(to, i == 0 ? "" : " "), words[i]);
    return text;
}

/* The command's words, as waiters see them; without a command our own, but nothing for a latch,
 * which is not held. Without passwords, for all users of the server can read them. Hide passwords
 * before the text is cut: half a password is not recognized. False: no memory. */
static bool describe_command(char text[COMMAND_SIZE], const struct settings *settings) {
    char pid[16];
    const bool in_background = settings->handle.while_pid > 0;
    const char *const none[] = {NULL}, *const *command = (const char *const *)settings->run.command;
    const char *const ours[] = {"rlock", settings->cmd->name, in_background ? "--while" : NULL, pid,
                                NULL};
    (void)snprintf(pid, sizeof pid, "%d", settings->handle.while_pid);
    if (settings->run.command == settings->run.shell)
        command += 2; /* the STRING of -c */
    char *whole = join(command != NULL ? command : settings->cmd->kind->passed ? none : ours);
    if (whole == NULL)
        return false;
    const size_t size = strlen(whole);
    secret_hide(whole);
    (void)snprintf(text, COMMAND_SIZE, "%s", whole);
    explicit_bzero(whole, size);
    free(whole);
    return true;
}

/* Before anything is sent: the names may be too many for a command's environment. */
static int read_enclosing(struct acquired *out, const struct settings *settings) {
    if (!environment_read(&out->enclosing))
        return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot read the enclosing holds: out of memory");
    const bool for_handle = settings->cmd->child == CHILD_NONE;
    if (!environment_has_room(&out->enclosing, settings->names, settings->name_count, for_handle))
        return out_fail(EXIT_USAGE, NULL, NULL,
                        "too many names: %s has 128 KiB for names, owners and tokens: give fewer "
                        "or shorter names",
                        for_handle ? "a handle" : "a command's environment");
    return 0;
}

/* The variant of the kind; NULL: none. Each of these options belongs to commands of one kind. */
static const char *kind_variant(const struct lock_settings *settings) {
    return settings->supersede ? "supersede" : settings->must_exist ? "must-exist" : NULL;
}

static int make_lock(struct acquired *out, const struct settings *settings) {
    char user[DESCRIBE_USER_SIZE], command[COMMAND_SIZE];
    if (!describe_command(command, settings))
        return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot describe the command: out of memory");
    describe_user(user);
    (void)snprintf(out->note, sizeof out->note, "%s",
                   settings->lock.note != NULL ? settings->lock.note : "");
    secret_hide(out->note);
    const struct rlock_lock_options options = {
        .size = sizeof options,
        .kind = settings->lock.plain ? "plain" : out->kind->name,
        .variant = kind_variant(&settings->lock),
        .permits = settings->lock.take,
        .permits_total = settings->lock.permits,
        .names = settings->names,
        .name_count = settings->name_count,
        .lease_ms = settings->lock.lease_ms,
        .user = user,
        .command = command,
        .note = out->note,
        .proofs = out->enclosing.proofs,
        .proof_count = environment_prove(&out->enclosing, server_shown(&out->server)),
        .once_per_ms = settings->lock.once_per_ms,
        .once_key = settings->lock.once_key,
        .any = settings->lock.any,
        .preempt = settings->lock.preempt,
        .preemptible = settings->lock.preemptible,
        .no_command = settings->cmd->child == CHILD_NONE,
        .priority = settings->lock.priority,
    };
    out->holds = calloc(settings->name_count, sizeof(*out->holds));
    if (out->holds == NULL) {
        return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot make the lock: out of memory");
    }
    enum rlock_status status = rlock_lock_new(&out->lock, out->server.client, &options);
    if (status == RLOCK_OK)
        return 0;
    return out_fail(status == RLOCK_INVALID ? EXIT_USAGE : EXIT_SYSTEM, settings->names[0],
                    rlock_client_server(out->server.client), "cannot make the lock: %s",
                    rlock_error(out->server.client));
}

/* Says once for each holder whether it was asked to end. */
static void tell_preemption(struct acquired *acquired) {
    const struct rlock_holder *holder = rlock_blocker(acquired->lock);
    if (holder == NULL || holder->preemption == RLOCK_PREEMPT_NOT_ASKED ||
        (acquired->asked != NULL && strcmp(acquired->asked, holder->owner) == 0))
        return;
    free(acquired->asked);
    acquired->asked = strdup(holder->owner);
    event_preempting(acquired, holder);
}

int acquire_signals(struct signals *signals) {
    if (signals_begin(signals))
        return 0;
    return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot take signals: %s", strerror(errno));
}

int acquire_prepare(struct acquired *out, const struct settings *settings) {
    *out = (struct acquired){.settings = settings, .kind = settings->cmd->kind, .ran_ms = -1};
    int status = out->kind->counted ? 0 : read_enclosing(out, settings);
    if (status == 0)
        status = server_open(&out->server, settings);
    return status != 0 || out->kind->counted ? status : make_lock(out, settings);
}

static int64_t wait_deadline_ms(const struct lock_settings *settings) {
    if (settings->wait_ms == 0 || settings->wait_ms == RLOCK_FOREVER)
        return settings->wait_ms;
    return rlock_now_ms() + settings->wait_ms;
}

/* The signal that has interrupted the wait; 0: none, or one that the caller has set to be ignored.
 */
static int interrupted(const struct signals *signals, enum rlock_status result) {
    return result == RLOCK_CANCELLED ? signals_read(signals) : 0;
}

/* When to return from waiting: to start a local: server again, which may be left to us; to say that
 * another holder was asked to end; and to say that the server is back. */
static int64_t back_at_ms(const struct acquired *acquired) {
    int64_t soon = acquired->speak_ms;
    if (acquired->for_server)
        soon = rlock_now_ms() + GLANCE_MS;
    else if (server_is_local(&acquired->server) || acquired->settings->lock.preempt)
        soon = rlock_now_ms() + LOOK_MS;
    return deadline_sooner(soon, acquired->speak_ms);
}

/* The lock itself forgets its holds when it is released. */
static void note_holds(struct acquired *acquired) {
    const struct rlock_hold *hold;
    acquired->at_ms = rlock_now_ms();
    while ((hold = rlock_hold_at(acquired->lock, acquired->hold_count)) != NULL)
        acquired->holds[acquired->hold_count++] = hold;
}

int acquire_lock(struct acquired *acquired, const struct signals *signals, struct spawn *spawn) {
    const struct settings *settings = acquired->settings;
    struct rlock_wait wait = {
        .size = sizeof wait,
        .deadline_ms = wait_deadline_ms(&settings->lock),
        .cancel_fd = signals->fd,
        .until_ms = settings->lock.wait_ms == 0 ? RLOCK_FOREVER : 0, /* after one try */
    };
    enum rlock_status result;
    int signal;
    if (acquired->kind->counted) {
        const int failure = counter_check_down(&acquired->server, settings, signals);
        return failure == 0 ? ACQUIRED : failure;
    }
    acquired->asked_ms = rlock_now_ms();
    if (spawn != NULL)
        (void)spawn_fork_guardian(spawn); /* tried again later, which says why not */
    for (;;) {
        result = rlock_acquire(acquired->lock, &wait);
        signal = interrupted(signals, result);
        if (result == RLOCK_AGAIN && rlock_blocker(acquired->lock) == NULL)
            server_revive(&acquired->server, 0);
        if (result == RLOCK_AGAIN) {
            if (spawn != NULL)
                spawn_end_guardian(spawn);
            progress_show(acquired);
            not_acquired_warn_of_ancestor(acquired);
            tell_preemption(acquired);
            wait.until_ms = back_at_ms(acquired);
        } else if (result != RLOCK_CANCELLED || signal != 0)
            break;
    }
    out_live_end();
    if (result != RLOCK_OK)
        return signal != 0 ? not_acquired_interrupted(acquired, signal)
                           : not_acquired(acquired, result);
    server_warn(&acquired->server);
    note_holds(acquired);
    return ACQUIRED;
}
