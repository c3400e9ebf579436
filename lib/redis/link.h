/* link.h: one server: found, connected to, logged in to, and asked one thing at a time.
 *
 * A link goes forward in steps that never block, so that several can be on their way at once; for
 * one alone there is rlock__link_call(). What fails closes the connection; the next request opens
 * it again. */
#ifndef RLOCK_LINK_H
#define RLOCK_LINK_H

#include <poll.h>

#include "os/clock.h"
#include "os/resolve.h"
#include "redis/conn.h"

/* How one gets in. All borrowed, NULL where there is none. */
struct rlock__access {
    const char *user, *password, *password_file;
    int db;
    const struct rlock__tls_config *tls;
    int64_t connect_timeout_ms; /* for look-up, connection and log-in together */
    int64_t answer_timeout_ms;  /* for one reply, from its request on, or the reply before; 0: as
                                   long as the limit */
};

enum rlock__stage {
    RLOCK__CLOSED,
    RLOCK__LOOKING_UP,
    RLOCK__CONNECTING,
    RLOCK__AUTHENTICATING,
    RLOCK__SELECTING,
    RLOCK__READY
};

enum { RLOCK__HOST_SIZE = 256, RLOCK__PORT_SIZE = 8 };

struct rlock__link {
    char host[RLOCK__HOST_SIZE]; /* or a socket's path */
    char port[RLOCK__PORT_SIZE]; /* "": a socket */
    const struct rlock__access *access;
    enum rlock__stage stage;
    struct rlock__lookup *lookup;
    struct rlock__addresses addresses;
    bool look_up_again; /* the addresses did not work, or may lead elsewhere by now */
    size_t tried;       /* of the addresses */
    int64_t lookup_begun_ms;
    int64_t connect_by_ms; /* until when there must be a connection that is logged in */
    int64_t by_ms;         /* ... and until when the stage goes on by itself, or gives up; of one
                              that is ready when the next reply must be there. 0: not yet */
    struct rlock__conn conn;
    struct rlock__request request, log_in; /* what is asked; what goes before it */
    size_t most;                           /* what a reply may count for, as of resp.c; 0: little */
    size_t owed;                           /* replies to come that nobody waits for any more */
    size_t expected;                       /* replies to the request */
    size_t got;                            /* of them */
    bool moved;                            /* a reply has come, or more of the request gone, since
                                              the asker cleared it */
    rlock__reply **replies;                /* room for all that are expected */
    bool used;                             /* a request was answered on this connection */
    const void *checked;                   /* the script that has checked the user's rights on it */
    const void *loading;                   /* the script that the request brings along */
    size_t waited;                         /* in it, the reply to a WAIT; 0: it has none */
    bool astray;                           /* the server said that it is not the one to ask */
    int64_t ready_ms;                      /* since when there is this connection */
    bool answered;                         /* a request, not the log-in, has had a reply, ever */
    bool in_doubt;                         /* a request was sent, and its reply did not arrive */
    int64_t unheard_ms;                    /* since when a request has no reply; 0: none is
                                              pending */
    bool has_replica; /* of a cluster's node: it had one when the cluster was asked last */
    bool lacks_wait;  /* ... and cannot tell what that has */
    struct rlock__error *error; /* the owner's */
};

/* A link that connects on first use. port "": host is a socket's path. error: where to say what
 * went wrong; borrowed. */
void rlock__link_init(struct rlock__link *link, const char *host, const char *port,
                      const struct rlock__access *access, struct rlock__error *error);

/* The same to the place of another link, with what that knows of it: its addresses, in case the
 * name service has failed since, and whether there is a replica. */
void rlock__link_like(struct rlock__link *link, const struct rlock__link *like,
                      const struct rlock__access *access, struct rlock__error *error);

/* Closes the connection; the link can be used again. */
void rlock__link_close(struct rlock__link *link);

/* Changes the address, and closes the connection if it was another. */
void rlock__link_move(struct rlock__link *link, const char *host, const char *port);

/* The server is not the one to ask, or not any more: the next request uses a new connection, and
 * looks up the host's name again. */
static inline void rlock__link_distrust(struct rlock__link *link) {
    link->astray = link->stage == RLOCK__READY;
    link->look_up_again = true;
}

