/* test_tls.c: TLS sessions, with `openssl s_server` at the other end: it sends each line back,
 * reversed. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"
#include "tls/tls.h"

enum { PATIENCE_MS = 20000 };

/* All of them in one directory, which is where the tests run. */
static char directory[] = "/tmp/rlock-test-tls-XXXXXX";

/* --- the other end --------------------------------------------------------------------------- */

struct server {
    pid_t pid;
    FILE *said;
    int port;
};

/* With the certificate of that name; options: as in a shell. */
static struct server serve(const char *name, const char *options) {
    struct server server = {.port = 0};
    int fds[2];
    char command[512], line[256];
    (void)snprintf(command, sizeof command,
                   "exec openssl s_server -accept 127.0.0.1:0 -rev -cert %s.pem -cert_chain %s.pem "
                   "-key %s.key %s </dev/null 2>/dev/null",
                   name, name, name, options);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    server.pid = fork();
    assert_true(server.pid >= 0);
    if (server.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails stops nothing */
        dup2(fds[1], 1);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    close(fds[1]);
    server.said = fdopen(fds[0], "r");
    while (server.port == 0 && fgets(line, sizeof line, server.said) != NULL)
        (void)sscanf(line, "ACCEPT 127.0.0.1:%d", &server.port);
    if (server.port == 0)
        fail_msg("it does not start: %s", command);
    return server;
}

static void stop(const struct server *server) {
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    fclose(server->said);
}

/* --- this end -------------------------------------------------------------------------------- */

struct end {
    int fd;
    const struct rlock__tls_module *module;
    struct rlock__tls *tls; /* NULL: it could not be opened */
    struct rlock__error error;
};

static int connect_to(const struct server *server) {
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)server->port),
                                        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static const struct rlock__tls_config trusting = {.ca = "ca.pem"};

static enum rlock__io begin(struct end *end, int fd, const struct rlock__tls_config *config,
                            const char *host) {
    *end = (struct end){.fd = fd, .module = rlock__tls_load(&end->error)};
    return end->module->open(&end->tls, fd, config, host, &end->error);
}

static void open_to(struct end *end, const struct server *server,
                    const struct rlock__tls_config *config, const char *host) {
    assert_int_equal(begin(end, connect_to(server), config, host), RLOCK__IO_DONE);
}

static void finish(struct end *end) {
    if (end->tls != NULL)
        end->module->close(end->tls);
    close(end->fd);
}

static void await(const struct end *end, short events) {
    struct pollfd poll_fd = {.fd = end->fd, .events = events};
    if (poll(&poll_fd, 1, PATIENCE_MS) != 1)
        fail_msg("nothing came of it: %s", end->error.text);
}

static enum rlock__io shake(struct end *end) {
    short events = 0;
    enum rlock__io io;
    while ((io = end->module->handshake(end->tls, &events, &end->error)) == RLOCK__IO_WAIT)
        await(end, events);
    return io;
}

/* Reads or writes all of it. */
static enum rlock__io pass(struct end *end, bool out, char *bytes, size_t size) {
    while (size > 0) {
        size_t n = 0;
        short events = 0;
        const enum rlock__io io =
            out ? end->module->write(end->tls, bytes, size, &n, &events, &end->error)
                : end->module->read(end->tls, bytes, size, &n, &events, &end->error);
        if (io == RLOCK__IO_WAIT)
            await(end, events);
        else if (io != RLOCK__IO_DONE)
            return io;
        bytes += n;
        size -= n;
    }
    return RLOCK__IO_DONE;
}

static enum rlock__io say(struct end *end, const char *text) {
    return pass(end, true, (char *)(intptr_t)text, strlen(text));
}

static enum rlock__io hear(struct end *end, char *to, size_t size) {
    return pass(end, false, to, size);
}

/* All the way: a word goes out and comes back. */
static enum rlock__io talk(struct end *end) {
    char heard[] = "------";
    enum rlock__io io = shake(end);
    if (io == RLOCK__IO_DONE)
        io = say(end, "hello\n");
    if (io == RLOCK__IO_DONE)
        io = hear(end, heard, 6);
    if (io == RLOCK__IO_DONE)
        assert_string_equal(heard, "olleh\n");
    return io;
}

/* text: all of it, or up to where OpenSSL's own words begin; NULL: it is done. */
static void assert_outcome(const char *what, const struct end *end, enum rlock__io io,
                           enum rlock__io failure, const char *text) {
    const enum rlock__io expected = text == NULL ? RLOCK__IO_DONE : failure;
    const size_t length = text == NULL ? 0 : strlen(text);
    const bool whole = length > 0 && text[length - 1] != ' ';
    if (io != expected || (text != NULL && strncmp(end->error.text, text, length + whole) != 0))
        fail_msg("%s: %d, '%s'", what, (int)io, end->error.text);
}

