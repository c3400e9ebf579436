/* url.c: reads a server's URL (RFC 3986; the redis scheme as registered with IANA). */
#include "url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        if (low < 0 || (high << 4 | low) < ' ')
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

static bool parse_host(struct rlock__server *out, char *host, struct rlock__error *error) {
    char *port = NULL;
    if (strpbrk(host, "?#") != NULL)
        return fail(error, "after the host only :PORT and /DB may follow");
    if (*host == '[') {
        char *end = strchr(++host, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return fail(error, "an IPv6 address stands in brackets, as in redis://[::1]:6379");
        port = end[1] == ':' ? end + 2 : NULL;
        *end = '\0';
        if (!percent_decode(host)) /* a zone: [fe80::1%25eth0] */
            return fail(error, "broken %XX in the address");
    } else {
        port = strchr(host, ':');
        if (port != NULL)
            *port++ = '\0';
        if (port != NULL && strchr(port, ':') != NULL)
            return fail(error, "an IPv6 address stands in brackets, as in redis://[::1]:6379");
    }
    if (*host == '\0')
        return fail(error, "no host; write redis://HOST[:PORT][/DB]");
    if (port != NULL && to_number(port, 65535) < 1)
        return fail(error, "the port must be a number from 1 to 65535");
    out->host = host;
    out->port = port != NULL ? port : "6379";
    return true;
}

static bool parse_redis(struct rlock__server *out, char *rest, struct rlock__error *error) {
    out->transport = RLOCK__TCP;
    char *slash = strchr(rest, '/');
    char *at = strrchr(rest, '@');
    if (at != NULL && slash != NULL && slash < at)
        slash = strchr(at, '/'); /* a raw '/' in the password */
    if (slash != NULL) {
        *slash++ = '\0';
        if (*slash != '\0' && !parse_db(out, slash, error))
            return false;
    }
    if (at != NULL) {
        *at = '\0';
        if (!parse_userinfo(out, rest, error))
            return false;
        rest = at + 1;
    }
    return parse_host(out, rest, error);
}

static bool parse_unix(struct rlock__server *out, char *path, struct rlock__error *error) {
    out->transport = RLOCK__UNIX;
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

/* The opposite of percent_decode, for what does not print and what is reserved at that place. The
 * caller frees it; NULL: no memory. */
static char *percent_encode(const char *text, const char *reserved) {
    char *encoded = malloc(3 * strlen(text) + 1);
    if (encoded == NULL)
        return NULL;
    char *to = encoded;
    for (; *text != '\0'; text++) {
        if (*text > ' ' && *text < 127 && strchr(reserved, *text) == NULL)
            *to++ = *text;
        else
            to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*text);
    }
    *to = '\0';
    return encoded;
}

/* What is told leads to the same server: a nested rlock gets it. */
static bool redact(struct rlock__server *out) {
    const bool is_unix = out->transport == RLOCK__UNIX;
    const bool is_ipv6 = !is_unix && strchr(out->host, ':') != NULL;
    char *user = percent_encode(out->user != NULL ? out->user : "", "%?#@:[]/");
    char *place = percent_encode(is_unix ? out->path : out->host, is_unix ? "%?#" : "%");
    char db[16] = "";
    int n = -1;
    if (out->db != 0)
        (void)snprintf(db, sizeof db, "%s%d", is_unix ? "?db=" : "/", out->db);
    if (user != NULL && place != NULL && is_unix)
        n = asprintf(&out->redacted, "unix://%s%s", place, db);
    else if (user != NULL && place != NULL)
        n = asprintf(&out->redacted, is_ipv6 ? "redis://%s%s[%s]:%s%s" : "redis://%s%s%s:%s%s",
                     user, *user != '\0' ? "@" : "", place, out->port, db);
    free(user);
    free(place);
    if (n < 0)
        out->redacted = NULL;
    return n >= 0;
}

bool rlock__server_parse(struct rlock__server *out, const char *url, struct rlock__error *error) {
    static const struct {
        const char *scheme;
        bool (*parse)(struct rlock__server *, char *, struct rlock__error *);
    } schemes[] = {{"redis://", parse_redis}, {"unix://", parse_unix}};
    *out = (struct rlock__server){.db = 0};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t length = strlen(schemes[i].scheme);
        if (strncmp(url, schemes[i].scheme, length) != 0)
            continue;
        out->text_size = strlen(url + length) + 1;
        out->text = strdup(url + length);
        if (out->text == NULL)
            return fail(error, "no memory");
        if (schemes[i].parse(out, out->text, error) && (redact(out) || fail(error, "no memory")))
            return true;
        rlock__server_free(out);
        return false;
    }
    return fail(error, "it must begin with redis:// or unix:// (rlock itself also knows local:)");
}

void rlock__server_free(struct rlock__server *server) {
    if (server->text != NULL)
        explicit_bzero(server->text, server->text_size); /* a password lies there */
    free(server->text);
    free(server->redacted);
    *server = (struct rlock__server){.db = 0};
}
