/* take.c: from settings to a lock that is held. */
#include "take.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "duration.h"
#include "out.h"
#include "waitline.h"

enum { COMMAND_SIZE = 256, USER_SIZE = 64, WHY_SIZE = 512 };

void take_free(struct taken *taken) {
    rlock_lock_free(taken->lock);
    server_close(&taken->server);
    holds_free(&taken->around);
    free(taken->holds);
    *taken = (struct taken){.lock = NULL};
}

/* The user's name in the machine's own list. Not by getpwuid(3): that loads the name service, and
 * may ask the network. */
static bool find_user(char text[USER_SIZE]) {
    FILE *stream = fopen("/etc/passwd", "re");
    const struct passwd *entry = NULL;
    while (stream != NULL && (entry = fgetpwent(stream)) != NULL && entry->pw_uid != geteuid())
        continue;
    if (entry != NULL)
        (void)snprintf(text, USER_SIZE, "%s", entry->pw_name);
    if (stream != NULL)
        fclose(stream);
    return entry != NULL;
}

/* Who we are, for those who wait. */
static void describe_user(char text[USER_SIZE]) {
    const char *user = getenv("LOGNAME");
    if (user == NULL || *user == '\0')
        user = getenv("USER");
    if (user != NULL && *user != '\0')
        (void)snprintf(text, USER_SIZE, "%s", user);
    else if (!find_user(text))
        (void)snprintf(text, USER_SIZE, "%ld", (long)geteuid());
}

static void describe_command(char text[COMMAND_SIZE], const struct settings *settings,
                             const struct wrap_kind *kind) {
    size_t length = 0;
    if (settings->shell_command != NULL) {
        (void)snprintf(text, COMMAND_SIZE, "%s", settings->shell_command);
        return;
    }
    (void)snprintf(text, COMMAND_SIZE, "%s", kind->command != NULL ? kind->command : "");
    for (size_t i = 0;
         settings->command != NULL && settings->command[i] != NULL && length < COMMAND_SIZE; i++) {
        int n = snprintf(text + length, COMMAND_SIZE - length, i == 0 ? "%s" : " %s",
                         settings->command[i]);
        length += n > 0 ? (size_t)n : 0;
    }
}

static int make_lock(struct taken *out, const struct settings *settings) {
    char user[USER_SIZE], command[COMMAND_SIZE];
    if (!holds_read(&out->around)) {
        out_error("cannot read the enclosing holds: out of memory");
        return EXIT_SYSTEM;
    }
    describe_user(user);
    describe_command(command, settings, out->kind);
    const struct rlock_lock_options options = {
        .kind = out->kind->library,
        .variant = out->kind->variant,
        .permits = settings->take,
        .permits_total = settings->permits,
        .names = settings->names,
        .name_count = settings->name_count,
        .lease_ms = settings->lease_ms,
        .user = user,
        .command = command,
        .proofs = out->around.proofs,
        .proof_count = out->around.count,
    };
    out->holds = calloc(settings->name_count, sizeof(*out->holds));
    if (out->holds == NULL) {
        out_error("cannot make the lock: out of memory");
        return EXIT_SYSTEM;
    }
    enum rlock_status status = rlock_lock_new(&out->lock, out->server.client, &options);
    if (status == RLOCK_OK)
        return 0;
    out_error("cannot make the lock: %s", rlock_error(out->server.client));
    return status == RLOCK_INVALID ? EXIT_USAGE : EXIT_SYSTEM;
}

static const char *verb_of(const struct taken *taken) {
    return taken->kind->passed ? "pass" : "take";
}

enum { ATTEMPT_FIELDS = 4 };

/* What every event of an attempt begins with. */
static void describe_attempt(struct out_field fields[ATTEMPT_FIELDS], const struct taken *taken,
                             const char *name) {
    fields[0] = OUT_TEXT("name", name);
    fields[1] = OUT_TEXT("kind", taken->kind->name);
    fields[2] = OUT_TEXT("server", rlock_client_server(taken->server.client));
    fields[3] = OUT_NUMBER("waited_ms", rlock_now_ms() - taken->asked_ms);
}

static int say_busy(const struct taken *taken, const struct settings *settings) {
    char why[WHY_SIZE];
    struct out_field fields[ATTEMPT_FIELDS + 1];
    const struct rlock_holder *holder = rlock_blocker(taken->lock);
    if (holder != NULL) {
        waitline_why(why, sizeof why, taken->kind, holder);
        describe_attempt(fields, taken, holder->name);
        fields[ATTEMPT_FIELDS] = OUT_TEXT("holder", *holder->owner != '\0' ? holder->owner : NULL);
        out_event(OUT_WARNING, "busy", fields, ATTEMPT_FIELDS + 1, "cannot %s %s: %s",
                  verb_of(taken), holder->name, why);
    }
    return settings->conflict_exit_code;
}

