/* link.c: one server: found, connected to, logged in to, and asked one thing at a time. */
#include "link.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "refusal.h"

void rlock__link_init(struct rlock__link *link, const char *host, const char *port,
                      const struct rlock__access *access) {
    *link = (struct rlock__link){.access = access, .look_up_again = true, .conn = RLOCK__CONN_INIT};
    (void)snprintf(link->host, sizeof link->host, "%s", host);
    (void)snprintf(link->port, sizeof link->port, "%s", port);
}

void rlock__link_like(struct rlock__link *link, const struct rlock__link *like) {
    if (like->addresses.count == 0 || !rlock__link_same(link, like))
        return;
    link->addresses = like->addresses;
    link->look_up_again = false;
}

bool rlock__link_same(const struct rlock__link *a, const struct rlock__link *b) {
    return strcmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0;
}

/* The connection goes, and with it what it may still bring; a request that was not sent stays.
 * Addresses that did not work are looked up again; a look-up that was cut off is not begun anew
 * before those that are known have been tried. */
static void hang_up(struct rlock__link *link) {
    if (link->stage == RLOCK__LOOKING_UP)
        link->look_up_again = link->addresses.count == 0;
    else if (link->stage == RLOCK__CONNECTING)
        link->look_up_again = true;
    rlock__lookup_drop(link->lookup);
    link->lookup = NULL;
    rlock__conn_close(&link->conn);
    rlock__request_free(&link->log_in);
    link->owed = 0;
    link->stage = RLOCK__CLOSED;
}

void rlock__link_close(struct rlock__link *link) {
    hang_up(link);
    rlock__request_free(&link->request);
    link->expected = 0;
}

void rlock__link_move(struct rlock__link *link, const char *host, const char *port) {
    if (strcmp(link->host, host) == 0 && strcmp(link->port, port) == 0)
        return;
    rlock__link_close(link);
    (void)snprintf(link->host, sizeof link->host, "%s", host);
    (void)snprintf(link->port, sizeof link->port, "%s", port);
    link->addresses.count = 0;
    link->look_up_again = true;
}

bool rlock__link_ask(struct rlock__link *link, size_t count, const struct rlock__arg *args) {
    if (!rlock__request_add(&link->request, count, args)) {
        rlock__error_set(&link->error, "no memory");
        return false;
    }
    link->expected++;
    return true;
}

static bool add_words(struct rlock__request *request, size_t count, const char *const *words) {
    enum { WORDS_MAX = 4 };
    struct rlock__arg args[WORDS_MAX];
    for (size_t i = 0; i < count && i < WORDS_MAX; i++)
        args[i] = (struct rlock__arg){words[i], strlen(words[i])};
    return rlock__request_add(request, count, args);
}

bool rlock__link_ask_words(struct rlock__link *link, size_t count, const char *const *words) {
    if (!add_words(&link->request, count, words)) {
        rlock__error_set(&link->error, "no memory");
        return false;
    }
    link->expected++;
    return true;
}

enum rlock_status rlock__link_judge(struct rlock__link *link, const rlock__reply *reply) {
    const char *text = rlock__reply_error(reply);
    if (text == NULL)
        return RLOCK_OK;
    const char *plain;
    const enum rlock_status status = rlock__refusal(text, &plain);
    rlock__error_set(&link->error, "%s", plain);
    return status;
}

/* Sends. A server that turns us away (too many clients, protected mode) says why and closes: when
 * that was before we could send, what it said can be read all the same. */
static enum rlock_status send_on(struct rlock__link *link, struct rlock__request *request) {
    struct rlock__error none;
    rlock__reply *reply = NULL;
    enum rlock_status status = rlock__conn_send(&link->conn, request, &link->error);
    if (status != RLOCK_UNAVAILABLE || link->owed > 0 ||
        rlock__conn_receive(&link->conn, &reply, &none) != RLOCK_OK)
        return status;
    link->answered = true;
    if (rlock__link_judge(link, reply) == RLOCK_DENIED)
        status = RLOCK_DENIED;
    rlock__reply_free(reply);
    return status;
}