/* --- certificates ---------------------------------------------------------------------------- */

#define FOR     "its certificate is for "
#define SERVERS FOR "localhost, redis.example, 127.0.0.1, ::1, not for "
#define NAMED   FOR "redis.example, *.wild.example, not for "
#define PARTIAL FOR "w*.wild.example, *d.wild.example, not for "
#define BY      "its certificate is signed by an authority that is not "

TEST(the_servers_certificate_is_checked) {
    static const struct rlock__tls_config other = {.ca = "other-ca.pem"}, system_s = {.ca = NULL},
                                          any = {.ca = "ca.pem", .insecure = true},
                                          as_redis = {.ca = "ca.pem", .name = "redis.example"},
                                          as_client = {.ca = "ca.pem", .name = "client"};
    static const struct {
        const char *server;
        const struct rlock__tls_config *config;
        const char *host, *text; /* NULL: it is good */
    } rows[] = {
        {"server", &trusting, "127.0.0.1", NULL},
        {"server", &trusting, "::1", NULL},
        {"server", &trusting, "::1%lo", NULL},
        {"server", &trusting, "localhost", NULL},
        {"server", &trusting, "Redis.Example.", NULL},
        {"server", &trusting, "127.0.0.2", SERVERS "127.0.0.2"},
        {"server", &trusting, "example", SERVERS "example"},
        {"server", &system_s, "localhost", BY "trusted here: give --tls-ca"},
        {"chained", &trusting, "localhost", NULL},
        {"named", &trusting, "127.0.0.1", NAMED "127.0.0.1"},
        {"named", &as_redis, "127.0.0.1", NULL},
        {"named", &trusting, "a.wild.example", NULL},
        {"named", &trusting, "a.b.wild.example", NAMED "a.b.wild.example"},
        {"partial", &trusting, "wa.wild.example", PARTIAL "wa.wild.example"},
        {"partial", &trusting, "abcd.wild.example", PARTIAL "abcd.wild.example"},
        {"common", &trusting, "redis.example", NULL},
        {"common", &trusting, "another.example", FOR "redis.example, not for another.example"},
        {"foreign", &trusting, "localhost", BY "in ca.pem"},
        {"foreign", &any, "nobody", NULL},
        {"ca", &other, "localhost", BY "in other-ca.pem"},
        {"expired", &trusting, "localhost", "its certificate has expired"},
        {"future", &trusting, "localhost",
         "its certificate is not valid yet: is this machine's clock right?"},
        {"client", &as_client, "", "its certificate cannot be verified: "},
    };
    struct server server = {.pid = 0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char what[128];
        struct end end;
        if (i == 0 || strcmp(rows[i].server, rows[i - 1].server) != 0)
            server = serve(rows[i].server, "");
        (void)snprintf(what, sizeof what, "%s as %s", rows[i].server, rows[i].host);
        open_to(&end, &server, rows[i].config, rows[i].host);
        assert_outcome(what, &end, talk(&end), RLOCK__IO_DENIED, rows[i].text);
        finish(&end);
        if (i + 1 == COUNT(rows) || strcmp(rows[i].server, rows[i + 1].server) != 0)
            stop(&server);
    }
}

#define WANTED  "the server requires a client certificate: give --tls-cert and --tls-key"
#define REFUSED "the server refuses our certificate: "

/* What comes of a talk with such a server. */
static void assert_talk(const char *options, const struct rlock__tls_config *config,
                        enum rlock__io failure, const char *text) {
    struct end end;
    struct server server = serve("server", options);
    open_to(&end, &server, config, "localhost");
    assert_outcome(options, &end, talk(&end), failure, text);
    finish(&end);
    stop(&server);
}

TEST(a_server_may_want_a_certificate_of_ours) {
    static const struct {
        const char *options, *cert, *key, *text;
    } rows[] = {
        {"-Verify 1", "client.pem", "client.key", NULL},
        {"-Verify 1", NULL, NULL, WANTED},
        {"-Verify 1", "foreign.pem", "foreign.key",
         REFUSED "it does not trust the authority that signed it"},
        {"-Verify 1", "expired.pem", "expired.key", REFUSED "it has expired"},
        {"-verify 1", NULL, NULL, NULL}, /* it asks, but does not insist */
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        const size_t row = i / 2;
        const struct rlock__tls_config config = {
            .ca = "ca.pem", .cert = rows[row].cert, .key = rows[row].key};
        char options[128];
        (void)snprintf(options, sizeof options, "%s %s -verify_return_error -CAfile ca.pem",
                       i % 2 == 0 ? "-tls1_2" : "-tls1_3", rows[row].options);
        assert_talk(options, &config, RLOCK__IO_DENIED, rows[row].text);
    }
}

