/* local.c: a private redis-server for one machine.
 *
 * The directory is the same whatever the environment says, so that cron and a shell meet; nobody
 * else can put a socket there, or another directory in its place. Of several users that need the
 * server one starts it, with flock(2) on the directory; the server inherits the lock and holds it
 * for as long as it lives, so there is never a second one (and systemd-tmpfiles(8), which clears
 * /tmp, leaves alone what is locked so). */
#include "server/local.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/local_url.h"
#include "output/out.h"
#include "process/deadline.h"

enum { ROUND_MS = 2 };

struct local {
    char *dir; /* absolute */
    struct local_server server;
    int64_t deadline_ms;
    bool in_passing; /* not to wait until it is ready */
    char why[1400];  /* the message about what went wrong */
};

__attribute__((format(printf, 3, 4))) static int fail(struct local *local, int status,
                                                      const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(local->why, sizeof local->why, format, arguments);
    va_end(arguments);
    return status;
}

static int open_dir(struct local *local) {
    struct trust trust;
    local->server.dir_fd = trust_open(local->dir, &trust);
    if (local->server.dir_fd >= 0)
        return 0;
    if (trust.refused)
        return fail(local, EXIT_DENIED,
                    "cannot trust the directory %s: %s; a local: directory belongs to its user "
                    "alone (mode 0700), and nobody else may rename it",
                    local->dir, trust.why);
    return fail(local, EXIT_UNAVAILABLE,
                "cannot make the directory %s: %s; name another directory: local:DIR", local->dir,
                trust.why);
}

static bool pause_until_deadline(const struct local *local) {
    const struct timespec moment = {0, ROUND_MS * 1000000L};
    if (boottime_ms() >= local->deadline_ms)
        return false;
    (void)nanosleep(&moment, NULL);
    return true;
}

static int start_server(struct local *local) {
    const int why = local_server_start(&local->server);
    if (why == ENOENT || why == EACCES)
        return fail(local, EXIT_UNAVAILABLE,
                    "cannot start redis-server for local: %s; install the package redis-server "
                    "(or valkey-server)",
                    strerror(why));
    if (why != 0)
        return fail(local, EXIT_SYSTEM, "cannot start redis-server: %s", strerror(why));
    while (!local->in_passing && !local_server_is_ready(&local->server)) {
        if (!pause_until_deadline(local))
            return fail(local, EXIT_UNAVAILABLE,
                        "cannot reach the redis-server started in %s: see %s/redis.log", local->dir,
                        local->dir);
    }
    return 0;
}

/* The rlock that gets the lock on the directory starts the server. A server that has it and does
 * not listen is starting, is ending, or has lost its socket. Not a blocking flock(2): its holder
 * may be stopped.
 */
static int start_once(struct local *local) {
    for (;;) {
        const int why = flock(local->server.dir_fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (local_server_listens(&local->server))
            return 0;
        if (why == 0)
            return start_server(local);
        if (why != EWOULDBLOCK)
            return fail(local, EXIT_UNAVAILABLE,
                        "cannot lock the directory %s: %s; name one on a "
                        "disk of this machine: local:DIR",
                        local->dir, strerror(why));
        if (!pause_until_deadline(local))
            return fail(local, EXIT_UNAVAILABLE,
                        "cannot reach the redis-server that runs in %s: it does not listen on "
                        "redis.sock there; see %s/redis.log, and end it",
                        local->dir, local->dir);
    }
}

/* Open to us and to nobody else, whatever the caller's umask is. */
static int start_in_dir(struct local *local) {
    const mode_t callers = umask(077);
    int status = open_dir(local);
    if (status == 0)
        status = start_once(local);
    (void)umask(callers);
    return status;
}

/* The names, and no more. */
static int begin(struct local *local, const char *server, int64_t timeout_ms) {
    *local = (struct local){.dir = local_dir(server),
                            .server = {.dir_fd = -1, .address = {.sun_family = AF_UNIX}},
                            .deadline_ms = boottime_ms() + timeout_ms};
    const size_t size = sizeof local->server.address.sun_path;
    local->server.dir = local->dir;
    if (local->dir == NULL)
        return fail(local, EXIT_SYSTEM, "cannot name the local: directory: %s", strerror(errno));
    if ((size_t)snprintf(local->server.address.sun_path, size, "%s/redis.sock", local->dir) >= size)
        return fail(local, EXIT_USAGE, "cannot use local:%s: a socket's path has at most %zu bytes",
                    local->dir, size - 1);
    return 0;
}

static void end(struct local *local) {
    if (local->server.dir_fd >= 0)
        close(local->server.dir_fd);
    free(local->dir);
}

int local_name(const char *server, char **url, char **absolute) {
    struct local local;
    *url = *absolute = NULL;
    int status = begin(&local, server, 0);
    if (status == 0) {
        *absolute = local_make_url(LOCAL_PREFIX, local.dir);
        *url = local_make_url("unix://", local.server.address.sun_path);
        if (*absolute == NULL || *url == NULL)
            status = fail(&local, EXIT_SYSTEM, "cannot name the local: directory: out of memory");
    }
    if (status != 0)
        (void)out_fail(status, NULL, NULL, "%s", local.why);
    end(&local);
    return status;
}

int local_start(const char *absolute, int64_t timeout_ms) {
    struct local local;
    int status = begin(&local, absolute, timeout_ms);
    if (status == 0)
        status = start_in_dir(&local);
    if (status != 0)
        (void)out_fail(status, NULL, NULL, "%s", local.why);
    end(&local);
    return status;
}

/* One that was killed a moment ago still takes connections; to wait for its word takes time. */
static bool is_alive(const struct local *local) {
    return local->in_passing ? local_server_listens(&local->server)
                             : local_server_is_ready(&local->server);
}

bool local_revive(const char *absolute, int64_t timeout_ms) {
    struct local local;
    bool there = begin(&local, absolute, timeout_ms) == 0;
    local.in_passing = timeout_ms == 0;
    if (there && !is_alive(&local)) {
        there = start_in_dir(&local) == 0;
        if (there)
            out_debug("started redis-server in %s again", local.dir);
    }
    end(&local);
    return there;
}
