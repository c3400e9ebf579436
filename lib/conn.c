/* conn.c: one connection that speaks RESP. */
#include "conn.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGS_MAX = 32, READ_SIZE = 4096 };

static enum rlock_status unavailable(struct rlock__error *error, const char *reason) {
    rlock__error_set(error, "%s", reason);
    return RLOCK_UNAVAILABLE;
}

/* Finishes a connect(2) that is under way. */
static enum rlock_status finish_connect(int fd, const struct rlock__limit *limit,
                                        struct rlock__error *error) {
    enum rlock_status status = rlock__poll(fd, POLLOUT, limit);
    if (status == RLOCK_AGAIN)
        return unavailable(error, "no connection in time");
    if (status != RLOCK_OK)
        return status;
    int failure = 0;
    socklen_t size = sizeof failure;
    (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
    return failure == 0 ? RLOCK_OK : unavailable(error, strerror(failure));
}

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

static enum rlock_status open_one(struct rlock__conn *conn, const struct sockaddr *to,
                                  socklen_t length, const struct rlock__limit *limit,
                                  struct rlock__error *error) {
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        rlock__error_set(error, "no socket: %s", strerror(errno));
        return errno == EAFNOSUPPORT ? RLOCK_UNAVAILABLE : RLOCK_SYSTEM;
    }
    if (to->sa_family != AF_UNIX)
        tune(fd);
    enum rlock_status status = RLOCK_OK;
    if (connect(fd, to, length) != 0)
        status = errno == EINPROGRESS ? finish_connect(fd, limit, error)
                                      : unavailable(error, strerror(errno));
    if (status != RLOCK_OK) {
        close(fd);
        return status;
    }
    *conn = (struct rlock__conn){fd, redisReaderCreate()};
    if (conn->reader == NULL) {
        rlock__conn_close(conn);
        rlock__error_set(error, "no memory");
        return RLOCK_SYSTEM;
    }
    return RLOCK_OK;
}

enum rlock_status rlock__conn_open(struct rlock__conn *conn, const struct rlock__addresses *to,
                                   const struct rlock__limit *limit, struct rlock__error *error) {
    enum rlock_status status = unavailable(error, "the host has no address");
    for (size_t i = 0; i < to->count && status == RLOCK_UNAVAILABLE; i++) {
        /* A silent address must not eat the time of those behind it. */
        struct rlock__limit share = *limit;
        int64_t now = rlock_now_ms();
        if (share.deadline_ms != RLOCK_FOREVER && share.deadline_ms > now)
            share.deadline_ms = now + (share.deadline_ms - now) / (int64_t)(to->count - i);
        status = open_one(conn, (const struct sockaddr *)&to->at[i].address, to->at[i].length,
                          &share, error);
    }
    return status;
}

void rlock__conn_close(struct rlock__conn *conn) {
    if (conn->fd >= 0)
        close(conn->fd);
    if (conn->reader != NULL)
        redisReaderFree(conn->reader);
    *conn = RLOCK__CONN_INIT;
}

static enum rlock_status write_all(int fd, const char *data, size_t size,
                                   const struct rlock__limit *limit, struct rlock__error *error) {
    while (size > 0) {
        /* MSG_NOSIGNAL: a library has no business with its caller's SIGPIPE. */
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n >= 0) {
            data += n;
            size -= (size_t)n;
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return unavailable(error, strerror(errno));
        enum rlock_status status = rlock__poll(fd, POLLOUT, limit);
        if (status == RLOCK_AGAIN)
            return unavailable(error, "the server takes no request");
        if (status != RLOCK_OK)
            return status;
    }
    return RLOCK_OK;
}

enum rlock_status rlock__conn_send(struct rlock__conn *conn, size_t count,
                                   const struct rlock__arg *args, const struct rlock__limit *limit,
                                   struct rlock__error *error) {
    const char *data[ARGS_MAX];
    size_t sizes[ARGS_MAX];
    for (size_t i = 0; i < count && i < ARGS_MAX; i++) {
        data[i] = args[i].data;
        sizes[i] = args[i].size;
    }
    char *request = NULL;
    long long size = redisFormatCommandArgv(&request, (int)count, data, sizes);
    if (size < 0) {
        rlock__error_set(error, "no memory");
        return RLOCK_SYSTEM;
    }
    enum rlock_status status = write_all(conn->fd, request, (size_t)size, limit, error);
    redisFreeCommand(request);
    return status;
}

/* Feeds the reader with what has come. RLOCK_AGAIN: nothing has. */
static enum rlock_status read_some(struct rlock__conn *conn, struct rlock__error *error) {
    char bytes[READ_SIZE];
    ssize_t n = recv(conn->fd, bytes, sizeof bytes, 0);
    if (n == 0)
        return unavailable(error, "the server closed the connection");
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? RLOCK_AGAIN
                                                 : unavailable(error, strerror(errno));
    if (redisReaderFeed(conn->reader, bytes, (size_t)n) != REDIS_OK)
        return unavailable(error, "no memory");
    return RLOCK_OK;
}

enum rlock_status rlock__conn_receive(struct rlock__conn *conn, rlock__reply **out,
                                      const struct rlock__limit *limit,
                                      struct rlock__error *error) {
    for (;;) {
        void *reply = NULL;
        if (redisReaderGetReply(conn->reader, &reply) != REDIS_OK) {
            rlock__error_set(error, "the server does not speak Redis's protocol: %s",
                             conn->reader->errstr);
            return RLOCK_UNAVAILABLE;
        }
        if (reply != NULL) {
            *out = reply;
            return RLOCK_OK;
        }
        enum rlock_status status = rlock__poll(conn->fd, POLLIN, limit);
        if (status == RLOCK_OK)
            status = read_some(conn, error);
        if (status != RLOCK_OK && status != RLOCK_AGAIN)
            return status;
        if (status == RLOCK_AGAIN && rlock_now_ms() >= limit->deadline_ms)
            return status;
    }
}

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

static bool to_integer(const rlock__reply *reply, int64_t *out) {
    if (reply == NULL || reply->type != REDIS_REPLY_INTEGER)
        return false;
    *out = reply->integer;
    return true;
}

bool rlock__reply_number(const rlock__reply *reply, int64_t *out) {
    return to_integer(reply, out);
}

size_t rlock__reply_count(const rlock__reply *reply) {
    return reply->type == REDIS_REPLY_ARRAY ? (size_t)reply->elements : 0;
}

static const rlock__reply *element(const rlock__reply *reply, size_t i) {
    return i < rlock__reply_count(reply) ? reply->element[i] : NULL;
}

bool rlock__reply_integer(const rlock__reply *reply, size_t i, int64_t *out) {
    return to_integer(element(reply, i), out);
}

const char *rlock__reply_text(const rlock__reply *reply, size_t i) {
    const rlock__reply *item = element(reply, i);
    bool text =
        item != NULL && (item->type == REDIS_REPLY_STRING || item->type == REDIS_REPLY_STATUS);
    return text ? item->str : NULL;
}
