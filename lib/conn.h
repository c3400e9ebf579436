/* conn.h: one connection that speaks RESP. The only layer that knows hiredis.
 *
 * It uses hiredis's formatter and reader over a descriptor of its own, so that every wait has a
 * deadline and can be cancelled, and so that TLS can be put in between with any hiredis.
 * A connection is dead after its first failure: close it. */
#ifndef RLOCK_CONN_H
#define RLOCK_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "limit.h"
#include "resolve.h"

struct rlock__conn {
    int fd; /* -1: closed */
    struct redisReader *reader;
};
#define RLOCK__CONN_INIT ((struct rlock__conn){-1, NULL})

/* One argument of a command, binary. */
struct rlock__arg {
    const char *data;
    size_t size;
};

/* A reply; free it with rlock__reply_free. */
struct redisReply;
typedef struct redisReply rlock__reply;

/* Connects to the first address that takes us. RLOCK_OK, RLOCK_UNAVAILABLE, RLOCK_CANCELLED,
 * RLOCK_SYSTEM. */
enum rlock_status rlock__conn_open(struct rlock__conn *conn, const struct rlock__addresses *to,
                                   const struct rlock__limit *limit, struct rlock__error *error);
void rlock__conn_close(struct rlock__conn *conn);

/* Sends one command whole. RLOCK_OK, RLOCK_UNAVAILABLE, RLOCK_CANCELLED, RLOCK_SYSTEM. */
enum rlock_status rlock__conn_send(struct rlock__conn *conn, size_t count,
                                   const struct rlock__arg *args, const struct rlock__limit *limit,
                                   struct rlock__error *error);

/* Receives one reply. RLOCK_OK: *out is the caller's. RLOCK_AGAIN: the deadline came, the
 * connection still lives. RLOCK_UNAVAILABLE: it is dead. RLOCK_CANCELLED. */
enum rlock_status rlock__conn_receive(struct rlock__conn *conn, rlock__reply **out,
                                      const struct rlock__limit *limit, struct rlock__error *error);

void rlock__reply_free(rlock__reply *reply);
/* The error's text; NULL: the reply is none. */
const char *rlock__reply_error(const rlock__reply *reply);
/* True for the status reply +OK. */
bool rlock__reply_is_ok(const rlock__reply *reply);
/* The reply as an integer; false: it is none. */
bool rlock__reply_number(const rlock__reply *reply, int64_t *out);
/* The number of elements; 0: no array. */
size_t rlock__reply_count(const rlock__reply *reply);
/* The i-th element as an integer; false: it is none. */
bool rlock__reply_integer(const rlock__reply *reply, size_t i, int64_t *out);
/* The i-th element as text, NUL-terminated; NULL: it is none. */
const char *rlock__reply_text(const rlock__reply *reply, size_t i);

#endif