/* True: host and port, as a server gave them, can be a place to connect to: both are there, fit
 * into a link and are printable, and the port is a number. */
bool rlock__is_place(const char *host, const char *port);

/* True: the link leads to that place. */
bool rlock__link_is_at(const struct rlock__link *link, const char *host, const char *port);

/* Adds a command to the request that goes out with the next steps. False: out of memory. */
bool rlock__link_ask_words(struct rlock__link *link, size_t count, const char *const *words);

/* Goes as far as it can, connecting first where needed. RLOCK__IO_DONE: all replies are there for
 * rlock__link_take_replies(). RLOCK__IO_WAIT: rlock__link_poll() says what for. Else it has failed,
 * and link->error says why. Without a request it is done when the link is ready. */
enum rlock__io rlock__link_step(struct rlock__link *link);

/* The replies to the finished request, some of them errors. They and the array are the caller's
 * from now on. */
rlock__reply **rlock__link_take_replies(struct rlock__link *link, size_t *count);

/* Fills in what the link waits for, and brings *again_ms forward to when it gives up by itself. */
void rlock__link_poll(const struct rlock__link *link, struct pollfd *out, int64_t *again_ms);

/* Stops waiting for the reply. What was not sent is dropped; a late reply is skipped. Closes a
 * connection after half a request, or one that is silent for longer than a reply may take. */
void rlock__link_abandon(struct rlock__link *link);

/* Gives up what is under way, with the reason in link->error, and closes the connection. */
void rlock__link_time_out(struct rlock__link *link);

/* Sends the request and waits for its replies. RLOCK_OK: they can be taken. RLOCK_AGAIN: not now,
 * or the limit has come. RLOCK_CANCELLED, or what does not pass: RLOCK_DENIED, RLOCK_UNAVAILABLE,
 * RLOCK_SYSTEM. The connection is closed after all but RLOCK_OK. */
enum rlock_status rlock__link_call(struct rlock__link *link, const struct rlock__limit *limit);

/* Asks one command with nothing asked before, and judges the answer: RLOCK_OK, or as
 * rlock__link_call() and rlock__reply_judge() say. *reply is the caller's; NULL: there is none. */
enum rlock_status rlock__link_query(struct rlock__link *link, size_t count,
                                    const char *const *words, const struct rlock__limit *limit,
                                    rlock__reply **reply);

/* --- connect.c: the way to a server that listens to us ---------------------------------------- */

/* Goes on to RLOCK__READY. RLOCK__IO_DONE: it is. RLOCK__IO_WAIT: for rlock__link_poll(). */
enum rlock__io rlock__link_connect(struct rlock__link *link);

/* Says why there is no connection, its time being over. */
void rlock__link_say_not_connected(struct rlock__link *link);

/* Sends. A server that turns us away (too many clients, protected mode) says why and closes: when
 * that was before we could send, what it said can be read all the same. As rlock__conn_send(). */
enum rlock__io rlock__link_send(struct rlock__link *link, struct rlock__request *request);

/* --- reply_error.c: what a server's error means for us ---------------------------------------- */

/* RLOCK_OK: no harm, the server asks for no password. RLOCK_AGAIN: it may pass, or we do not know
 * the text; the same request can be sent again. RLOCK_DENIED, RLOCK_WRONG_KIND. RLOCK_UNAVAILABLE:
 * it will not pass by itself. *plain: the text, or the same in plain words; borrowed. */
enum rlock_status rlock__reply_error_status(const char *text, const char **plain);

/* Where the error sends us: "MOVED 3999 10.0.0.1:6381", or "ASK ...", which is for once, after
 * ASKING. host: "" or "?": the host that said so; *port: borrowed from the text. False: nowhere. */
bool rlock__reply_error_place(const char *text, unsigned long *slot, char host[RLOCK__HOST_SIZE],
                              const char **port);

/* False: nor do we know what has come of the request. */
bool rlock__reply_error_known(const char *text);

/* True: nothing has come of the request: it was refused as a whole, and not by what a script met.
 */
bool rlock__reply_error_untouched(const char *text);

/* What a reply says: RLOCK_OK, or as above when it is an error; link->error has it. Where another
 * server may be the one to ask by now, the link is not trusted any more. */
enum rlock_status rlock__reply_judge(struct rlock__link *link, const rlock__reply *reply);

#endif
