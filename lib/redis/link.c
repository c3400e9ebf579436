/* link.c: one server: found, connected to, logged in to, and asked one thing at a time. */
#include "redis/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"

void rlock__link_init(struct rlock__link *link, const char *host, const char *port,
                      const struct rlock__access *access, struct rlock__error *error) {
    *link = (struct rlock__link){
        .access = access, .error = error, .look_up_again = true, .conn = RLOCK__CONN_INIT};
    (void)snprintf(link->host, sizeof link->host, "%s", host);
    (void)snprintf(link->port, sizeof link->port, "%s", port);
}

void rlock__link_like(struct rlock__link *link, const struct rlock__link *like,
                      const struct rlock__access *access, struct rlock__error *error) {
    rlock__link_init(link, like->host, like->port, access, error);
    link->addresses = like->addresses;
    link->look_up_again = like->addresses.count == 0;
    link->has_replica = like->has_replica;
    link->lacks_wait = like->lacks_wait;
}

bool rlock__link_is_at(const struct rlock__link *link, const char *host, const char *port) {
    return strcmp(link->host, host) == 0 && strcmp(link->port, port) == 0;
}

bool rlock__is_place(const char *host, const char *port) {
    char *end;
    if (*host == '\0' || strlen(host) >= RLOCK__HOST_SIZE || strlen(port) >= RLOCK__PORT_SIZE ||
        *port < '1' || *port > '9')
        return false;
    for (; *host != '\0'; host++) {
        if (*host <= ' ' || *host > '~')
            return false;
    }
    const long number = strtol(port, &end, 10);
    return *end == '\0' && number <= UINT16_MAX;
}

/* The connection goes, and with it what it may still bring; a request that was not sent stays. A
 * look-up that was cut off is not begun anew before the addresses that are known have been tried.
 */
static void hang_up(struct rlock__link *link) {
    if (link->stage == RLOCK__LOOKING_UP) {
        link->look_up_again = link->addresses.count == 0;
        rlock__lookup_drop(&link->lookup);
    } else if (link->stage == RLOCK__CONNECTING) {
        link->look_up_again = true;
    }
    rlock__conn_close(&link->conn);
    rlock__request_free(&link->log_in);
    link->by_ms = 0;
    link->owed = 0;
    link->stage = RLOCK__CLOSED;
    link->astray = false;
}

static void forget_request(struct rlock__link *link) {
    rlock__request_free(&link->request);
    for (size_t i = 0; i < link->got; i++)
        rlock__reply_free(link->replies[i]);
    free(link->replies);
    link->replies = NULL;
    link->expected = link->got = link->waited = 0;
}

rlock__reply **rlock__link_take_replies(struct rlock__link *link, size_t *count) {
    rlock__reply **replies = link->replies;
    *count = link->got;
    link->replies = NULL;
    link->got = 0;
    return replies;
}

void rlock__link_close(struct rlock__link *link) {
    hang_up(link);
    rlock__lookup_drop(&link->lookup);
    forget_request(link);
}

/* The connection has failed: by now the name may lead elsewhere, as when an address moves from a
 * master to the one that takes over. A look-up that still goes on is not begun anew for it. */
static void fail(struct rlock__link *link) {
    const bool was_there = link->stage > RLOCK__CONNECTING;
    hang_up(link);
    link->look_up_again = link->look_up_again || was_there;
}

void rlock__link_move(struct rlock__link *link, const char *host, const char *port) {
    if (rlock__link_is_at(link, host, port))
        return;
    rlock__link_close(link);
    (void)snprintf(link->host, sizeof link->host, "%s", host);
    (void)snprintf(link->port, sizeof link->port, "%s", port);
    link->addresses.count = 0;
    link->look_up_again = true;
}