static int say_ousted(const struct taken *taken, const struct settings *settings) {
    const char *name = rlock_stuck_at(taken->lock);
    struct out_field fields[ATTEMPT_FIELDS];
    describe_attempt(fields, taken, name);
    out_event(OUT_WARNING, "superseded", fields, ATTEMPT_FIELDS, "cannot take %s: %s", name,
              rlock_error(taken->server.client));
    return settings->conflict_exit_code;
}

static int say_interrupted(const struct taken *taken, int signal) {
    const char *name = rlock_stuck_at(taken->lock);
    struct out_field fields[ATTEMPT_FIELDS + 1];
    describe_attempt(fields, taken, name);
    fields[ATTEMPT_FIELDS] = OUT_NUMBER("signal", signal);
    out_event(OUT_DEBUG, "interrupted", fields, ATTEMPT_FIELDS + 1,
              "stopped waiting for %s: signal %d", name, signal);
    return EXIT_BY_SIGNAL + signal;
}

/* What may be left behind by an attempt without an answer. */
static void describe_doubt(char text[WHY_SIZE], const struct taken *taken,
                           const struct settings *settings) {
    char left[DURATION_TEXT_SIZE];
    text[0] = '\0';
    if (!rlock_in_doubt(taken->lock))
        return;
    if (rlock_renewal_due_ms(taken->lock) == RLOCK_FOREVER)
        (void)snprintf(text, WHY_SIZE, "; plain permits of %s may be lost until --resize",
                       settings->names[0]);
    else
        (void)snprintf(text, WHY_SIZE, "; %s may stay held for up to %s", settings->names[0],
                       duration_format(left, settings->lease_ms));
}

/* Says why the lock was not taken. Returns the exit status. */
static int explain(const struct taken *taken, const struct settings *settings,
                   enum rlock_status status) {
    if (status == RLOCK_BUSY)
        return say_busy(taken, settings);
    if (status == RLOCK_OUSTED)
        return say_ousted(taken, settings);
    char doubt[WHY_SIZE];
    describe_doubt(doubt, taken, settings);
    return server_explain(&taken->server, settings, verb_of(taken), rlock_stuck_at(taken->lock),
                          status, doubt);
}

int take_prepare(struct taken *out, const struct settings *settings, const struct wrap_kind *kind) {
    *out = (struct taken){.kind = kind};
    const int failure = server_open(&out->server, settings);
    return failure != 0 ? failure : make_lock(out, settings);
}

static int64_t deadline_of(const struct settings *settings) {
    if (settings->wait_ms == 0 || settings->wait_ms == RLOCK_FOREVER)
        return settings->wait_ms;
    return rlock_now_ms() + settings->wait_ms;
}

/* The signal that has interrupted the wait; 0: none but such as the caller has us ignore. */
static int interrupted(const struct signals *signals, enum rlock_status result) {
    return result == RLOCK_CANCELLED ? signals_read(signals) : 0;
}

/* What is held: the lock itself tells it only until it is given back. */
static void note_holds(struct taken *taken) {
    const struct rlock_hold *hold;
    taken->at_ms = rlock_now_ms();
    while ((hold = rlock_hold_at(taken->lock, taken->hold_count)) != NULL)
        taken->holds[taken->hold_count++] = hold;
}

bool take(struct taken *taken, const struct settings *settings, const struct signals *signals,
          int *status) {
    struct rlock_wait wait = {.deadline_ms = deadline_of(settings), .cancel_fd = signals->fd};
    struct waitline line;
    enum rlock_status result;
    int signal;
    waitline_begin(&line, settings->names[0], taken->kind);
    taken->asked_ms = line.began_ms;
    for (;;) {
        wait.until_ms = settings->wait_ms == 0 ? RLOCK_FOREVER : line.next_ms; /* not waiting */
        result = rlock_acquire(taken->lock, &wait);
        signal = interrupted(signals, result);
        if (result == RLOCK_AGAIN)
            waitline_show(&line, taken->server.client, taken->lock);
        else if (result != RLOCK_CANCELLED || signal != 0)
            break;
    }
    waitline_end();
    if (result == RLOCK_OK)
        note_holds(taken);
    else
        *status = signal != 0 ? say_interrupted(taken, signal) : explain(taken, settings, result);
    return result == RLOCK_OK;
}