TEST(versions_and_ciphers_must_meet) {
    assert_talk("-tls1_1 -cipher ALL:@SECLEVEL=0", &trusting, RLOCK__IO_BROKEN,
                "the server does not support TLS 1.2 or newer");
    assert_talk("-tls1_2 -cipher ECDHE-RSA-AES256-GCM-SHA384", &trusting, RLOCK__IO_BROKEN,
                "the server has no TLS version or cipher in common with us");
}

#define AUTHORITIES "cannot use the authorities' certificates in "
#define CERT        "cannot use the certificate in "
#define KEY         "cannot use the key in "

TEST(files_that_are_of_no_use_are_told) {
    static const char both[] = "a certificate needs its key, and a key its certificate: give both";
    static const struct {
        struct rlock__tls_config config;
        const char *text;
    } rows[] = {
        {{.ca = "none.pem"}, AUTHORITIES "none.pem: No such file or directory"},
        {{.ca = "config"}, AUTHORITIES "config: the file has none in PEM format"},
        {{.cert = "none.pem", .key = "client.key"}, CERT "none.pem: No such file or directory"},
        {{.cert = "client.key", .key = "client.key"},
         CERT "client.key: the file has none in PEM format"},
        {{.cert = "client.pem", .key = "none.key"}, KEY "none.key: No such file or directory"},
        {{.cert = "client.pem", .key = "server.key"},
         KEY "server.key: it does not match the certificate"},
        {{.cert = "client.pem", .key = "other.key"},
         KEY "other.key: it does not match the certificate"},
        /* And nobody is asked for the passphrase on the terminal. */
        {{.cert = "client.pem", .key = "client-locked.key"},
         KEY "client-locked.key: it is protected by a passphrase"},
        {{.cert = "client.pem"}, both},
        {{.key = "client.key"}, both},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct end end;
        assert_outcome(rows[i].text, &end, begin(&end, -1, &rows[i].config, "localhost"),
                       RLOCK__IO_DENIED, rows[i].text);
        assert_null(end.tls);
    }
}

/* --- what is no TLS -------------------------------------------------------------------------- */

/* One end of a pair is the session's, the other is the test's. */
static int begin_pair(struct end *end, const char *host) {
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(begin(end, fds[0], &trusting, host), RLOCK__IO_DONE);
    return fds[1];
}

