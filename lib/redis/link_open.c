/* link_open.c: the way to a server that listens to us: look-up, connection, TLS, log-in. */
#include "redis/link_open.h"

#include <stdio.h>
#include <string.h>

#include "os/clock.h"
#include "redis/refusal.h"

enum {
    GLANCE_MS = 500, /* for looking up a name that has led somewhere */
    STALE_MS = 5000, /* what a look-up says that was begun so long ago */
};

enum rlock_status rlock__of_conn(enum rlock_status status) {
    return status == RLOCK_AGAIN ? RLOCK__WAIT : status == RLOCK_UNAVAILABLE ? RLOCK_AGAIN : status;
}

void rlock__link_look_up_again(struct rlock__link *link) {
    link->look_up_again = true;
}

void rlock__link_distrust(struct rlock__link *link) {
    link->astray = link->stage == RLOCK__READY;
    rlock__link_look_up_again(link);
}

/* It is the right one to ask, at another time. All else that may pass (it is a replica, cut off
 * from its replicas, loading) may also last, while another one has taken its place. */
static bool is_only_busy(const char *text) {
    static const char *const words[] = {"BUSY", "TRYAGAIN", "UNBLOCKED", "OOM"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    }
    return false;
}

enum rlock_status rlock__link_judge(struct rlock__link *link, const rlock__reply *reply) {
    const char *text = rlock__reply_error(reply);
    if (text == NULL)
        return RLOCK_OK;
    const char *plain;
    const enum rlock_status status = rlock__refusal(text, &plain);
    rlock__error_set(&link->error, "%s", plain);
    char *where = strstr(link->error.text, " script: "); /* its SHA-1 and line: no use to anybody */
    if (where != NULL)
        *where = '\0';
    if (status == RLOCK_AGAIN && !is_only_busy(text))
        rlock__link_distrust(link);
    return status;
}

enum rlock_status rlock__link_send(struct rlock__link *link, struct rlock__request *request) {
    struct rlock__error none;
    rlock__reply *reply = NULL;
    enum rlock_status status = rlock__conn_send(&link->conn, request, &link->error);
    if (status != RLOCK_UNAVAILABLE || link->owed > 0 ||
        rlock__conn_receive(&link->conn, &reply, &none) != RLOCK_OK)
        return status;
    link->heard = link->answered = true;
    if (rlock__link_judge(link, reply) == RLOCK_DENIED)
        status = RLOCK_DENIED;
    rlock__reply_free(reply);
    return status;
}

/* A name that has led somewhere gets a moment only, for it most likely still does; the look-up goes
 * on beside the connection to there, and its answer serves the next one. */
static enum rlock_status begin_look_up(struct rlock__link *link) {
    const int64_t now = rlock_now_ms();
    if (link->lookup != NULL && now > link->lookup_begun_ms + STALE_MS) {
        rlock__lookup_drop(link->lookup);
        link->lookup = NULL;
    }
    if (link->lookup == NULL) {
        link->lookup = rlock__lookup_start(link->host, link->port);
        link->lookup_begun_ms = now;
    }
    if (link->lookup == NULL) {
        rlock__error_set(&link->error, "no thread for looking up %s", link->host);
        return RLOCK_SYSTEM;
    }
    link->lookup_by_ms = link->connect_by_ms;
    if (link->addresses.count > 0)
        link->lookup_by_ms = rlock__sooner_ms(link->connect_by_ms, now + GLANCE_MS);
    link->stage = RLOCK__LOOKING_UP;
    return RLOCK_OK;
}

static enum rlock_status begin(struct rlock__link *link) {
    link->connect_by_ms = rlock__after_ms(rlock_now_ms(), link->access->connect_timeout_ms);
    link->tried = 0;
    link->stage = RLOCK__CONNECTING;
    if (!link->look_up_again)
        return RLOCK_OK;
    if (*link->port == '\0') {
        if (rlock__address_of_path(&link->addresses, link->host))
            return RLOCK_OK;
        rlock__error_set(&link->error, "the path of a socket has at most 107 bytes");
        return RLOCK_UNAVAILABLE;
    }
    return rlock__address_of_number(&link->addresses, link->host, link->port) ? RLOCK_OK
                                                                              : begin_look_up(link);
}

