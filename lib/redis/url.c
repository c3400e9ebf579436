/* url.c: reads a server's URL (RFC 3986; the redis scheme as registered with IANA). */
#include "redis/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/conn.h"

enum { DB_MAX = 1000000, PORT_MAX = 65535, UNIX_PATH_SIZE = 108 };

static const struct {
    const char *port, *example;
} usual[] = {
    [RLOCK__SINGLE] = {"6379", "redis://HOST:6379/0"},
    [RLOCK__SENTINEL] = {"26379", "sentinel://HOST:26379,HOST2/NAME"},
    [RLOCK__CLUSTER] = {"6379", "cluster://HOST:6379,HOST2"},
};

static bool fail(struct rlock__error *error, const char *why) {
    rlock__error_set(error, "cannot read the server's URL: %s", why);
    return false;
}

static bool fail_without(struct rlock__error *error, const char *what, const char *example) {
    rlock__error_set(error, "cannot read the server's URL: no %s as in %s", what, example);
    return false;
}

/* Decodes %XX in place. False: a broken escape, or one that stands for a NUL or a control. */
static bool percent_decode(char *text, const char *where, struct rlock__error *error) {
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        *to++ = *from;
        if (*from != '%')
            continue;
        char digits[3];
        (void)snprintf(digits, sizeof digits, "%s", from + 1);
        to[-1] = (char)strtol(digits, NULL, 16);
        if (strspn(digits, "0123456789abcdefABCDEF") != 2 || rlock__is_control(to[-1])) {
            rlock__error_set(error, "cannot read the server's URL: broken %%XX in the %s", where);
            return false;
        }
        from += 2;
    }
    *to = '\0';
    return true;
}

static bool parse_db(struct rlock__server *out, const char *text, struct rlock__error *error) {
    int64_t db;
    if (!rlock__resp_whole(text, &db) || db > DB_MAX)
        return fail(error, "the database must be a number such as 0");
    out->db = (int)db;
    return true;
}

static bool parse_userinfo(struct rlock__server *out, char *userinfo, struct rlock__error *error) {
    char *colon = strchr(userinfo, ':');
    if (colon != NULL) {
        *colon = '\0';
        out->password = colon + 1;
        if (!percent_decode(colon + 1, "password", error))
            return false;
    }
    out->user = *userinfo != '\0' ? userinfo : NULL;
    return percent_decode(userinfo, "user", error);
}

/* One host, with its port or the usual one. */
static bool parse_host(struct rlock__server *out, char *host, struct rlock__error *error) {
    const bool bracketed = *host == '[';
    char *end = bracketed ? strchr(host, ']') : strchrnul(host, ':');
    if (strpbrk(host, "?#") != NULL)
        return fail(error, "after the host only :PORT and /DB may follow");
    if (end == NULL ||
        (bracketed ? end[1] != '\0' && end[1] != ':' : strchr(end, ':') != strrchr(end, ':')))
        return fail(error, "an IPv6 address stands in brackets, as in redis://[::1]:6379");
    const char *colon = strchr(end, ':'), *port = usual[out->topology].port;
    int64_t number;
    if (colon != NULL)
        port = colon + 1;
    *end = '\0';
    host += bracketed;
    if (!percent_decode(host, "host", error)) /* a zone: [fe80::1%25eth0] */
        return false;
    if (*host == '\0')
        return fail_without(error, "host; give one,", usual[out->topology].example);
    if (!rlock__resp_whole(port, &number) || number < 1 || number > PORT_MAX)
        return fail(error, "the port must be a number from 1 to 65535");
    out->hosts[out->host_count++] = (struct rlock__host){.name = host, .port = port};
    return true;
}

static bool parse_hosts(struct rlock__server *out, char *hosts, struct rlock__error *error) {
    char *next;
    for (; hosts != NULL; hosts = next) {
        next = strchr(hosts, ',');
        if (next != NULL)
            *next++ = '\0';
        if (out->host_count == RLOCK__HOSTS_MAX)
            return fail(error, "more than 16 hosts: some of them are enough to find the others");
        if (!parse_host(out, hosts, error))
            return false;
    }
    return true;
}

