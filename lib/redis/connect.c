/* connect.c: the way to a server that listens to us: look-up, connection, TLS, log-in. */
#include "redis/link.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/clock.h"

enum {
    GLANCE_MS = 500, /* for looking up a name that has led somewhere */
    STALE_MS = 5000, /* what a look-up says that was begun so long ago */
    PASSWORD_SIZE = 4096
};

enum rlock__io rlock__link_send(struct rlock__link *link, struct rlock__request *request) {
    struct rlock__error none;
    rlock__reply *reply = NULL;
    enum rlock__io io = rlock__conn_send(&link->conn, request, link->error);
    if (io != RLOCK__IO_BROKEN || link->owed > 0 ||
        rlock__conn_receive(&link->conn, 0, &reply, &none) != RLOCK__IO_DONE)
        return io;
    link->answered = true;
    if (rlock__reply_judge(link, reply) == RLOCK_DENIED)
        io = RLOCK__IO_DENIED;
    rlock__reply_free(reply);
    return io;
}

/* A name that has led somewhere gets a moment only, for it most likely still does; the look-up goes
 * on beside the connection to there, and its answer serves the next one. */
static enum rlock__io begin_look_up(struct rlock__link *link) {
    const int64_t now = rlock_now_ms();
    if (now > link->lookup_begun_ms + STALE_MS)
        rlock__lookup_drop(&link->lookup);
    if (link->lookup == NULL) {
        link->lookup = rlock__lookup_start(link->host, link->port);
        link->lookup_begun_ms = now;
    }
    if (link->lookup == NULL && link->addresses.count > 0) /* the system refuses a thread */
        return RLOCK__IO_DONE;
    if (link->lookup == NULL) {
        rlock__error_set(link->error, "no thread for looking up %s", link->host);
        return RLOCK__IO_SYSTEM;
    }
    link->by_ms = link->connect_by_ms;
    if (link->addresses.count > 0)
        link->by_ms = rlock__sooner_ms(link->connect_by_ms, now + GLANCE_MS);
    link->stage = RLOCK__LOOKING_UP;
    return RLOCK__IO_DONE;
}

static enum rlock__io begin(struct rlock__link *link) {
    link->connect_by_ms = rlock__after_ms(rlock_now_ms(), link->access->connect_timeout_ms);
    link->tried = 0;
    link->stage = RLOCK__CONNECTING;
    if (!link->look_up_again)
        return RLOCK__IO_DONE;
    if (*link->port == '\0') {
        rlock__address_of_path(&link->addresses, link->host);
        return RLOCK__IO_DONE;
    }
    return rlock__address_of_number(&link->addresses, link->host, link->port) ? RLOCK__IO_DONE
                                                                              : begin_look_up(link);
}

/* A name that can't be looked up any more keeps the addresses it had. */
static enum rlock__io look_up(struct rlock__link *link) {
    struct pollfd about = {.fd = rlock__lookup_fd(link->lookup), .events = POLLIN};
    const bool answered = poll(&about, 1, 0) > 0;
    if (!answered && rlock_now_ms() < link->by_ms)
        return RLOCK__IO_WAIT;
    if (answered) {
        rlock__lookup_take(&link->lookup, &link->addresses, link->error);
    } else {
        rlock__error_set(link->error, "looking up the host took too long");
    }
    if (link->addresses.count == 0)
        return RLOCK__IO_BROKEN;
    link->stage = RLOCK__CONNECTING;
    return RLOCK__IO_DONE;
}

static enum rlock__io connect_next(struct rlock__link *link) {
    enum rlock__io io = RLOCK__IO_BROKEN;
    while (io == RLOCK__IO_BROKEN && link->tried < link->addresses.count) {
        /* A silent address must not eat the time of those behind it. */
        link->by_ms = rlock__share_ms(rlock_now_ms(), link->connect_by_ms,
                                      link->addresses.count - link->tried);
        io = rlock__conn_start(&link->conn,
                               (const struct sockaddr *)&link->addresses.at[link->tried].address,
                               link->addresses.at[link->tried].length, link->error);
        link->tried++;
    }
    return io;
}

void rlock__link_say_not_connected(struct rlock__link *link) {
    rlock__error_set(link->error, "%s",
                     link->conn.tls != NULL ? "no TLS handshake in time (if it does not speak TLS, "
                                              "give redis://, sentinel:// or cluster://)"
                                            : "no connection in time");
}