/* --- the way to a server that listens to us -------------------------------------------------- */

/* What a stage says: RLOCK_OK: on to the next; WAIT: for rlock__link_poll()'s descriptor; else the
 * link's end, RLOCK_AGAIN meaning that it may come to life again. */
#define WAIT RLOCK_BUSY

/* The same of what the connection says, which is dead at its first failure. */
static enum rlock_status of_conn(enum rlock_status status) {
    return status == RLOCK_AGAIN ? WAIT : status == RLOCK_UNAVAILABLE ? RLOCK_AGAIN : status;
}

static enum rlock_status begin(struct rlock__link *link) {
    link->connect_by_ms = rlock__after_ms(rlock_now_ms(), link->access->connect_timeout_ms);
    link->tried = 0;
    link->stage = RLOCK__CONNECTING;
    if (!link->look_up_again)
        return RLOCK_OK;
    if (*link->port == '\0')
        rlock__address_of_path(&link->addresses, link->host);
    else if (!rlock__address_of_number(&link->addresses, link->host, link->port)) {
        link->lookup = rlock__lookup_start(link->host, link->port);
        link->stage = RLOCK__LOOKING_UP;
        if (link->lookup == NULL) {
            rlock__error_set(&link->error, "no thread for looking up %s", link->host);
            return RLOCK_SYSTEM;
        }
    }
    return RLOCK_OK;
}

static bool too_late(const struct rlock__link *link) {
    return rlock_now_ms() >= link->connect_by_ms;
}

/* A name that can't be looked up any more keeps the addresses it had. */
static enum rlock_status look_up(struct rlock__link *link) {
    struct pollfd about = {.fd = rlock__lookup_fd(link->lookup), .events = POLLIN};
    struct rlock__addresses found = {.count = 0};
    const bool answered = poll(&about, 1, 0) > 0;
    if (!answered && !too_late(link))
        return WAIT;
    enum rlock_status status = RLOCK_AGAIN;
    if (answered)
        status = of_conn(rlock__lookup_take(link->lookup, &found, &link->error));
    else
        rlock__lookup_drop(link->lookup);
    link->lookup = NULL;
    if (!answered)
        rlock__error_set(&link->error, "looking up the host took too long");
    if (status == RLOCK_OK)
        link->addresses = found;
    link->stage = RLOCK__CONNECTING;
    return link->addresses.count > 0 ? RLOCK_OK : status;
}

/* A silent address must not eat the time of those behind it. */
static void share_time(struct rlock__link *link) {
    const int64_t now = rlock_now_ms();
    const int64_t left = link->connect_by_ms - now;
    const int64_t count = (int64_t)(link->addresses.count - link->tried);
    link->address_by_ms = link->connect_by_ms == RLOCK_FOREVER || left <= 0 ? link->connect_by_ms
                                                                            : now + left / count;
}

static enum rlock_status connect_next(struct rlock__link *link) {
    enum rlock_status status = RLOCK_UNAVAILABLE;
    if (link->tried == link->addresses.count && link->tried == 0)
        rlock__error_set(&link->error, "the host has no address");
    while (status == RLOCK_UNAVAILABLE && link->tried < link->addresses.count) {
        share_time(link);
        status = rlock__conn_start(
            &link->conn, (const struct sockaddr *)&link->addresses.at[link->tried].address,
            link->addresses.at[link->tried].length, &link->error);
        link->tried++;
    }
    return status;
}

static void say_not_connected(struct rlock__link *link) {
    rlock__error_set(&link->error, "%s",
                     link->conn.tls != NULL
                         ? "no TLS handshake in time (if it does not speak TLS, give redis://)"
                         : "no connection in time");
}