bool rlock__link_ask_words(struct rlock__link *link, size_t count, const char *const *words) {
    if (link->request.bytes == NULL) /* what the last one has brought is of no use to this one */
        forget_request(link);
    if (link->unheard_ms == 0)
        link->unheard_ms = rlock_now_ms();
    rlock__reply **replies = realloc(link->replies, (link->expected + 1) * sizeof(rlock__reply *));
    if (replies != NULL)
        link->replies = replies;
    if (replies == NULL || !rlock__request_add(&link->request, count, words)) {
        rlock__error_set(link->error, "out of memory");
        return false;
    }
    link->expected++;
    return true;
}

/* --- the request ----------------------------------------------------------------------------- */

/* The next reply has its time from now on. */
static void note_progress(struct rlock__link *link) {
    link->by_ms = 0;
    link->moved = true;
}

/* Sends the request. RLOCK__IO_WAIT also at the moment at which it went out: the answer can't have
 * come yet, and to ask for it would cost a system call. */
static enum rlock__io send_request(struct rlock__link *link) {
    const bool begun = link->request.sent > 0 || link->conn.tls != NULL;
    const size_t sent = link->request.sent;
    const enum rlock__io io = rlock__link_send(link, &link->request);
    if (sent > 0 && link->request.sent > sent) /* the server takes it, and may be answering */
        note_progress(link);
    /* A part of a command is never carried out. */
    const bool in_part = io == RLOCK__IO_BROKEN && link->expected == 1;
    link->in_doubt = link->in_doubt || (link->request.sent > 0 && !in_part);
    if (io != RLOCK__IO_DONE || begun)
        return io;
    link->conn.events = POLLIN;
    return RLOCK__IO_WAIT;
}

/* What does not understand us hangs up at our first word, which is not this one after a log-in. */
static void suspect_tls(struct rlock__link *link) {
    const struct rlock__error why = *link->error;
    const bool logged_in = link->access->password != NULL || link->access->db != 0;
    if (!link->answered && !logged_in && link->conn.tls == NULL && *link->port != '\0')
        rlock__error_set(link->error,
                         "%s (if it speaks TLS, give rediss://, sentinels:// or clusters://)",
                         why.text);
}

/* A reply's time is the whole reply's, from when the connection is there, or the reply before. */
static enum rlock__io wait_on(struct rlock__link *link) {
    const int64_t now = rlock_now_ms();
    if (link->by_ms == 0)
        link->by_ms = link->access->answer_timeout_ms > 0
                          ? rlock__after_ms(now, link->access->answer_timeout_ms)
                          : RLOCK_FOREVER;
    if (now < link->by_ms)
        return RLOCK__IO_WAIT;
    rlock__error_set(link->error, "no answer in time");
    return RLOCK__IO_BROKEN;
}

/* All replies that the request is due; what was owed before is passed over. */
static enum rlock__io ask(struct rlock__link *link) {
    if (link->request.bytes == NULL)
        return RLOCK__IO_DONE;
    enum rlock__io io = send_request(link);
    if (io != RLOCK__IO_DONE)
        return io == RLOCK__IO_WAIT ? wait_on(link) : io;
    for (;;) {
        rlock__reply *reply = NULL;
        io = rlock__conn_receive(&link->conn, link->most, &reply, link->error);
        if (io == RLOCK__IO_BROKEN)
            suspect_tls(link);
        if (io != RLOCK__IO_DONE)
            return io == RLOCK__IO_WAIT ? wait_on(link) : io;
        link->answered = true;
        link->unheard_ms = 0;
        note_progress(link);
        if (link->owed > 0) {
            link->owed--;
            rlock__reply_free(reply);
            continue;
        }
        link->replies[link->got++] = reply;
        if (link->got < link->expected)
            continue;
        rlock__request_free(&link->request);
        link->expected = link->waited = 0;
        link->in_doubt = false;
        link->used = true;
        return RLOCK__IO_DONE;
    }
}

/* True: the request is for another connection: the server is not the one to ask, or has hung up
 * since the last request. Found out before the next one goes out, there is no doubt about that one.
 * A server that has said something unasked is as bad: it would be taken for the answer. */