static enum rlock__io connect_on(struct rlock__link *link) {
    for (;;) {
        enum rlock__io io = link->conn.fd < 0 ? connect_next(link) : RLOCK__IO_DONE;
        if (io != RLOCK__IO_DONE)
            return io;
        io = rlock__conn_finish(&link->conn, link->access->tls, link->host, link->error);
        if (io == RLOCK__IO_DONE) {
            link->look_up_again = false;
            link->stage = RLOCK__AUTHENTICATING;
            link->by_ms = link->connect_by_ms;
            return RLOCK__IO_DONE;
        }
        if (io == RLOCK__IO_WAIT && rlock_now_ms() < link->by_ms)
            return RLOCK__IO_WAIT;
        if (io == RLOCK__IO_WAIT)
            rlock__link_say_not_connected(link);
        else if (io != RLOCK__IO_BROKEN)
            return io;
        rlock__conn_close(&link->conn);
    }
}

/* What Redis has against a log-in is an ERR or known; all else is a proxy's. */
static bool may_pass(const char *error) {
    return rlock__reply_error_known(error) || strncmp(error, "ERR ", 4) != 0;
}

/* A log-in command's answer must be +OK: a lock must not be taken as the wrong user or in the
 * wrong database. */
static enum rlock__io log_in_step(struct rlock__link *link, const char *const *words,
                                  size_t count) {
    if (link->log_in.bytes == NULL && !rlock__request_add(&link->log_in, count, words))
        return RLOCK__IO_SYSTEM;
    rlock__reply *reply = NULL;
    enum rlock__io io = rlock__link_send(link, &link->log_in);
    if (io == RLOCK__IO_DONE)
        io = rlock__conn_receive(&link->conn, 0, &reply, link->error);
    if (io == RLOCK__IO_WAIT && rlock_now_ms() >= link->by_ms) {
        rlock__error_set(link->error, "no answer in time");
        return RLOCK__IO_BROKEN;
    }
    if (io != RLOCK__IO_DONE)
        return io;
    rlock__request_free(&link->log_in);
    const enum rlock_status status = rlock__reply_judge(link, reply);
    if (status == RLOCK_UNAVAILABLE)
        io = RLOCK__IO_UNUSABLE;
    else if (status != RLOCK_OK) /* whatever it has against us, if it does not pass */
        io = status == RLOCK_AGAIN && may_pass(rlock__reply_error(reply)) ? RLOCK__IO_BROKEN
                                                                          : RLOCK__IO_DENIED;
    if (rlock__reply_error(reply) == NULL && !rlock__reply_is_ok(reply)) {
        rlock__error_set(link->error, "the server's answer to %s can't be understood", words[0]);
        io = RLOCK__IO_UNUSABLE;
    }
    rlock__reply_free(reply);
    return io;
}

/* The first line of a file, read anew each time, for the password may change. False: it cannot be
 * read now, is empty, or is no file: a pipe has been read. */
static bool read_password(const char *path, char line[PASSWORD_SIZE]) {
    struct stat about;
    const int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    ssize_t length = 0;
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
        length = read(fd, line, PASSWORD_SIZE - 1);
    if (fd >= 0)
        close(fd);
    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    return *line != '\0';
}

static enum rlock__io authenticate(struct rlock__link *link) {
    const struct rlock__access *access = link->access;
    const bool named = access->user != NULL;
    char line[PASSWORD_SIZE];
    enum rlock__io io = RLOCK__IO_DONE;
    if (access->password != NULL) {
        const bool begins = link->log_in.bytes == NULL;
        const char *password =
            begins && read_password(access->password_file, line) ? line : access->password;
        const char *words[] = {"AUTH", named ? access->user : password, password};
        io = log_in_step(link, words, named ? 3 : 2);
        explicit_bzero(line, sizeof line);
    }
    if (io == RLOCK__IO_DONE)
        link->stage = RLOCK__SELECTING;
    return io;
}

static enum rlock__io select_db(struct rlock__link *link) {
    char db[16];
    const char *words[] = {"SELECT", db};
    (void)snprintf(db, sizeof db, "%d", link->access->db);
    const enum rlock__io io = link->access->db != 0 ? log_in_step(link, words, 2) : RLOCK__IO_DONE;
    if (io == RLOCK__IO_DONE) {
        link->stage = RLOCK__READY;
        link->by_ms = 0;
        link->ready_ms = rlock_now_ms();
        link->used = false;
        link->checked = NULL;
    }
    return io;
}

enum rlock__io rlock__link_connect(struct rlock__link *link) {
    enum rlock__io io = RLOCK__IO_DONE;
    while (io == RLOCK__IO_DONE) {
        switch (link->stage) {
        case RLOCK__CLOSED: io = begin(link); break;
        case RLOCK__LOOKING_UP: io = look_up(link); break;
        case RLOCK__CONNECTING: io = connect_on(link); break;
        case RLOCK__AUTHENTICATING: io = authenticate(link); break;
        case RLOCK__SELECTING: io = select_db(link); break;
        case RLOCK__READY: return RLOCK__IO_DONE;
        }
    }
    return io;
}