static enum rlock_status connect_on(struct rlock__link *link) {
    for (;;) {
        enum rlock_status status = link->conn.fd < 0 ? connect_next(link) : RLOCK_OK;
        if (status != RLOCK_OK)
            return of_conn(status);
        status = rlock__conn_finish(&link->conn, link->access->tls, link->host, &link->error);
        if (status == RLOCK_OK) {
            link->look_up_again = false;
            link->stage = RLOCK__AUTHENTICATING;
            return RLOCK_OK;
        }
        if (status == RLOCK_AGAIN && rlock_now_ms() < link->address_by_ms)
            return WAIT;
        if (status == RLOCK_AGAIN)
            say_not_connected(link);
        else if (status != RLOCK_UNAVAILABLE)
            return status;
        rlock__conn_close(&link->conn);
    }
}

/* A log-in command's answer must be +OK: a lock must not be taken as the wrong user or in the
 * wrong database. */
static enum rlock_status log_in_step(struct rlock__link *link, const char *const *words,
                                     size_t count) {
    if (link->log_in.bytes == NULL && !add_words(&link->log_in, count, words))
        return RLOCK_SYSTEM;
    rlock__reply *reply = NULL;
    enum rlock_status status = send_on(link, &link->log_in);
    if (status == RLOCK_OK)
        status = rlock__conn_receive(&link->conn, &reply, &link->error);
    if (status == RLOCK_AGAIN && too_late(link)) {
        rlock__error_set(&link->error, "no answer in time");
        return RLOCK_AGAIN;
    }
    if (status != RLOCK_OK)
        return of_conn(status);
    rlock__request_free(&link->log_in);
    link->answered = true;
    status = rlock__link_judge(link, reply);
    if (status == RLOCK_UNAVAILABLE)
        status = RLOCK_DENIED; /* whatever it has against us */
    if (rlock__reply_error(reply) == NULL && !rlock__reply_is_ok(reply)) {
        rlock__error_set(&link->error, "the server's answer to %s can't be understood", words[0]);
        status = RLOCK_UNAVAILABLE;
    }
    rlock__reply_free(reply);
    return status;
}

static enum rlock_status authenticate(struct rlock__link *link) {
    const struct rlock__access *access = link->access;
    const bool named = access->user != NULL;
    const char *words[] = {"AUTH", named ? access->user : access->password, access->password};
    enum rlock_status status = RLOCK_OK;
    if (access->password != NULL)
        status = log_in_step(link, words, named ? 3 : 2);
    if (status == RLOCK_OK)
        link->stage = RLOCK__SELECTING;
    return status;
}

static enum rlock_status select_db(struct rlock__link *link) {
    char db[16];
    const char *words[] = {"SELECT", db};
    (void)snprintf(db, sizeof db, "%d", link->access->db);
    const enum rlock_status status = link->access->db != 0 ? log_in_step(link, words, 2) : RLOCK_OK;
    if (status == RLOCK_OK) {
        link->stage = RLOCK__READY;
        link->used = false;
    }
    return status;
}

/* --- the request ----------------------------------------------------------------------------- */

/* Sends the request; true: it is out, and this is not the moment at which it went. An answer to
 * what has just been sent can't have come yet: to ask for it would cost a system call. */
static bool sent_before(struct rlock__link *link, enum rlock_status *status) {
    const bool begun = link->request.sent > 0 || link->conn.tls != NULL;
    *status = of_conn(send_on(link, &link->request));
    if (*status == RLOCK_AGAIN) /* a part of a request is never carried out */
        return false;
    link->in_doubt = link->in_doubt || link->request.sent > 0;
    if (*status == RLOCK_OK && !begun) {
        link->conn.events = POLLIN;
        *status = WAIT;
    }
    return *status == RLOCK_OK;
}

/* What does not understand us hangs up at our first word. */
static void suspect_tls(struct rlock__link *link) {
    const struct rlock__error why = link->error;
    if (!link->answered && link->conn.tls == NULL && *link->port != '\0')
        rlock__error_set(&link->error, "%s (if it speaks TLS, give rediss://)", why.text);
}

