/* conn.h: one connection that speaks RESP. The only layer that knows hiredis.
 *
 * It uses hiredis's formatter and reader over a descriptor of its own, so that every wait has a
 * deadline and can be cancelled, several connections can be waited for at once, and TLS lies in
 * between with any hiredis. Nothing here blocks: RLOCK__IO_WAIT says "poll conn->fd for
 * conn->events". A connection is dead after its first failure: close it. */
#ifndef RLOCK_CONN_H
#define RLOCK_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "os/error.h"
#include "tls/tls.h"

struct redisReply;
typedef struct redisReply rlock__reply; /* free it with rlock__reply_free */

/* --- resp.c: replies -------------------------------------------------------------------------- */

/* How large a server's reply may be. hiredis takes memory for what a reply's head announces:
 * thirteen bytes may ask for gigabytes, a string or a line that never ends takes all there is, and
 * arrays in arrays end on the stack. Redis sends nothing of the kind. */
enum {
    RLOCK__RESP_DEPTH = 7, /* of arrays in arrays; a list of slots needs 4 */
    RLOCK__RESP_ITEM = 96  /* what an element of an array counts for besides its bytes */
};

/* Limits of a whole reply: about one lock (a kilobyte is long); the map of a cluster with badly
 * scattered slots; and a listing of locks (22 MiB for one with 10,000 holders and waiters that have
 * the longest commands). */
#define RLOCK__RESP_ANSWER  ((size_t)1 << 20)
#define RLOCK__RESP_MAP     ((size_t)8 << 20)
#define RLOCK__RESP_LISTING ((size_t)32 << 20)

/* What a number of a server's counts as at most, up and down: milliseconds, places, counts. None of
 * Redis's scripts has a larger one, for Lua would not be exact; twice such a number, or a thousand
 * times, is still one in C. Tokens are digits, and not bounded. */
#define RLOCK__NUMBER_MOST ((int64_t)1 << 53)

/* A stream of replies, from its beginning. */
struct rlock__resp;

/* NULL: no memory. Free it with rlock__resp_free. */
struct rlock__resp *rlock__resp_new(void);
void rlock__resp_free(struct rlock__resp *resp);

/* Adds what has come. Returns why nothing more is read; NULL: nothing. */
const char *rlock__resp_feed(struct rlock__resp *resp, const char *bytes, size_t size);

/* Takes the next reply, of at most so much; 0: RLOCK__RESP_ANSWER. *out: NULL: more must come.
 * Returns like rlock__resp_feed. */
const char *rlock__resp_next(struct rlock__resp *resp, size_t most, rlock__reply **out);

/* The number within what numbers are good for. */
int64_t rlock__resp_bounded(int64_t number);

/* Reads digits, up to 2^63-1 and exactly. False: there is something else, or more. */
bool rlock__resp_whole(const char *text, int64_t *out);

/* --- conn.c: a connection --------------------------------------------------------------------- */

struct rlock__conn {
    int fd;                   /* -1: closed */
    short events;             /* what the last RLOCK__IO_WAIT waits for */
    struct rlock__resp *resp; /* NULL: not connected yet */
    size_t read;              /* bytes, since the last RLOCK__IO_WAIT */
    const struct rlock__tls_module *module;
    struct rlock__tls *tls; /* NULL: plain */
};
#define RLOCK__CONN_INIT ((struct rlock__conn){.fd = -1})

/* A command as it goes over the wire. Free it with rlock__request_free. */
struct rlock__request {
    char *bytes; /* NULL: none */
    size_t size, sent;
};

/* Formats a command behind what the request has already. False: out of memory. */
bool rlock__request_add(struct rlock__request *request, size_t count, const char *const *words);
void rlock__request_free(struct rlock__request *request);

/* Starts connecting. RLOCK__IO_DONE: go on with rlock__conn_finish. RLOCK__IO_BROKEN,
 * RLOCK__IO_SYSTEM. */
enum rlock__io rlock__conn_start(struct rlock__conn *conn, const struct sockaddr *to,
                                 socklen_t length, struct rlock__error *error);

/* Goes on connecting. tls: NULL for a plain connection; host: what the certificate must be for.
 * RLOCK__IO_DONE, RLOCK__IO_WAIT, RLOCK__IO_BROKEN, RLOCK__IO_DENIED (the certificate),
 * RLOCK__IO_SYSTEM. */
enum rlock__io rlock__conn_finish(struct rlock__conn *conn, const struct rlock__tls_config *tls,
                                  const char *host, struct rlock__error *error);
void rlock__conn_close(struct rlock__conn *conn);

/* Sends what is left of a request. RLOCK__IO_DONE: all is sent. RLOCK__IO_WAIT, RLOCK__IO_BROKEN.
 */
enum rlock__io rlock__conn_send(struct rlock__conn *conn, struct rlock__request *request,
                                struct rlock__error *error);

/* Receives one reply, of at most so much, as rlock__resp_next() has it. RLOCK__IO_DONE: *out is the
 * caller's. RLOCK__IO_WAIT, RLOCK__IO_BROKEN (one that is no reply, or is too large, too),
 * RLOCK__IO_DENIED (by TLS). However much comes, RLOCK__IO_WAIT does too, now and then: a caller's
 * deadline is the caller's. */
enum rlock__io rlock__conn_receive(struct rlock__conn *conn, size_t most, rlock__reply **out,
                                   struct rlock__error *error);

void rlock__reply_free(rlock__reply *reply);
/* The error's text; NULL: the reply is none. */
const char *rlock__reply_error(const rlock__reply *reply);
/* True for the status reply +OK. */
bool rlock__reply_is_ok(const rlock__reply *reply);
/* The reply as an integer, which is RLOCK__NUMBER_MOST at most; false: it is none, or NULL. */
bool rlock__reply_number(const rlock__reply *reply, int64_t *out);
/* The reply as text, NUL-terminated; NULL: it is none, or NULL. */
const char *rlock__reply_string(const rlock__reply *reply);
/* False: it is something else, or NULL. */
bool rlock__reply_is_list(const rlock__reply *reply);
/* The number of elements; 0: no array, or NULL. */
size_t rlock__reply_count(const rlock__reply *reply);
/* The i-th element; NULL: there is none. Borrowed. */
const rlock__reply *rlock__reply_at(const rlock__reply *reply, size_t i);
/* The i-th element as rlock__reply_number() and rlock__reply_string() have it. */
bool rlock__reply_integer(const rlock__reply *reply, size_t i, int64_t *out);
const char *rlock__reply_text(const rlock__reply *reply, size_t i);

#endif