static bool is_stale(struct rlock__link *link) {
    if (link->astray && link->request.sent == 0)
        return true;
    if (!link->used || link->owed > 0 || link->request.bytes == NULL || link->request.sent > 0)
        return false;
    struct rlock__error none;
    rlock__reply *unasked = NULL;
    const enum rlock__io io = rlock__conn_receive(&link->conn, 0, &unasked, &none);
    rlock__reply_free(unasked);
    return io != RLOCK__IO_WAIT;
}

enum rlock__io rlock__link_step(struct rlock__link *link) {
    enum rlock__io io;
    while ((io = rlock__link_connect(link)) == RLOCK__IO_DONE && is_stale(link)) {
        if (link->waited != 0) { /* WAIT says of another connection that all replicas have it */
            rlock__error_set(link->error, "the connection was lost");
            io = RLOCK__IO_BROKEN;
            break;
        }
        fail(link);
    }
    if (io == RLOCK__IO_DONE)
        io = ask(link);
    if (io != RLOCK__IO_DONE && io != RLOCK__IO_WAIT) {
        fail(link);
        forget_request(link);
    }
    return io;
}

void rlock__link_poll(const struct rlock__link *link, struct pollfd *out, int64_t *again_ms) {
    *out = (struct pollfd){.fd = link->conn.fd, .events = link->conn.events};
    if (link->stage == RLOCK__LOOKING_UP)
        *out = (struct pollfd){.fd = rlock__lookup_fd(link->lookup), .events = POLLIN};
    if (link->by_ms != 0)
        *again_ms = rlock__sooner_ms(*again_ms, link->by_ms);
}

/* Nothing has come for longer than a reply may take: the connection may be gone, and the server
 * well. */
static bool is_mute(const struct rlock__link *link) {
    const int64_t most_ms = link->access->answer_timeout_ms;
    const int64_t since_ms = link->unheard_ms > link->ready_ms ? link->unheard_ms : link->ready_ms;
    return most_ms > 0 && link->unheard_ms != 0 && link->stage == RLOCK__READY &&
           rlock_now_ms() >= rlock__after_ms(since_ms, most_ms);
}

void rlock__link_abandon(struct rlock__link *link) {
    /* TLS keeps a record that it could not write whole, and would send it before the next. */
    const bool begun =
        link->request.sent > 0 || (link->conn.tls != NULL && link->stage == RLOCK__READY);
    const bool part_of_it = begun && link->request.sent < link->request.size;
    if (part_of_it || is_mute(link))
        fail(link);
    else if (link->request.sent > 0)
        link->owed += link->expected - link->got;
    if (link->stage == RLOCK__READY)
        link->by_ms = 0;
    forget_request(link);
}

void rlock__link_time_out(struct rlock__link *link) {
    if (link->stage < RLOCK__AUTHENTICATING)
        rlock__link_say_not_connected(link);
    else
        rlock__error_set(link->error, "no answer in time");
    fail(link);
    forget_request(link);
}

enum rlock_status rlock__link_call(struct rlock__link *link, const struct rlock__limit *limit) {
    enum rlock__io io;
    while ((io = rlock__link_step(link)) == RLOCK__IO_WAIT) {
        struct pollfd fds[2];
        int64_t again_ms = RLOCK_FOREVER;
        rlock__link_poll(link, fds, &again_ms);
        const enum rlock_status status = rlock__poll_any(fds, 1, again_ms, limit);
        if (status != RLOCK_OK) {
            rlock__link_time_out(link);
            return status;
        }
    }
    return rlock__io_status(io);
}

enum rlock_status rlock__link_query(struct rlock__link *link, size_t count,
                                    const char *const *words, const struct rlock__limit *limit,
                                    rlock__reply **reply) {
    *reply = NULL;
    if (!rlock__link_ask_words(link, count, words))
        return RLOCK_SYSTEM;
    const enum rlock_status status = rlock__link_call(link, limit);
    if (status != RLOCK_OK || link->got == 0)
        return status;
    *reply = link->replies[0];
    link->replies[0] = NULL;
    return rlock__reply_judge(link, *reply);
}
