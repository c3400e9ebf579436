/* test_url.c: what a server's URL may be, and that its password is never told. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "url.h"

#define SECRET "s3cr3t"

struct row {
    const char *url;
    enum rlock__transport transport;
    const char *host, *port, *path, *user, *password;
    int db;
    const char *redacted;
};

static bool same(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void check(const struct row *row, const struct rlock__server *got) {
    if (got->transport != row->transport || !same(got->host, row->host) ||
        !same(got->port, row->port) || !same(got->path, row->path) || !same(got->user, row->user) ||
        !same(got->password, row->password) || got->db != row->db ||
        (row->redacted != NULL && !same(got->redacted, row->redacted)))
        fail_msg("%s: host %s port %s path %s user %s password %s db %d redacted %s", row->url,
                 got->host, got->port, got->path, got->user, got->password, got->db, got->redacted);
    if (strstr(got->redacted, SECRET) != NULL)
        fail_msg("%s: the password is told: %s", row->url, got->redacted);
}

static void parse(struct rlock__server *server, const char *url) {
    struct rlock__error error = {""};
    if (!rlock__server_parse(server, url, &error))
        fail_msg("%s: %s", url, error.text);
}

static const struct row rows[] = {
    {"redis://h", RLOCK__TCP, "h", "6379", NULL, NULL, NULL, 0, "redis://h:6379"},
    {"redis://h/", RLOCK__TCP, "h", "6379", NULL, NULL, NULL, 0, "redis://h:6379"},
    {"redis://h:7000", RLOCK__TCP, "h", "7000", NULL, NULL, NULL, 0, "redis://h:7000"},
    {"redis://h:65535", RLOCK__TCP, "h", "65535", NULL, NULL, NULL, 0, NULL},
    {"redis://h/2", RLOCK__TCP, "h", "6379", NULL, NULL, NULL, 2, "redis://h:6379/2"},
    {"redis://h:7000/15", RLOCK__TCP, "h", "7000", NULL, NULL, NULL, 15, "redis://h:7000/15"},
    {"redis://10.0.0.1:1", RLOCK__TCP, "10.0.0.1", "1", NULL, NULL, NULL, 0, "redis://10.0.0.1:1"},
    {"redis://[::1]", RLOCK__TCP, "::1", "6379", NULL, NULL, NULL, 0, "redis://[::1]:6379"},
    {"redis://[fe80::1%25eth0]:7/1", RLOCK__TCP, NULL, "7", NULL, NULL, NULL, 1, NULL},
    {"redis://[::1]:7000/1", RLOCK__TCP, "::1", "7000", NULL, NULL, NULL, 1,
     "redis://[::1]:7000/1"},
    {"redis://u:" SECRET "@[::1]", RLOCK__TCP, "::1", "6379", NULL, "u", SECRET, 0,
     "redis://u@[::1]:6379"},
    {"redis://u@h", RLOCK__TCP, "h", "6379", NULL, "u", NULL, 0, "redis://u@h:6379"},
    {"redis://:" SECRET "@h", RLOCK__TCP, "h", "6379", NULL, NULL, SECRET, 0, "redis://h:6379"},
    {"redis://u:" SECRET "@h:1/3", RLOCK__TCP, "h", "1", NULL, "u", SECRET, 3, "redis://u@h:1/3"},
    {"redis://u:p%40%3A%2f%25@h", RLOCK__TCP, "h", "6379", NULL, "u", "p@:/%", 0,
     "redis://u@h:6379"},
    {"redis://u:a:b@h", RLOCK__TCP, "h", "6379", NULL, "u", "a:b", 0, "redis://u@h:6379"},
    {"redis://u:" SECRET "/x@h/1", RLOCK__TCP, "h", "6379", NULL, "u", SECRET "/x", 1,
     "redis://u@h:6379/1"},
    {"redis://u:" SECRET "@x@h/1", RLOCK__TCP, "h", "6379", NULL, "u", SECRET "@x", 1,
     "redis://u@h:6379/1"},
    {"unix:///run/redis.sock", RLOCK__UNIX, NULL, NULL, "/run/redis.sock", NULL, NULL, 0,
     "unix:///run/redis.sock"},
    {"unix:///s?db=3", RLOCK__UNIX, NULL, NULL, "/s", NULL, NULL, 3, "unix:///s?db=3"},
    {"unix:///s?db=0", RLOCK__UNIX, NULL, NULL, "/s", NULL, NULL, 0, "unix:///s"},
    {"unix:///a%20b%3f", RLOCK__UNIX, NULL, NULL, "/a b?", NULL, NULL, 0, NULL},
    {"unix:///a@b:c", RLOCK__UNIX, NULL, NULL, "/a@b:c", NULL, NULL, 0, NULL},
};

static void reads_every_form(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rlock__server server;
        struct row row = rows[i];
        parse(&server, row.url);
        if (row.transport == RLOCK__TCP && row.host == NULL)
            row.host = server.host; /* how a zone is written is the resolver's matter */
        check(&row, &server);
        rlock__server_free(&server);
    }
}

