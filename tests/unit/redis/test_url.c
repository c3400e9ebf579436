/* test_url.c: what a server's URL may be, and that its password is never told. */
#include "support/test.h"

#include <string.h>

#include "redis/url.h"

#define SECRET "s3cr3t"

static void parse(struct rlock__server *server, const char *url) {
    struct rlock__error error = {""};
    if (rlock__server_parse(server, url, &error) != RLOCK_OK)
        fail_msg("%s: %s", url, error.text);
}

/* A form, as it is told (NULL: as it stands), and its password. */
static const struct row {
    const char *url, *redacted, *password;
} rows[] = {
    {"redis://h", "redis://h:6379", NULL},
    {"redis://h/", "redis://h:6379", NULL},
    {"redis://h:65535", NULL, NULL},
    {"redis://[::1]", "redis://[::1]:6379", NULL},
    {"redis://[fe80::1%25eth0]:7/1", NULL, NULL},
    {"redis://b\xc3\xbc:1", "redis://b%C3%BC:1", NULL},
    {"redis://u@h", "redis://u@h:6379", NULL},
    {"redis://:" SECRET "@h", "redis://h:6379", SECRET},
    {"redis://u:" SECRET "@h:1/3", "redis://u@h:1/3", SECRET},
    {"redis://u:p%40%3A%2f%25@h", "redis://u@h:6379", "p@:/%"},
    {"redis://u:a:b@h", "redis://u@h:6379", "a:b"},
    {"redis://u:" SECRET "/x@y@h/1", "redis://u@h:6379/1", SECRET "/x@y"},
    {"redis://a%3Ab%40c%25d%2Fe:" SECRET "@h/1", "redis://a%3Ab%40c%25d%2Fe@h:6379/1", SECRET},
    {"rediss://u:" SECRET "@[::1]:7/2", "rediss://u@[::1]:7/2", SECRET},
    {"unix:///run/redis.sock", NULL, NULL},
    {"unix:///s?db=0", "unix:///s", NULL},
    {"unix:///a@b:c%20d%3f%2520?db=2", "unix:///a@b:c%20d%3F%2520?db=2", NULL},
    {"sentinel://h/m", "sentinel://h:26379/m", NULL},
    {"sentinel://[::1],[::2]:7,h/m/2", "sentinel://[::1]:26379,[::2]:7,h:26379/m/2", NULL},
    {"sentinel://a/m/", "sentinel://a:26379/m", NULL},
    {"sentinel://u:" SECRET "@a,b/m", "sentinel://u@a:26379,b:26379/m", SECRET},
    {"sentinel://:" SECRET ",x/y@a,b/m/1", "sentinel://a:26379,b:26379/m/1", SECRET ",x/y"},
    {"sentinel://a:1/m%2Fy%40%25", NULL, NULL},
    {"sentinels://a:1,b:2/my-master", NULL, NULL},
    {"cluster://h", "cluster://h:6379", NULL},
    {"cluster://a:1,b,[fe80::1%25eth0]:2", "cluster://a:1,b:6379,[fe80::1%25eth0]:2", NULL},
    {"cluster://a/", "cluster://a:6379", NULL},
    {"cluster://a/0", "cluster://a:6379", NULL},
    {"cluster://u:" SECRET "@a,b", "cluster://u@a:6379,b:6379", SECRET},
    {"clusters://a:1,b:2", NULL, NULL},
};

/* What a command gets as RLOCK_SERVER is the redacted text, which has all that was read but the
 * password: a nested rlock must find the same server by it, with the same user. */
TEST(every_form_is_read_and_told_without_its_password) {
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        const char *redacted = row->redacted != NULL ? row->redacted : row->url;
        const char *password = row->password != NULL ? row->password : "";
        struct rlock__server server, again;
        parse(&server, row->url);
        if (strcmp(server.redacted, redacted) != 0 || strstr(redacted, SECRET) != NULL)
            fail_msg("%s: told as %s, not as %s", row->url, server.redacted, redacted);
        if (strcmp(server.password != NULL ? server.password : "", password) != 0)
            fail_msg("%s: the password %s", row->url, server.password);
        parse(&again, server.redacted);
        if (strcmp(again.redacted, redacted) != 0 || again.password != NULL)
            fail_msg("%s: %s", redacted, again.redacted);
        rlock__server_free(&server);
        rlock__server_free(&again);
    }
}