TEST(a_server_without_tls_is_told) {
    static const char no_tls[] = "the server does not speak TLS (is it redis://?)";
    static const struct {
        const char *answer, *text;
    } rows[] = {
        {"-ERR unknown command\r\n", no_tls},
        {"HTTP/1.1 400 Bad Request\r\n", no_tls},
        {"\x15\x03\x03\x00\x02\x02\x70", "the server does not recognize the name localhost"},
        {"\x15\x03\x03\x00\x02\x02\x50", "the server aborted TLS: internal error"},
        {"", "the server closed the connection in the TLS handshake (is it redis://?)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct end end;
        short events = 0;
        const int peer = begin_pair(&end, "localhost");
        const size_t size = rows[i].answer[0] == '\x15' ? 7 : strlen(rows[i].answer);
        assert_int_equal(end.module->handshake(end.tls, &events, &end.error), RLOCK__IO_WAIT);
        assert_int_equal(write(peer, rows[i].answer, size), size);
        assert_int_equal(shutdown(peer, SHUT_WR), 0);
        assert_outcome(rows[i].answer, &end, shake(&end), RLOCK__IO_BROKEN, rows[i].text);
        close(peer);
        finish(&end);
    }
}

/* The name goes into the first message, in the clear; an address must not (RFC 6066, section 3). */
TEST(a_name_is_asked_for_and_an_address_is_not) {
    static const struct {
        const char *host;
        bool told;
    } rows[] = {{"redis.example", true}, {"127.0.0.1", false}, {"::1", false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct end end;
        char first[4096];
        short events = 0;
        const int peer = begin_pair(&end, rows[i].host);
        assert_int_equal(end.module->handshake(end.tls, &events, &end.error), RLOCK__IO_WAIT);
        const ssize_t n = read(peer, first, sizeof first);
        assert_true(n > 0);
        assert_int_equal(memmem(first, (size_t)n, rows[i].host, strlen(rows[i].host)) != NULL,
                         rows[i].told);
        close(peer);
        finish(&end);
    }
}

enum { LINES = 600, LINE_SIZE = 8192 };

/* Writes as much as goes now. Returns how much of all has gone. */
static size_t pour(struct end *end, const char *line, size_t gone, short *events) {
    enum rlock__io io = RLOCK__IO_DONE;
    while (gone < LINES * LINE_SIZE && io == RLOCK__IO_DONE) {
        size_t n = 0;
        const size_t at = gone % LINE_SIZE;
        io = end->module->write(end->tls, line + at, LINE_SIZE - at, &n, events, &end->error);
        gone += n;
    }
    assert_true(io == RLOCK__IO_DONE || io == RLOCK__IO_WAIT);
    return gone;
}

/* A server that does not read, and then sends back what nobody reads. */
TEST(what_does_not_go_at_once_goes_later) {
    static char line[LINE_SIZE], back[LINE_SIZE], heard[LINE_SIZE];
    struct end end;
    struct server server = serve("server", "");
    short events = 0;
    open_to(&end, &server, &trusting, "localhost");
    for (size_t i = 0; i < LINE_SIZE - 1; i++)
        line[i] = back[LINE_SIZE - 2 - i] = (char)('a' + i % 23);
    line[LINE_SIZE - 1] = back[LINE_SIZE - 1] = '\n';
    assert_int_equal(shake(&end), RLOCK__IO_DONE);
    kill(server.pid, SIGSTOP);
    size_t gone = pour(&end, line, 0, &events), come = 0;
    assert_true(gone < LINES * LINE_SIZE);
    assert_int_equal(events, POLLOUT);
    kill(server.pid, SIGCONT);
    while (come < LINES * LINE_SIZE) {
        gone = pour(&end, line, gone, &events);
        assert_int_equal(hear(&end, heard, 1), RLOCK__IO_DONE); /* the rest is kept for us */
        assert_int_equal(hear(&end, heard + 1, LINE_SIZE - 1), RLOCK__IO_DONE);
        assert_memory_equal(heard, back, LINE_SIZE);
        come += LINE_SIZE;
    }
    size_t n;
    assert_int_equal(end.module->read(end.tls, heard, 1, &n, &events, &end.error), RLOCK__IO_WAIT);
    assert_int_equal(events, POLLIN);
    finish(&end);
    stop(&server);
}

/* One that has refused us has closed before we send anything: its reason is waiting to be read all
 * the same. */
TEST(a_server_that_goes_is_told_and_raises_no_signal) {
    static const struct {
        const char *options;
        bool writes;
        enum rlock__io io;
        const char *text; /* NULL: the system's */
    } rows[] = {
        {"", false, RLOCK__IO_BROKEN, "the server closed the connection"},
        {"", true, RLOCK__IO_BROKEN, NULL},
        {"-tls1_3 -Verify 1 -verify_return_error -CAfile ca.pem", true, RLOCK__IO_DENIED, WANTED},
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        struct end end;
        struct server server = serve("server", rows[row].options);
        char byte;
        open_to(&end, &server, &trusting, "localhost");
        const bool refuses = rows[row].io == RLOCK__IO_DENIED;
        assert_int_equal(refuses ? shake(&end) : talk(&end), RLOCK__IO_DONE);
        if (refuses)
            await(&end, POLLIN);
        stop(&server); /* so that what is sent is answered by a reset */
        enum rlock__io io = RLOCK__IO_DONE;
        for (int i = 0; i < 1000 && io == RLOCK__IO_DONE; i++) {
            await(&end, refuses && i == 0 ? POLLIN : POLLRDHUP);
            io = rows[row].writes ? say(&end, "hello\n") : hear(&end, &byte, 1);
        }
        assert_int_equal(io, rows[row].io);
        if (rows[row].text != NULL)
            assert_string_equal(end.error.text, rows[row].text);
        finish(&end);
    }
}

enum { THREADS = 4, TALKS = 10 };

static void *talk_often(void *arg) {
    const struct server *server = arg;
    for (int i = 0; i < TALKS; i++) {
        struct end end;
        if (begin(&end, connect_to(server), &trusting, "localhost") != RLOCK__IO_DONE ||
            talk(&end) != RLOCK__IO_DONE)
            return arg;
        finish(&end);
    }
    return NULL;
}

TEST(threads_have_sessions_of_their_own) {
    struct server servers[THREADS];
    pthread_t threads[THREADS];
    void *failed;
    for (size_t i = 0; i < THREADS; i++)
        servers[i] = serve("server", "");
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, talk_often, &servers[i]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
        stop(&servers[i]);
    }
}

/* --------------------------------------------------------------------------------------------- */

void before_all(void) {
    char command[1024];
    const char *source = getenv("RLOCK_SOURCE_DIR"); /* else from the source's directory */
    assert_non_null(mkdtemp(directory));
    (void)snprintf(command, sizeof command, "bash '%s/tests/lib/certificates.bash' %s",
                   source != NULL ? source : ".", directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(chdir(directory), 0);
}

void after_all(void) {
    char command[64];
    (void)snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(system(command), 0);
}