/* What a command gets as RLOCK_SERVER is the redacted text: a nested rlock must find the same
 * server by it, with the same user. */
static void what_is_told_leads_to_the_same_server(void **state) {
    (void)state;
    static const char *const more[] = {
        "redis://us%3Aer:" SECRET "@h",
        "redis://us%40er@h",
        "redis://us%25er@h",
        "redis://a%2Fb:" SECRET "@h/1",
        "unix:///a%25b",
        "unix:///a%3Fb?db=2",
        "unix:///a%20b",
        "unix:///a%2520b",
    };
    for (size_t i = 0; i < COUNT(rows) + COUNT(more); i++) {
        const char *url = i < COUNT(rows) ? rows[i].url : more[i - COUNT(rows)];
        struct rlock__server told, again;
        struct rlock__error error = {""};
        parse(&told, url);
        if (!rlock__server_parse(&again, told.redacted, &error))
            fail_msg("%s: told as %s: %s", url, told.redacted, error.text);
        const struct row row = {url,       told.transport, told.host, told.port, told.path,
                                told.user, NULL,           told.db,   NULL};
        check(&row, &again);
        assert_string_equal(again.redacted, told.redacted);
        rlock__server_free(&told);
        rlock__server_free(&again);
    }
}

static void refuses_what_is_none(void **state) {
    (void)state;
    static const struct {
        const char *url, *why;
    } bad[] = {
        {"", "must begin with"},
        {"h:6379", "must begin with"},
        {"http://u:" SECRET "@h", "must begin with"},
        {"redis:/u:" SECRET "@h", "must begin with"},
        {"redis://", "no host"},
        {"redis://:7000", "no host"},
        {"redis://u:" SECRET "@", "no host"},
        {"redis://u:" SECRET "@:1", "no host"},
        {"redis://[]", "no host"},
        {"redis://u:" SECRET "@h:", "port"},
        {"redis://u:" SECRET "@h:0", "port"},
        {"redis://u:" SECRET "@h:65536", "port"},
        {"redis://u:" SECRET "@h:7x", "port"},
        {"redis://u:" SECRET "@h:-1", "port"},
        {"redis://u:" SECRET "@h:99999999999999999999", "port"},
        {"redis://u:" SECRET "@::1", "brackets"},
        {"redis://u:" SECRET "@[::1", "brackets"},
        {"redis://u:" SECRET "@[::1]7", "brackets"},
        {"redis://u:" SECRET "@h/x", "database"},
        {"redis://u:" SECRET "@h/-1", "database"},
        {"redis://u:" SECRET "@h/0/1", "database"},
        {"redis://u:" SECRET "@h/1?db=2", "database"},
        {"redis://u:" SECRET "@h/99999999999", "database"},
        {"redis://u:" SECRET "@h?db=2", "host"},
        {"redis://u:" SECRET "%2@h", "%XX"},
        {"redis://u:" SECRET "%zz@h", "%XX"},
        {"redis://u:" SECRET "%00@h", "%XX"},
        {"redis://u:" SECRET "%0a@h", "%XX"},
        {"redis://u%:" SECRET "@h", "%XX"},
        {"unix://", "absolute"},
        {"unix://run/redis.sock", "absolute"},
        {"unix://u:" SECRET "@/s", "absolute"},
        {"unix:///s?x=1", "?db=N"},
        {"unix:///s?db=", "database"},
        {"unix:///s?db=x", "database"},
        {"unix:///s%", "%XX"},
        {"unix:///s%1", "%XX"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct rlock__server server;
        struct rlock__error error = {""};
        if (rlock__server_parse(&server, bad[i].url, &error))
            fail_msg("%s: taken, as %s", bad[i].url, server.redacted);
        if (strstr(error.text, bad[i].why) == NULL || strstr(error.text, SECRET) != NULL)
            fail_msg("%s: %s", bad[i].url, error.text);
        assert_null(server.text);
    }
}

/* sockaddr_un has room for 107 bytes and the end. */
static void a_sockets_path_has_its_limit(void **state) {
    (void)state;
    char url[200] = "unix:///";
    struct rlock__server server;
    struct rlock__error error = {""};
    memset(url + strlen("unix:///"), 'x', 106);
    parse(&server, url);
    assert_int_equal(strlen(server.path), 107);
    rlock__server_free(&server);
    strcat(url, "x");
    assert_false(rlock__server_parse(&server, url, &error));
    assert_non_null(strstr(error.text, "107 bytes"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_form),
        cmocka_unit_test(what_is_told_leads_to_the_same_server),
        cmocka_unit_test(refuses_what_is_none),
        cmocka_unit_test(a_sockets_path_has_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
