/* test_client.c: which servers a client takes, how it gets in, and how long it waits for them. */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "redis/client.h"
#include "rlock_report.h"

#define SECRET "s3cr3t"

/* urls: separated by blanks. */
static enum rlock_status make(rlock_client **client, const char *urls,
                              struct rlock_client_options options) {
    const char *servers[17];
    char words[512];
    (void)snprintf(words, sizeof words, "%s", urls);
    options.size = sizeof options;
    options.servers = servers;
    options.connect_timeout_ms += options.connect_timeout_ms == 0; /* of no matter */
    options.io_timeout_ms += options.io_timeout_ms == 0;
    for (char *url = strtok(words, " "); url != NULL; url = strtok(NULL, " ")) {
        assert_true(options.server_count < COUNT(servers));
        servers[options.server_count++] = url;
    }
    return rlock_client_new(client, &options);
}

TEST(which_servers_make_a_lock) {
    static const struct {
        const char *urls, *shown, *error; /* one of the two */
    } rows[] = {
        {"redis://:" SECRET "@h", "redis://h:6379", NULL},
        {"sentinel://:" SECRET "@a,b/m", "sentinel://a:26379,b:26379/m", NULL},
        {"cluster://:" SECRET "@a,b", "cluster://a:6379,b:6379", NULL},
        {"redis://:" SECRET "@a rediss://:" SECRET "@b unix:///c",
         "redis://a:6379 rediss://b:6379 unix:///c", NULL},
        {"redis://a redis://a:2 redis://a:3", "redis://a:6379 redis://a:2 redis://a:3", NULL},
        {"", NULL, "1 to 15 servers"},
        {"redis://a redis://b redis://c redis://d", NULL, "give 3 or 5"},
        {"redis://a redis://a", NULL, "numbers 1 and 2 are one server"},
        {"redis://a redis://b redis://c redis://d redis://b", NULL, "2 and 5"},
        /* However it is spelt. */
        {"redis://a redis://b redis://A:6379", NULL, "numbers 1 and 3"},
        {"redis://[::A] redis://b redis://[::a]:6379", NULL, "numbers 1 and 3"},
        {"redis://b redis://u:" SECRET "@a rediss://u@a/3", NULL, "numbers 2 and 3"},
        {"unix:///a%20b unix:///c unix:///%61%20b?db=1", NULL, "numbers 1 and 3"},
        {"redis://a redis://b sentinel://:" SECRET "@c/m", NULL, "number 3 is a"},
        {"cluster://a redis://b redis://c", NULL, "number 1 is a"},
        {"redis://a redis://b nonsense", NULL, "must begin with"},
        {"redis://a:1 redis://a:2 redis://a:3 redis://a:4 redis://a:5 redis://a:6 redis://a:7 "
         "redis://a:8 redis://a:9 redis://b:1 redis://b:2 redis://b:3 redis://b:4 redis://b:5 "
         "redis://b:6 redis://b:7",
         NULL, "1 to 15 servers"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rlock_client *client;
        const enum rlock_status status =
            make(&client, rows[i].urls, (struct rlock_client_options){.password = NULL});
        const bool good = rows[i].shown != NULL;
        assert_non_null(client);
        if (status != (good ? RLOCK_OK : RLOCK_INVALID) ||
            strstr(rlock_error(client), good ? "" : rows[i].error) == NULL ||
            strstr(rlock_error(client), SECRET) != NULL)
            fail_msg("%s: %s", rows[i].urls, rlock_error(client));
        if (good)
            assert_string_equal(rlock_client_server(client), rows[i].shown);
        rlock_client_free(client);
    }
}

static void assert_access(const struct rlock__access *access, const char *expected) {
    char text[64];
    (void)snprintf(text, sizeof text, "%s %s %d", access->user != NULL ? access->user : "-",
                   access->password, access->db);
    assert_string_equal(text, expected);
    assert_int_equal(access->connect_timeout_ms, 4000);
}

/* The URL's own password counts before the common one; with Sentinels, which have no database, it
 * is theirs then. */
TEST(who_gets_which_password) {
    static const struct {
        const char *url, *data, *finder; /* user, password and database: of Sentinels, too */
    } rows[] = {
        {"redis://:0wn@h", "- 0wn 0", "- 0wn 0"},
        {"redis://u@h/3", "u c0mmon 3", "u c0mmon 0"},
        {"sentinel://u:0wn@h/m/1", "u c0mmon 1", "u 0wn 0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rlock_client *client;
        const struct rlock_client_options options = {.password = "c0mmon",
                                                     .connect_timeout_ms = 4000};
        assert_int_equal(make(&client, rows[i].url, options), RLOCK_OK);
        assert_access(&client->sites[0].access, rows[i].data);
        assert_access(&client->sites[0].finder, rows[i].finder);
        rlock_client_free(client);
    }
}

/* One reply's time, and the replicas' where they are asked; less where the deadline is nearer. Of
 * several servers none is waited for longer than a second. Where the connection may have to be made
 * first, the time for that comes on top; until there was a first answer all of it has the time for
 * connecting, of which the first try leaves some. */
TEST(how_long_an_answer_may_take) {
    static const struct {
        const char *urls;
        int replicas;
        int64_t connect_ms, io_ms; /* connect_ms 0: it is connected */
        int64_t ago_ms, until_ms;  /* when it began; RLOCK_FOREVER, else after now */
        size_t answered;           /* by so many servers */
        bool again;
        int64_t takes_ms;
    } rows[] = {
        {"redis://a", 0, 0, 3000, 0, RLOCK_FOREVER, 0, false, 3000},
        {"redis://a", 0, 0, 3000, 0, 700, 0, false, 700},
        {"redis://a", RLOCK_REPLICAS_AUTO, 0, 3000, 0, RLOCK_FOREVER, 0, false, 3000},
        {"redis://a", 2, 0, 3000, 0, RLOCK_FOREVER, 0, false, 4500},
        {"redis://a", 2, 0, 3000, 0, 4000, 0, false, 4000},
        {"sentinel://a/m", 0, 0, 3000, 0, RLOCK_FOREVER, 0, false, 3000},
        {"sentinel://a/m", RLOCK_REPLICAS_AUTO, 0, 3000, 0, RLOCK_FOREVER, 0, false, 4500},
        {"cluster://a", RLOCK_REPLICAS_AUTO, 0, 3000, 0, RLOCK_FOREVER, 0, false, 4500},
        {"redis://a redis://b redis://c", 0, 0, 3000, 0, RLOCK_FOREVER, 0, false, 1000},
        {"redis://a redis://b redis://c", 0, 0, 400, 0, RLOCK_FOREVER, 0, false, 400},
        {"redis://a redis://b redis://c", 1, 0, 3000, 0, RLOCK_FOREVER, 0, false, 2500},
        /* With the connection. */
        {"redis://a", 0, 8000, 30000, 0, RLOCK_FOREVER, 0, false, 7000},
        {"redis://a", 0, 8000, 30000, 3000, RLOCK_FOREVER, 0, false, 4000},
        {"redis://a", 0, 8000, 30000, 3000, RLOCK_FOREVER, 0, true, 5000},
        {"redis://a", 0, 8000, 30000, 9000, RLOCK_FOREVER, 0, true, 100},
        {"redis://a", 0, 2000, 500, 0, RLOCK_FOREVER, 0, false, 1500},
        {"redis://a", 0, 2000, 500, 0, 700, 0, false, 700},
        {"redis://a", 0, RLOCK_FOREVER, 500, 0, 700, 0, false, 700},
        {"redis://a", 0, 2000, 500, 9000, RLOCK_FOREVER, 1, true, 2500},
        {"redis://a", 0, 2000, 500, 9000, 700, 1, false, 700},
        {"cluster://a", 0, 2000, 500, 0, RLOCK_FOREVER, 0, false, 1500},
        {"redis://a redis://b redis://c", 0, 8000, 3000, 0, RLOCK_FOREVER, 0, false, 1000},
        {"redis://a redis://b redis://c", 0, 800, 3000, 0, RLOCK_FOREVER, 1, true, 800},
        {"redis://a redis://b redis://c", 0, 800, 3000, 0, RLOCK_FOREVER, 2, true, 1000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rlock_client *client;
        const struct rlock_client_options options = {.connect_timeout_ms = rows[i].connect_ms,
                                                     .io_timeout_ms = rows[i].io_ms,
                                                     .replicas = rows[i].replicas,
                                                     .replica_timeout_ms = 1500};
        assert_int_equal(make(&client, rows[i].urls, options), RLOCK_OK);
        for (size_t k = 0; k < rows[i].answered; k++)
            client->routes.at[k].answered = true;
        const int64_t now_ms = rlock_now_ms(), until_ms = rlock__after_ms(now_ms, rows[i].until_ms);
        const struct rlock__limit limit =
            rows[i].connect_ms == 0 ? rlock__client_limit(client, until_ms, 7)
                                    : rlock__client_call_limit(client, now_ms - rows[i].ago_ms,
                                                               rows[i].again, until_ms, 7);
        if (limit.deadline_ms - now_ms < rows[i].takes_ms ||
            limit.deadline_ms - now_ms > rows[i].takes_ms + 100)
            fail_msg("row %zu: %lld ms", i, (long long)(limit.deadline_ms - now_ms));
        assert_int_equal(limit.cancel_fd, 7);
        assert_int_equal(client->sites[0].access.answer_timeout_ms, /* a link keeps to it, too */
                         rows[i].io_ms + client->replica_timeout_ms);
        rlock_client_free(client);
    }
}
