/* url.c: reads a server's URL (RFC 3986; the redis scheme as registered with IANA). */
#include "redis/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/error.h"

enum { DB_MAX = 1000000, UNIX_PATH_SIZE = 108 };

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX in place. False: a broken escape, or one that stands for a NUL or a control. */
static bool percent_decode(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        int high = hex_digit(from[1]);
        int low = high < 0 ? -1 : hex_digit(from[2]);
        if (low < 0 || rlock__is_control((char)(high << 4 | low)))
            return false;
        *to++ = (char)(high << 4 | low);
        from += 2;
    }
    *to = '\0';
    return true;
}

/* A decimal number of at most max; -1: it is none. */
static int to_number(const char *text, int max) {
    int value = 0;
    if (*text == '\0')
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        value = value * 10 + (*text - '0');
        if (value > max)
            return -1;
    }
    return value;
}

static bool has_control(const char *text) {
    while (*text != '\0' && !rlock__is_control(*text))
        text++;
    return *text != '\0';
}

static bool fail(struct rlock__error *error, const char *why) {
    rlock__error_set(error, "cannot read the server's URL: %s", why);
    return false;
}

static bool parse_db(struct rlock__server *out, const char *text, struct rlock__error *error) {
    out->db = to_number(text, DB_MAX);
    return out->db >= 0 || fail(error, "the database must be a number such as 0");
}

static bool parse_userinfo(struct rlock__server *out, char *userinfo, struct rlock__error *error) {
    char *colon = strchr(userinfo, ':');
    if (colon != NULL) {
        *colon = '\0';
        out->password = colon + 1;
        if (!percent_decode(colon + 1))
            return fail(error, "broken %XX in the password");
    }
    if (!percent_decode(userinfo))
        return fail(error, "broken %XX in the user");
    out->user = *userinfo != '\0' ? userinfo : NULL;
    return true;
}

