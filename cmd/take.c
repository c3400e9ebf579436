/* take.c: from settings to a lock that is held. */
#include "take.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "duration.h"
#include "local.h"
#include "opt.h"
#include "out.h"
#include "waitline.h"

enum { COMMAND_SIZE = 256, USER_SIZE = 64, WHY_SIZE = 512 };

void take_free(struct taken *taken) {
    rlock_lock_free(taken->lock);
    rlock_client_free(taken->client);
    holds_free(&taken->around);
    free(taken->local_url);
    free(taken->local_absolute);
    *taken = (struct taken){.client = NULL};
}

const char *take_server_for_command(const struct taken *taken, const struct settings *settings) {
    if (settings->server_source != SOURCE_OPTION)
        return NULL;
    return taken->local_absolute != NULL ? taken->local_absolute
                                         : rlock_client_server(taken->client);
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

static void describe_command(char text[COMMAND_SIZE], const struct settings *settings) {
    size_t length = 0;
    if (settings->shell_command != NULL) {
        (void)snprintf(text, COMMAND_SIZE, "%s", settings->shell_command);
        return;
    }
    text[0] = '\0';
    for (size_t i = 0; settings->command[i] != NULL && length < COMMAND_SIZE; i++) {
        int n = snprintf(text + length, COMMAND_SIZE - length, i == 0 ? "%s" : " %s",
                         settings->command[i]);
        length += n > 0 ? (size_t)n : 0;
    }
}

/* The URL is read by the library, but its mistakes are told like those of any other setting. */
static int open_client(struct taken *out, const struct settings *settings) {
    if (local_is(settings->server)) {
        int status = local_start(settings->server, settings->connect_timeout_ms, &out->local_url,
                                 &out->local_absolute);
        if (status != 0)
            return status;
    }
    const struct rlock_client_options options = {
        .server = out->local_url != NULL ? out->local_url : settings->server,
        .password = out->local_url != NULL ? NULL : settings->password,
        .connect_timeout_ms = settings->connect_timeout_ms,
        .io_timeout_ms = settings->io_timeout_ms,
    };
    enum rlock_status status = rlock_client_new(&out->client, &options);
    if (status == RLOCK_OK)
        return 0;
    if (status != RLOCK_INVALID) {
        out_error("cannot use the server: %s", rlock_status_text(status));
        return EXIT_SYSTEM;
    }
    struct reason reason;
    struct complaint why = {.status = EXIT_USAGE};
    (void)snprintf(reason.text, sizeof reason.text, "%s", rlock_error(out->client));
    (void)opt_complain(opt_find("server"), settings->server, &settings->origins[SETTING_SERVER],
                       &reason, &why);
    out_error("%s", why.text);
    return why.status;
}

static int make_lock(struct taken *out, const struct settings *settings, const char *kind) {
    char user[USER_SIZE], command[COMMAND_SIZE];
    if (!holds_read(&out->around)) {
        out_error("cannot read the enclosing holds: out of memory");
        return EXIT_SYSTEM;
    }
    describe_user(user);
    describe_command(command, settings);
    const struct rlock_lock_options options = {
        .kind = kind,
        .names = settings->names,
        .name_count = settings->name_count,
        .lease_ms = settings->lease_ms,
        .user = user,
        .command = command,
        .proofs = out->around.proofs,
        .proof_count = out->around.count,
    };
    enum rlock_status status = rlock_lock_new(&out->lock, out->client, &options);
    if (status == RLOCK_OK)
        return 0;
    out_error("cannot make the lock: %s", rlock_error(out->client));
    return status == RLOCK_INVALID ? EXIT_USAGE : EXIT_SYSTEM;
}

static int say_unavailable(const struct taken *taken, const struct settings *settings) {
    char left[DURATION_TEXT_SIZE], doubt[WHY_SIZE] = "";
    if (rlock_in_doubt(taken->lock))
        (void)snprintf(doubt, sizeof doubt, "; %s may stay held for up to %s", settings->names[0],
                       duration_format(left, settings->lease_ms));
    const char *hint = settings->server_source == SOURCE_DEFAULT
                           ? "; name your Redis with --server URL, or use --server local: for "
                             "locks on this machine only"
                           : "";
    out_error("cannot take %s on %s: %s%s%s", settings->names[0],
              rlock_client_server(taken->client), rlock_error(taken->client), doubt, hint);
    return EXIT_UNAVAILABLE;
}

static int say_busy(const struct taken *taken, const struct settings *settings) {
    char why[WHY_SIZE];
    const struct rlock_holder *holder = rlock_blocker(taken->lock);
    if (holder != NULL) {
        waitline_holder(why, sizeof why, holder);
        const struct out_field fields[] = {OUT_TEXT("name", holder->name),
                                           OUT_TEXT("holder", holder->owner)};
        out_event(OUT_WARNING, "busy", fields, sizeof fields / sizeof fields[0],
                  "cannot take %s: %s", holder->name, why);
    }
    return settings->conflict_exit_code;
}

/* Says why the lock was not taken. Returns the exit status. */
static int explain(const struct taken *taken, const struct settings *settings,
                   enum rlock_status status) {
    const char *name = settings->names[0];
    const char *server = rlock_client_server(taken->client);
    switch (status) {
    case RLOCK_BUSY: return say_busy(taken, settings);
    case RLOCK_UNAVAILABLE: return say_unavailable(taken, settings);
    case RLOCK_WRONG_KIND:
        out_error("cannot take %s on %s: %s; nothing was changed: use another name", name, server,
                  rlock_status_text(status));
        return EXIT_WRONG_KIND;
    case RLOCK_DENIED:
        out_error("cannot take %s on %s: access denied: %s", name, server,
                  rlock_error(taken->client));
        return EXIT_DENIED;
    case RLOCK_OK:
    case RLOCK_AGAIN:
    case RLOCK_LOST:
    case RLOCK_CANCELLED:
    case RLOCK_INVALID:
    case RLOCK_SYSTEM: break;
    }
    out_error("cannot take %s on %s: %s", name, server, rlock_error(taken->client));
    return EXIT_SYSTEM;
}

int take_prepare(struct taken *out, const struct settings *settings, const char *kind) {
    *out = (struct taken){.kind = kind};
    const int failure = open_client(out, settings);
    return failure != 0 ? failure : make_lock(out, settings, kind);
}

static int64_t deadline_of(const struct settings *settings) {
    if (settings->wait_ms == 0 || settings->wait_ms == RLOCK_FOREVER)
        return settings->wait_ms;
    return rlock_now_ms() + settings->wait_ms;
}

/* The signal that has interrupted the wait; 0: none but such as the caller has us ignore. */
static int interrupted(const struct signals *signals, enum rlock_status result) {
    bool from_terminal;
    return result == RLOCK_CANCELLED ? signals_read(signals, &from_terminal) : 0;
}

bool take(struct taken *taken, const struct settings *settings, const struct signals *signals,
          int *status) {
    struct rlock_wait wait = {.deadline_ms = deadline_of(settings), .cancel_fd = signals->fd};
    struct waitline line;
    enum rlock_status result;
    int signal;
    waitline_begin(&line, settings->names[0], taken->kind);
    for (;;) {
        wait.until_ms = line.next_ms;
        result = rlock_acquire(taken->lock, &wait);
        signal = interrupted(signals, result);
        if (result == RLOCK_AGAIN)
            waitline_show(&line, taken->client, taken->lock);
        else if (result != RLOCK_CANCELLED || signal != 0)
            break;
    }
    waitline_end();
    if (result == RLOCK_OK)
        taken->at_ms = rlock_now_ms();
    else
        *status = signal != 0 ? 128 + signal : explain(taken, settings, result);
    return result == RLOCK_OK;
}
