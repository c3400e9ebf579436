/* conn.c: one connection that speaks RESP. */
#include "redis/conn.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_SIZE = 4096,
    READ_MOST = 256 * 1024 /* at one go, of a peer that sends without end */
};

static enum rlock__io broken(struct rlock__error *error, const char *reason) {
    rlock__error_set(error, "%s", reason);
    return RLOCK__IO_BROKEN;
}

/* --- requests -------------------------------------------------------------------------------- */

bool rlock__request_add(struct rlock__request *request, size_t count, const char *const *words) {
    char *command = NULL;
    const long long size = redisFormatCommandArgv(&command, (int)count, (const char **)words, NULL);
    if (size < 0)
        return false;
    char *bytes = realloc(request->bytes, request->size + (size_t)size);
    if (bytes != NULL) {
        memcpy(bytes + request->size, command, (size_t)size);
        request->bytes = bytes;
        request->size += (size_t)size;
    }
    redisFreeCommand(command);
    return bytes != NULL;
}

void rlock__request_free(struct rlock__request *request) {
    if (request->bytes != NULL)
        explicit_bzero(request->bytes, request->size); /* it may hold a password */
    free(request->bytes);
    *request = (struct rlock__request){.bytes = NULL};
}

/* --- connecting ------------------------------------------------------------------------------ */

/* No delay for small requests, and a peer that has gone without a word is found out: a waiter may
 * listen for hours without sending anything. */
static void tune(int fd) {
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},   {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 15}, {IPPROTO_TCP, TCP_KEEPINTVL, 5},
        {IPPROTO_TCP, TCP_KEEPCNT, 3},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

enum rlock__io rlock__conn_start(struct rlock__conn *conn, const struct sockaddr *to,
                                 socklen_t length, struct rlock__error *error) {
    const int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        rlock__error_set(error, "no socket: %s", strerror(errno));
        return errno == EAFNOSUPPORT ? RLOCK__IO_BROKEN : RLOCK__IO_SYSTEM;
    }
    *conn = (struct rlock__conn){.fd = fd, .events = POLLOUT};
    if (to->sa_family != AF_UNIX)
        tune(fd);
    if (connect(fd, to, length) == 0 || errno == EINPROGRESS)
        return RLOCK__IO_DONE;
    const enum rlock__io io = broken(error, strerror(errno));
    rlock__conn_close(conn);
    return io;
}

/* Whether connect(2) has come to its end, and to which. */
static enum rlock__io connected(const struct rlock__conn *conn, struct rlock__error *error) {
    struct pollfd about = {.fd = conn->fd, .events = POLLOUT};
    int failure = 0;
    socklen_t size = sizeof failure;
    if (poll(&about, 1, 0) == 0)
        return RLOCK__IO_WAIT;
    (void)getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &failure, &size);
    return failure == 0 ? RLOCK__IO_DONE : broken(error, strerror(failure));
}

static enum rlock__io open_tls(struct rlock__conn *conn, const struct rlock__tls_config *tls,
                               const char *host, struct rlock__error *error) {
    conn->module = rlock__tls_load(error);
    return conn->module != NULL ? conn->module->open(&conn->tls, conn->fd, tls, host, error)
                                : RLOCK__IO_SYSTEM;
}

enum rlock__io rlock__conn_finish(struct rlock__conn *conn, const struct rlock__tls_config *tls,
                                  const char *host, struct rlock__error *error) {
    enum rlock__io io = RLOCK__IO_DONE;
    if (conn->resp == NULL) {
        io = connected(conn, error);
        if (io == RLOCK__IO_DONE && tls != NULL)
            io = open_tls(conn, tls, host, error);
        if (io != RLOCK__IO_DONE)
            return io;
        conn->resp = rlock__resp_new();
        if (conn->resp == NULL) {
            rlock__error_set(error, "out of memory");
            return RLOCK__IO_SYSTEM;
        }
    }
    return conn->tls != NULL ? conn->module->handshake(conn->tls, &conn->events, error)
                             : RLOCK__IO_DONE;
}

void rlock__conn_close(struct rlock__conn *conn) {
    if (conn->tls != NULL)
        conn->module->close(conn->tls);
    if (conn->fd >= 0)
        close(conn->fd);
    rlock__resp_free(conn->resp);
    *conn = RLOCK__CONN_INIT;
}

/* --- bytes ----------------------------------------------------------------------------------- */