TEST(refuses_what_is_none) {
    static const struct {
        const char *why, *urls[10];
    } bad[] = {
        {"must begin with",
         {"", "nonsense", "u:" SECRET "@h:6379", "http://u:" SECRET "@h", "redis:/u:" SECRET "@h"}},
        {"one host; for a lock on several servers", {"redis://a:1,b"}},
        {"one host; for a lock on several servers", {"redis://a:1,redis://b:1"}},
        {"did you mean redis://localhost:6379?", {"localhost:6379"}},
        {"did you mean redis://localhost?", {"localhost"}},
        {"did you mean redis://10.0.0.7?", {"10.0.0.7"}},
        {"did you mean redis://h:6379/2?", {"h:6379/2"}},
        {"did you mean redis://[::1]:6379?", {"[::1]:6379"}},
        {"did you mean unix:///tmp/x.sock?", {"/tmp/x.sock"}},
        {"absolute", {"x.sock", "unix://run/redis.sock", "unix://u:" SECRET "@/s"}},
        {"no host",
         {"redis://:7000", "redis://u:" SECRET "@", "redis://[]", "sentinel://u:" SECRET "@a,/m",
          "cluster://u:" SECRET "@"}},
        {"port",
         {"redis://u:" SECRET "@h:", "redis://u:" SECRET "@h:0", "redis://u:" SECRET "@h:65536",
          "redis://u:" SECRET "@h:7x", "redis://u:" SECRET "@h:99999999999999999999"}},
        {"brackets",
         {"redis://u:" SECRET "@::1", "redis://u:" SECRET "@[::1", "redis://u:" SECRET "@[::1]7"}},
        {"database",
         {"redis://u:" SECRET "@h/x", "redis://u:" SECRET "@h/1?db=2",
          "redis://u:" SECRET "@h/99999999999", "unix:///s?db=", "sentinel://u:" SECRET "@a/m/x"}},
        {"host", {"redis://u:" SECRET "@h?db=2"}},
        {"%XX",
         {"redis://u:" SECRET "%2@h", "redis://u:" SECRET "%zz@h", "redis://u:" SECRET "%00@h",
          "redis://u:" SECRET "%0a@h", "redis://u%:" SECRET "@h", "unix:///s%1",
          "sentinel://u:" SECRET "@a/m%"}},
        {"?db=N", {"unix:///s?x=1"}},
        {"control character", {"unix:///s\x1f", "redis://u:" SECRET "\n@h"}},
        {"several times", {"redis://u:" SECRET "@a,b"}},
        {"master's name", {"sentinel://u:" SECRET "@a,b", "sentinel://u:" SECRET "@a,b//1"}},
        {"one database", {"cluster://u:" SECRET "@a,b/1"}},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        for (const char *const *url = bad[i].urls; *url != NULL; url++) {
            struct rlock__server server;
            struct rlock__error error = {""};
            if (rlock__server_parse(&server, *url, &error) != RLOCK_INVALID)
                fail_msg("%s: taken, as %s", *url, server.redacted);
            if (strstr(error.text, bad[i].why) == NULL || strstr(error.text, SECRET) != NULL)
                fail_msg("%s: %s", *url, error.text);
            assert_null(server.text);
        }
    }
}

/* What is good with as much as it may have, and too long with one more at its end. sockaddr_un has
 * room for 107 bytes and the end. */
TEST(paths_and_hosts_have_their_limit) {
    static const char *const more[] = {"x", ",h"}, *const why[] = {"107 bytes", "16 hosts"};
    char urls[][400] = {"unix:///", "cluster://h"};
    memset(urls[0] + strlen(urls[0]), 'x', 106);
    for (size_t i = 1; i < RLOCK__HOSTS_MAX; i++)
        (void)strcat(urls[1], ",h");
    for (size_t i = 0; i < COUNT(urls); i++) {
        struct rlock__server server;
        struct rlock__error error = {""};
        parse(&server, urls[i]);
        rlock__server_free(&server);
        (void)strcat(urls[i], more[i]);
        assert_int_equal(rlock__server_parse(&server, urls[i], &error), RLOCK_INVALID);
        assert_non_null(strstr(error.text, why[i]));
    }
}