/* One host, with its port or the usual one. */
static bool parse_host(struct rlock__server *out, char *host, const char *usual_port,
                       struct rlock__error *error) {
    char *port = NULL;
    if (strpbrk(host, "?#") != NULL)
        return fail(error, "after the host only :PORT and /DB may follow");
    if (*host == '[') {
        char *end = strchr(++host, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return fail(error, "an IPv6 address stands in brackets, as in redis://[::1]:6379");
        port = end[1] == ':' ? end + 2 : NULL;
        *end = '\0';
    } else {
        port = strchr(host, ':');
        if (port != NULL)
            *port++ = '\0';
        if (port != NULL && strchr(port, ':') != NULL)
            return fail(error, "an IPv6 address stands in brackets, as in redis://[::1]:6379");
    }
    if (!percent_decode(host)) /* a zone: [fe80::1%25eth0] */
        return fail(error, "broken %XX in the host");
    if (*host == '\0')
        return fail(error, out->topology == RLOCK__SENTINEL
                               ? "no host; give one, as in sentinel://HOST:26379,HOST2/NAME"
                           : out->topology == RLOCK__CLUSTER
                               ? "no host; give one, as in cluster://HOST:6379,HOST2"
                               : "no host; give one, as in redis://HOST:6379/0");
    if (port != NULL && to_number(port, 65535) < 1)
        return fail(error, "the port must be a number from 1 to 65535");
    out->hosts[out->host_count++] =
        (struct rlock__host){.name = host, .port = port != NULL ? port : usual_port};
    return true;
}

static bool parse_hosts(struct rlock__server *out, char *hosts, const char *usual_port,
                        struct rlock__error *error) {
    char *next;
    for (; hosts != NULL; hosts = next) {
        next = strchr(hosts, ',');
        if (next != NULL)
            *next++ = '\0';
        if (out->host_count == RLOCK__HOSTS_MAX)
            return fail(error, "more than 16 hosts: some of them are enough to find the others");
        if (!parse_host(out, hosts, usual_port, error))
            return false;
    }
    return true;
}

/* Cuts off what stands before the hosts and behind them; *below is what follows the slash, NULL:
 * none. */
static bool parse_around(struct rlock__server *out, char **rest, char **below,
                         struct rlock__error *error) {
    char *slash = strchr(*rest, '/');
    char *at = strrchr(*rest, '@');
    if (at != NULL && slash != NULL && slash < at)
        slash = strchr(at, '/'); /* a raw '/' in the password */
    if (slash != NULL)
        *slash++ = '\0';
    *below = slash;
    if (at == NULL)
        return true;
    *at = '\0';
    char *userinfo = *rest;
    *rest = at + 1;
    return parse_userinfo(out, userinfo, error);
}

static bool parse_redis(struct rlock__server *out, char *rest, struct rlock__error *error) {
    char *db;
    if (!parse_around(out, &rest, &db, error))
        return false;
    if (db != NULL && *db != '\0' && !parse_db(out, db, error))
        return false;
    if (strchr(rest, ',') != NULL)
        return fail(error, "one host; give --server several times for a lock on several servers");
    return parse_host(out, rest, "6379", error);
}

static bool parse_sentinel(struct rlock__server *out, char *rest, struct rlock__error *error) {
    char *name;
    if (!parse_around(out, &rest, &name, error))
        return false;
    char *db = name != NULL ? strchr(name, '/') : NULL;
    if (db != NULL)
        *db++ = '\0';
    if (name == NULL || *name == '\0')
        return fail(error, "no master's name; give it, as in sentinel://HOST:26379,HOST2/NAME");
    if (!percent_decode(name))
        return fail(error, "broken %XX in the master's name");
    if (db != NULL && *db != '\0' && !parse_db(out, db, error))
        return false;
    out->master = name;
    return parse_hosts(out, rest, "26379", error);
}

static bool parse_cluster(struct rlock__server *out, char *rest, struct rlock__error *error) {
    char *db;
    if (!parse_around(out, &rest, &db, error))
        return false;
    if (db != NULL && *db != '\0' && strcmp(db, "0") != 0)
        return fail(error, "a cluster has one database: leave out /DB");
    return parse_hosts(out, rest, "6379", error);
}

static bool parse_unix(struct rlock__server *out, char *path, struct rlock__error *error) {
    char *query = strchr(path, '?');
    if (query != NULL) {
        *query++ = '\0';
        if (strncmp(query, "db=", 3) != 0)
            return fail(error, "after the socket's path only ?db=N may follow");
        if (!parse_db(out, query + 3, error))
            return false;
    }
    if (!percent_decode(path))
        return fail(error, "broken %XX in the path");
    if (*path != '/')
        return fail(error, "a socket's path is absolute, as in unix:///run/redis.sock");
    if (strlen(path) >= UNIX_PATH_SIZE)
        return fail(error, "the socket's path is longer than the system's 107 bytes");
    out->path = path;
    return true;
}

/* The opposite of percent_decode, for what does not print and what is reserved at that place.
 * Returns the end of what it has written. */
static char *percent_encode(char *to, const char *text, const char *reserved) {
    for (; *text != '\0'; text++) {
        if (*text > ' ' && *text < 127 && strchr(reserved, *text) == NULL)
            *to++ = *text;
        else
            to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*text);
    }
    *to = '\0';
    return to;
}

static char *write_host(char *to, const struct rlock__host *host) {
    const bool is_ipv6 = strchr(host->name, ':') != NULL;
    to = stpcpy(to, is_ipv6 ? "[" : "");
    to = percent_encode(to, host->name, "%,?#@/[]");
    return stpcpy(stpcpy(stpcpy(to, is_ipv6 ? "]" : ""), ":"), host->port);
}

/* What is shown leads to the same server: a nested rlock gets it. */
static bool redact(struct rlock__server *out, const char *scheme) {
    static const size_t punctuation = 32, port_size = 8;
    /* Every byte may become three; usual ports and their colons come on top. */
    char *to = out->redacted =
        malloc(strlen(scheme) + 3 * out->text_size + punctuation + RLOCK__HOSTS_MAX * port_size);
    if (to == NULL)
        return false;
    to = stpcpy(to, scheme);
    if (out->user != NULL)
        to = stpcpy(percent_encode(to, out->user, "%?#@:[]/"), "@");
    if (out->path != NULL)
        to = percent_encode(to, out->path, "%?#");
    for (size_t i = 0; i < out->host_count; i++)
        to = write_host(stpcpy(to, i > 0 ? "," : ""), &out->hosts[i]);
    if (out->master != NULL)
        to = percent_encode(stpcpy(to, "/"), out->master, "%?#@/");
    if (out->db != 0)
        (void)sprintf(to, "%s%d", out->path != NULL ? "?db=" : "/", out->db);
    return true;
}