/* RLOCK__IO_DONE: n bytes more went out. */
static enum rlock__io write_some(struct rlock__conn *conn, const char *data, size_t size, size_t *n,
                                 struct rlock__error *error) {
    if (conn->tls != NULL)
        return conn->module->write(conn->tls, data, size, n, &conn->events, error);
    /* MSG_NOSIGNAL: a library has no business with its caller's SIGPIPE. */
    const ssize_t sent = send(conn->fd, data, size, MSG_NOSIGNAL);
    *n = sent > 0 ? (size_t)sent : 0;
    if (sent >= 0)
        return RLOCK__IO_DONE;
    conn->events = POLLOUT;
    return errno == EAGAIN || errno == EINTR ? RLOCK__IO_WAIT : broken(error, strerror(errno));
}

/* RLOCK__IO_DONE: n bytes, at least one, have come. */
static enum rlock__io read_some(struct rlock__conn *conn, char *to, size_t size, size_t *n,
                                struct rlock__error *error) {
    if (conn->tls != NULL)
        return conn->module->read(conn->tls, to, size, n, &conn->events, error);
    const ssize_t received = recv(conn->fd, to, size, 0);
    *n = received > 0 ? (size_t)received : 0;
    if (received > 0)
        return RLOCK__IO_DONE;
    if (received == 0)
        return broken(error, "the server closed the connection");
    conn->events = POLLIN;
    return errno == EAGAIN || errno == EINTR ? RLOCK__IO_WAIT : broken(error, strerror(errno));
}

enum rlock__io rlock__conn_send(struct rlock__conn *conn, struct rlock__request *request,
                                struct rlock__error *error) {
    while (request->sent < request->size) {
        size_t n = 0;
        const enum rlock__io io = write_some(conn, request->bytes + request->sent,
                                             request->size - request->sent, &n, error);
        if (io != RLOCK__IO_DONE)
            return io;
        request->sent += n;
    }
    return RLOCK__IO_DONE;
}

/* Reads what has come. */
static enum rlock__io read_on(struct rlock__conn *conn, struct rlock__error *error) {
    char bytes[READ_SIZE];
    size_t n = 0;
    if (conn->read >= READ_MOST) { /* it is time to look at the clock */
        conn->read = 0;
        conn->events = POLLOUT; /* at once: what TLS has read ahead nobody can poll for */
        return RLOCK__IO_WAIT;
    }
    const enum rlock__io io = read_some(conn, bytes, sizeof bytes, &n, error);
    conn->read = io == RLOCK__IO_DONE ? conn->read + n : 0;
    if (io != RLOCK__IO_DONE)
        return io;
    const char *fault = rlock__resp_feed(conn->resp, bytes, n);
    return fault == NULL ? RLOCK__IO_DONE : broken(error, fault);
}

enum rlock__io rlock__conn_receive(struct rlock__conn *conn, size_t most, rlock__reply **out,
                                   struct rlock__error *error) {
    enum rlock__io io = RLOCK__IO_DONE;
    while (io == RLOCK__IO_DONE) {
        const char *fault = rlock__resp_next(conn->resp, most, out);
        if (fault != NULL)
            return broken(error, fault);
        if (*out != NULL)
            return RLOCK__IO_DONE;
        io = read_on(conn, error);
    }
    return io;
}

/* --- replies --------------------------------------------------------------------------------- */

void rlock__reply_free(rlock__reply *reply) {
    if (reply != NULL)
        freeReplyObject(reply);
}

const char *rlock__reply_error(const rlock__reply *reply) {
    return reply->type == REDIS_REPLY_ERROR ? reply->str : NULL;
}

bool rlock__reply_is_ok(const rlock__reply *reply) {
    return reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0;
}

bool rlock__reply_number(const rlock__reply *reply, int64_t *out) {
    if (reply == NULL || reply->type != REDIS_REPLY_INTEGER)
        return false;
    *out = rlock__resp_bounded(reply->integer);
    return true;
}

bool rlock__reply_is_list(const rlock__reply *reply) {
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY;
}

size_t rlock__reply_count(const rlock__reply *reply) {
    return rlock__reply_is_list(reply) ? (size_t)reply->elements : 0;
}

const rlock__reply *rlock__reply_at(const rlock__reply *reply, size_t i) {
    return i < rlock__reply_count(reply) ? reply->element[i] : NULL;
}

bool rlock__reply_integer(const rlock__reply *reply, size_t i, int64_t *out) {
    return rlock__reply_number(rlock__reply_at(reply, i), out);
}

const char *rlock__reply_string(const rlock__reply *reply) {
    const bool text =
        reply != NULL && (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS);
    return text ? reply->str : NULL;
}

const char *rlock__reply_text(const rlock__reply *reply, size_t i) {
    return rlock__reply_string(rlock__reply_at(reply, i));
}