static bool too_late(const struct rlock__link *link) {
    return rlock_now_ms() >= link->connect_by_ms;
}

/* A name that can't be looked up any more keeps the addresses it had. */
static enum rlock_status look_up(struct rlock__link *link) {
    struct pollfd about = {.fd = rlock__lookup_fd(link->lookup), .events = POLLIN};
    struct rlock__addresses found = {.count = 0};
    const bool answered = poll(&about, 1, 0) > 0;
    if (!answered && rlock_now_ms() < link->lookup_by_ms)
        return RLOCK__WAIT;
    enum rlock_status status = RLOCK_AGAIN;
    if (answered) {
        status = rlock__of_conn(rlock__lookup_take(link->lookup, &found, &link->error));
        link->lookup = NULL;
    } else {
        rlock__error_set(&link->error, "looking up the host took too long");
    }
    if (status == RLOCK_OK)
        link->addresses = found;
    if (link->addresses.count == 0)
        return status;
    link->stage = RLOCK__CONNECTING;
    return RLOCK_OK;
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

void rlock__link_say_not_connected(struct rlock__link *link) {
    rlock__error_set(&link->error, "%s",
                     link->conn.tls != NULL
                         ? "no TLS handshake in time (if it does not speak TLS, give redis://)"
                         : "no connection in time");
}

static enum rlock_status connect_on(struct rlock__link *link) {
    for (;;) {
        enum rlock_status status = link->conn.fd < 0 ? connect_next(link) : RLOCK_OK;
        if (status != RLOCK_OK)
            return rlock__of_conn(status);
        status = rlock__conn_finish(&link->conn, link->access->tls, link->host, &link->error);
        if (status == RLOCK_OK) {
            link->look_up_again = false;
            link->stage = RLOCK__AUTHENTICATING;
            return RLOCK_OK;
        }
        if (status == RLOCK_AGAIN && rlock_now_ms() < link->address_by_ms)
            return RLOCK__WAIT;
        if (status == RLOCK_AGAIN)
            rlock__link_say_not_connected(link);
        else if (status != RLOCK_UNAVAILABLE)
            return status;
        rlock__conn_close(&link->conn);
    }
}

/* A log-in command's answer must be +OK: a lock must not be taken as the wrong user or in the
 * wrong database. */
static enum rlock_status log_in_step(struct rlock__link *link, const char *const *words,
                                     size_t count) {
    if (link->log_in.bytes == NULL && !rlock__request_add_words(&link->log_in, count, words))
        return RLOCK_SYSTEM;
    rlock__reply *reply = NULL;
    enum rlock_status status = rlock__link_send(link, &link->log_in);
    if (status == RLOCK_OK)
        status = rlock__conn_receive(&link->conn, &reply, &link->error);
    if (status == RLOCK_AGAIN && too_late(link)) {
        rlock__error_set(&link->error, "no answer in time");
        return RLOCK_AGAIN;
    }
    if (status != RLOCK_OK)
        return rlock__of_conn(status);
    rlock__request_free(&link->log_in);
    link->heard = true;
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
        link->ready_ms = rlock_now_ms();
        link->used = false;
    }
    return status;
}

enum rlock_status rlock__link_open(struct rlock__link *link) {
    enum rlock_status status = RLOCK_OK;
    while (status == RLOCK_OK) {
        switch (link->stage) {
        case RLOCK__CLOSED: status = begin(link); break;
        case RLOCK__LOOKING_UP: status = look_up(link); break;
        case RLOCK__CONNECTING: status = connect_on(link); break;
        case RLOCK__AUTHENTICATING: status = authenticate(link); break;
        case RLOCK__SELECTING: status = select_db(link); break;
        case RLOCK__READY: return RLOCK_OK;
        }
    }
    return status;
}