/* NAME[/DB]; *below is what follows the slash. */
static bool parse_master(struct rlock__server *out, char **below, struct rlock__error *error) {
    out->master = *below;
    if (*below == NULL || **below == '\0' || **below == '/')
        return fail_without(error, "master's name; give it,", usual[RLOCK__SENTINEL].example);
    char *name = *below;
    *below = strchr(name, '/');
    if (*below != NULL)
        *(*below)++ = '\0';
    return percent_decode(name, "master's name", error);
}

/* [USER[:PASSWORD]@]HOSTS[/BELOW] */
static bool parse_hosted(struct rlock__server *out, char *rest, struct rlock__error *error) {
    char *below = strchr(rest, '/'), *at = strrchr(rest, '@');
    if (at != NULL && below != NULL && below < at)
        below = strchr(at, '/'); /* a raw '/' in the password */
    if (below != NULL)
        *below++ = '\0';
    if (at != NULL) {
        *at = '\0';
        if (!parse_userinfo(out, rest, error))
            return false;
        rest = at + 1;
    }
    if (out->topology == RLOCK__SINGLE && (strchr(rest, ',') || (below && strchr(below, ','))))
        return fail(error, "one host; for a lock on several servers give --server several times, "
                           "or their URLs with spaces between them");
    if (out->topology == RLOCK__SENTINEL && !parse_master(out, &below, error))
        return false;
    if (below != NULL && *below != '\0') {
        if (out->topology == RLOCK__CLUSTER && strcmp(below, "0") != 0)
            return fail(error, "a cluster has one database: leave out /DB");
        if (!parse_db(out, below, error))
            return false;
    }
    return parse_hosts(out, rest, error);
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
    if (!percent_decode(path, "path", error))
        return false;
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
    const char *ending = strrchr(text, '.');
    return ending != NULL && ending > text && strcmp(ending, ".sock") == 0 &&
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

/* What stands behind the scheme, which out's topology is of. */
static enum rlock_status parse(struct rlock__server *out, const char *scheme, const char *rest,
                               bool is_unix, struct rlock__error *error) {
    out->text_size = strlen(rest) + 1;
    out->text = strdup(rest);
    if (out->text != NULL && !(is_unix ? parse_unix : parse_hosted)(out, out->text, error))
        return RLOCK_INVALID;
    if (out->text != NULL && redact(out, scheme))
        return RLOCK_OK;
    rlock__error_set(error, "out of memory");
    return RLOCK_SYSTEM;
}

enum rlock_status rlock__server_parse(struct rlock__server *out, const char *url,
                                      struct rlock__error *error) {
    static const struct {
        const char *scheme;
        enum rlock__topology topology;
        bool tls, is_unix;
    } schemes[] = {
        {"redis://", RLOCK__SINGLE, false, false},
        {"rediss://", RLOCK__SINGLE, true, false},
        {"unix://", RLOCK__SINGLE, false, true},
        {"sentinel://", RLOCK__SENTINEL, false, false},
        {"sentinels://", RLOCK__SENTINEL, true, false},
        {"cluster://", RLOCK__CLUSTER, false, false},
        {"clusters://", RLOCK__CLUSTER, true, false},
    };
    *out = (struct rlock__server){.db = 0};
    if (rlock__has_control(url)) {
        rlock__error_set(error, "there is a control character in it");
        return RLOCK_INVALID;
    }
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const size_t length = strlen(schemes[i].scheme);
        if (strncmp(url, schemes[i].scheme, length) != 0)
            continue;
        out->topology = schemes[i].topology;
        out->tls = schemes[i].tls;
        const enum rlock_status status =
            parse(out, schemes[i].scheme, url + length, schemes[i].is_unix, error);
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