/* HOST:PORT[/DB], or a HOST that no other word is likely to be. */
static bool is_address(const char *text) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    const size_t host = *text == '[' ? strcspn(text, "]") + 1 : strspn(text, letters);
    const char *behind = text + strnlen(text, host);
    if (*behind == ':') {
        const size_t port = strspn(++behind, "0123456789");
        behind += port;
        return host > 0 && port > 0 && (*behind == '\0' || *behind == '/');
    }
    return host > 0 && *behind == '\0' &&
           (strchr(text, '.') != NULL || strcmp(text, "localhost") == 0);
}

static bool is_socket(const char *text) {
    static const char ending[] = ".sock";
    const size_t length = strlen(text), less = sizeof ending - 1;
    return length > less && strcmp(text + length - less, ending) == 0 &&
           strstr(text, "://") == NULL;
}

/* What redis-cli takes behind -h and -p, or -s, has no scheme. Nothing with an '@' is repeated: a
 * password may stand before it. */
static bool fail_without_scheme(const char *url, struct rlock__error *error) {
    const bool secret = strchr(url, '@') != NULL;
    if (!secret && (*url == '/' || (!is_socket(url) && is_address(url)))) {
        rlock__error_set(error, "cannot read the server's URL: did you mean %s%s?",
                         *url == '/' ? "unix://" : "redis://", url);
        return false;
    }
    if (!secret && is_socket(url))
        return fail(error, "a socket's path is absolute, as in unix:///run/redis.sock");
    return fail(error, "it must begin with redis://, rediss://, unix://, sentinel://, "
                       "sentinels://, cluster:// or clusters:// (rlock itself also knows local:)");
}

static enum rlock_status no_memory(struct rlock__error *error) {
    rlock__error_set(error, "out of memory");
    return RLOCK_SYSTEM;
}

enum rlock_status rlock__server_parse(struct rlock__server *out, const char *url,
                                      struct rlock__error *error) {
    static const struct {
        const char *scheme;
        enum rlock__topology topology;
        bool tls;
        bool (*parse)(struct rlock__server *, char *, struct rlock__error *);
    } schemes[] = {
        {"redis://", RLOCK__SINGLE, false, parse_redis},
        {"rediss://", RLOCK__SINGLE, true, parse_redis},
        {"unix://", RLOCK__SINGLE, false, parse_unix},
        {"sentinel://", RLOCK__SENTINEL, false, parse_sentinel},
        {"sentinels://", RLOCK__SENTINEL, true, parse_sentinel},
        {"cluster://", RLOCK__CLUSTER, false, parse_cluster},
        {"clusters://", RLOCK__CLUSTER, true, parse_cluster},
    };
    *out = (struct rlock__server){.db = 0};
    if (has_control(url)) {
        rlock__error_set(error, "there is a control character in it");
        return RLOCK_INVALID;
    }
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const size_t length = strlen(schemes[i].scheme);
        if (strncmp(url, schemes[i].scheme, length) != 0)
            continue;
        out->topology = schemes[i].topology;
        out->tls = schemes[i].tls;
        out->text_size = strlen(url + length) + 1;
        out->text = strdup(url + length);
        if (out->text == NULL)
            return no_memory(error);
        const enum rlock_status status = !schemes[i].parse(out, out->text, error) ? RLOCK_INVALID
                                         : redact(out, schemes[i].scheme)         ? RLOCK_OK
                                                                          : no_memory(error);
        if (status != RLOCK_OK)
            rlock__server_free(out);
        return status;
    }
    (void)fail_without_scheme(url, error);
    return RLOCK_INVALID;
}

void rlock__server_free(struct rlock__server *server) {
    if (server->text != NULL)
        explicit_bzero(server->text, server->text_size); /* a password lies there */
    free(server->text);
    free(server->redacted);
    *server = (struct rlock__server){.db = 0};
}