/* The last of the replies that the request is due; what was owed before is passed over. */
static enum rlock_status ask(struct rlock__link *link, rlock__reply **out) {
    enum rlock_status status = RLOCK_OK;
    if (link->request.bytes == NULL)
        return RLOCK_OK;
    if (!sent_before(link, &status))
        return status;
    for (;;) {
        rlock__reply *reply = NULL;
        status = of_conn(rlock__conn_receive(&link->conn, &reply, &link->error));
        if (status == RLOCK_AGAIN)
            suspect_tls(link);
        if (status != RLOCK_OK)
            return status;
        link->answered = true;
        const bool is_it = link->owed == 0 && --link->expected == 0;
        if (is_it) {
            rlock__request_free(&link->request);
            link->in_doubt = false;
            link->used = true;
            *out = reply;
            return RLOCK_OK;
        }
        link->owed -= link->owed > 0;
        rlock__reply_free(reply);
    }
}

/* True: the server has hung up since the last request. Found out before the next one goes out,
 * there is no doubt about that one. */
static bool has_hung_up(struct rlock__link *link) {
    if (!link->used || link->owed > 0 || link->request.bytes == NULL || link->request.sent > 0)
        return false;
    rlock__reply *unasked = NULL;
    const enum rlock_status status = rlock__conn_receive(&link->conn, &unasked, &link->error);
    rlock__reply_free(unasked);
    return status != RLOCK_OK && status != RLOCK_AGAIN;
}

static enum rlock_status step(struct rlock__link *link, rlock__reply **reply) {
    enum rlock_status status = RLOCK_OK;
    while (status == RLOCK_OK) {
        switch (link->stage) {
        case RLOCK__CLOSED: status = begin(link); break;
        case RLOCK__LOOKING_UP: status = look_up(link); break;
        case RLOCK__CONNECTING: status = connect_on(link); break;
        case RLOCK__AUTHENTICATING: status = authenticate(link); break;
        case RLOCK__SELECTING: status = select_db(link); break;
        case RLOCK__READY:
            if (!has_hung_up(link))
                return ask(link, reply);
            hang_up(link);
            break;
        }
    }
    return status;
}

bool rlock__link_step(struct rlock__link *link, enum rlock_status *status, rlock__reply **reply) {
    *reply = NULL;
    *status = step(link, reply);
    if (*status == WAIT)
        return false;
    if (*status == RLOCK_OK)
        return true;
    rlock__link_close(link);
    return true;
}

void rlock__link_poll(const struct rlock__link *link, struct pollfd *out, int64_t *deadline_ms) {
    int64_t by_ms = RLOCK_FOREVER;
    *out = (struct pollfd){.fd = link->conn.fd, .events = link->conn.events};
    if (link->stage == RLOCK__LOOKING_UP)
        *out = (struct pollfd){.fd = rlock__lookup_fd(link->lookup), .events = POLLIN};
    if (link->stage == RLOCK__CONNECTING)
        by_ms = link->address_by_ms;
    else if (link->stage < RLOCK__READY)
        by_ms = link->connect_by_ms;
    if (by_ms < *deadline_ms)
        *deadline_ms = by_ms;
}

void rlock__link_abandon(struct rlock__link *link) {
    const bool part_of_it = link->request.sent > 0 && link->request.sent < link->request.size;
    if (part_of_it)
        hang_up(link);
    else if (link->request.sent > 0)
        link->owed += link->expected;
    rlock__request_free(&link->request);
    link->expected = 0;
}

void rlock__link_time_out(struct rlock__link *link) {
    if (link->stage < RLOCK__AUTHENTICATING)
        say_not_connected(link);
    else
        rlock__error_set(&link->error, "no answer in time");
    rlock__link_close(link);
}

enum rlock_status rlock__link_call(struct rlock__link *link, const struct rlock__limit *limit,
                                   rlock__reply **reply) {
    enum rlock_status status;
    while (!rlock__link_step(link, &status, reply)) {
        struct pollfd about;
        struct rlock__limit bound = *limit;
        rlock__link_poll(link, &about, &bound.deadline_ms);
        status = rlock__poll(about.fd, about.events, &bound);
        if (status == RLOCK_CANCELLED ||
            (status == RLOCK_AGAIN && rlock_now_ms() >= limit->deadline_ms)) {
            rlock__link_time_out(link);
            return status;
        }
    }
    return status;
}
