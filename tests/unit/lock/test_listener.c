/* test_listener.c: what a waiter hears, from a server that speaks when the test wants it to. */
#include "support/test.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lock/lock.h"

/* Messages are made of these: the own channel, the shared one. */
#define OWN    "@own"
#define SHARED "@shared"

#define GRANTED "*3\r\n:1\r\n:17\r\n:30000\r\n"
#define BUSY_2ND                                                                                   \
    "*9\r\n:0\r\n:29000\r\n:2\r\n$1\r\no\r\n$1\r\nh\r\n:1\r\n$1\r\nu\r\n$1\r\nc\r\n:0\r\n"

/* The connection for requests is a socket pair, the one for listening the first that is made to
 * `path`. On each a thread says the next text each time that a request has come. */
struct fixture {
    char directory[32], path[48];
    rlock_client *client;
    rlock_lock *lock;
    int answers, door, speech; /* the server's ends */
    const char *const *answered, *const *said;
    pthread_t answerer, thread;
};

static void say(const struct fixture *f, const char *text) {
    const struct rlock__resource *resource = &f->lock->resources[0];
    char message[1024];
    size_t length = 0;
    while (*text != '\0') {
        const char *channel = strncmp(text, OWN, strlen(OWN)) == 0         ? resource->own_channel
                              : strncmp(text, SHARED, strlen(SHARED)) == 0 ? resource->channel
                                                                           : NULL;
        if (channel != NULL) {
            text += strlen(channel == resource->own_channel ? OWN : SHARED);
            length += (size_t)snprintf(message + length, sizeof message - length, "$%zu\r\n%s\r\n",
                                       strlen(channel), channel);
        } else {
            message[length++] = *text++;
        }
    }
    if (send(f->speech, message, length, MSG_NOSIGNAL) != (ssize_t)length)
        abort();
}

static void *speak(void *arg) {
    struct fixture *f = arg;
    char request[1024];
    f->speech = accept(f->door, NULL, NULL);
    for (const char *const *text = f->said; *text != NULL; text++) {
        if (recv(f->speech, request, sizeof request, 0) <= 0)
            break;
        say(f, *text);
    }
    return NULL;
}

static void *answer(void *arg) {
    const struct fixture *f = arg;
    char request[1024];
    for (const char *const *text = f->answered; *text != NULL; text++) {
        if (recv(f->answers, request, sizeof request, 0) <= 0)
            break;
        if (send(f->answers, *text, strlen(*text), MSG_NOSIGNAL) < 0)
            break;
    }
    return NULL;
}

static void open_door(struct fixture *f) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *f = (struct fixture){.directory = "/tmp/rlock-test-XXXXXX", .speech = -1};
    assert_non_null(mkdtemp(f->directory));
    (void)snprintf(f->path, sizeof f->path, "%s/sock", f->directory);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", f->path);
    f->door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(f->door, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(f->door, 1), 0);
}

static void begin(struct fixture *f, const char *const *answers, const char *const *said) {
    char url[64];
    int fds[2];
    const char *names[] = {"x"};
    open_door(f);
    (void)snprintf(url, sizeof url, "unix://%s", f->path);
    const char *const servers[] = {url};
    const struct rlock_client_options client = {.size = sizeof client,
                                                .servers = servers,
                                                .server_count = 1,
                                                .connect_timeout_ms = 5000,
                                                .io_timeout_ms = 5000};
    const struct rlock_lock_options lock = {
        .size = sizeof lock, .kind = "run", .names = names, .name_count = 1, .lease_ms = 30000};
    assert_int_equal(rlock_client_new(&f->client, &client), RLOCK_OK);
    assert_int_equal(rlock_lock_new(&f->lock, f->client, &lock), RLOCK_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    struct rlock__link *link = &f->client->routes.at[0].link;
    link->conn = (struct rlock__conn){.fd = fds[0], .reader = redisReaderCreate()};
    link->stage = RLOCK__READY;
    f->answers = fds[1];
    f->answered = answers;
    f->said = said;
    assert_int_equal(pthread_create(&f->answerer, NULL, answer, f), 0);
    assert_int_equal(pthread_create(&f->thread, NULL, speak, f), 0);
}

static void end(struct fixture *f) {
    rlock_lock_free(f->lock);
    rlock_client_free(f->client);
    (void)shutdown(f->door, SHUT_RDWR);
    pthread_join(f->thread, NULL);
    pthread_join(f->answerer, NULL);
    close(f->answers);
    close(f->door);
    close(f->speech);
    unlink(f->path);
    rmdir(f->directory);
}

/* Listens for the lock, and for Redisson's releases too if `shared`. */
static void listen_for(struct fixture *f, bool shared) {
    const struct rlock__limit limit = {rlock_now_ms() + 5000, -1, NULL};
    assert_int_equal(
        rlock__listen(&f->lock->listener, f->client, &f->lock->resources[0], shared, &limit),
        RLOCK_OK);
}

static enum rlock_status hear_within(struct fixture *f, int64_t ms, struct rlock__news *news) {
    const struct rlock__limit limit = {rlock_now_ms() + ms, -1, NULL};
    return rlock__hear(&f->lock->listener, &limit, news);
}

static enum rlock_status acquire_within(struct fixture *f, int64_t ms) {
    const struct rlock_wait wait = {sizeof wait, rlock_now_ms() + ms, RLOCK_FOREVER, -1, NULL,
                                    NULL};
    return rlock_acquire(f->lock, &wait);
}

#define CONFIRM(channel, count) "*3\r\n$9\r\nsubscribe\r\n" channel ":" #count "\r\n"
#define MESSAGE(channel, text)  "*3\r\n$7\r\nmessage\r\n" channel text
#define ZERO                    "$1\r\n0\r\n"
#define FIRST                   "$11\r\nfirst 30000\r\n"
#define BEAT                    "$4\r\nbeat\r\n"

static const char *const busy_twice[] = {BUSY_2ND, BUSY_2ND, GRANTED, NULL};
static const char *const nothing[] = {NULL};

/* --- tests --------------------------------------------------------------------------------------
 */

static void a_message_wakes_the_sleeper(void **state) {
    (void)state;
    struct fixture f;
    static const char *const said[] = {CONFIRM(OWN, 1) MESSAGE(OWN, ZERO), NULL};
    begin(&f, busy_twice, said);
    assert_int_equal(acquire_within(&f, 3000), RLOCK_OK);
    end(&f);
}

/* Told that it is first now, it subscribes once more; the release that comes before that is
 * confirmed must not be lost, or all would sleep until a cap. */
static void a_release_while_it_subscribes_is_heard(void **state) {
    (void)state;
    static const char *const releases[] = {MESSAGE(OWN, ZERO) CONFIRM(SHARED, 2),
                                           CONFIRM(SHARED, 2) MESSAGE(OWN, ZERO),
                                           CONFIRM(SHARED, 2) MESSAGE(SHARED, ZERO)};
    for (size_t i = 0; i < COUNT(releases); i++) {
        struct fixture f;
        const char *const said[] = {CONFIRM(OWN, 1) MESSAGE(OWN, FIRST), releases[i], NULL};
        begin(&f, busy_twice, said);
        const enum rlock_status status = acquire_within(&f, 3000);
        if (status != RLOCK_OK)
            fail_msg("%zu: %s", i, rlock_status_text(status));
        end(&f);
    }
}

static void strange_messages_wake_nobody(void **state) {
    (void)state;
    static const char *const strange[] = {
        MESSAGE("$1\r\ny\r\n", "$-1\r\n"), "*1\r\n$7\r\nmessage\r\n",
        "*2\r\n$7\r\nmessage\r\n:1\r\n",   "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n" OWN ZERO,
        ":1\r\n+OK\r\n$-1\r\n*-1\r\n",     MESSAGE(OWN, "$-1\r\n"),
    };
    for (size_t i = 0; i < COUNT(strange); i++) {
        struct fixture f;
        struct rlock__news news;
        char speech[512];
        const char *const said[] = {speech, NULL};
        (void)snprintf(speech, sizeof speech, "%s%s", CONFIRM(OWN, 1), strange[i]);
        begin(&f, nothing, said);
        listen_for(&f, false);
        assert_int_equal(hear_within(&f, 30, &news), RLOCK_OK);
        assert_false(rlock__is_news(&news));
        end(&f);
    }
}

/* One release speaks on both channels: that is one try, not two. */
static void all_that_has_come_is_one_piece_of_news(void **state) {
    (void)state;
    struct fixture f;
    struct rlock__news news;
    static const char *const said[] = {CONFIRM(OWN, 1) CONFIRM(SHARED, 2) MESSAGE(OWN, FIRST)
                                           MESSAGE(OWN, BEAT) MESSAGE(SHARED, ZERO)
                                               MESSAGE(OWN, ZERO),
                                       NULL};
    begin(&f, nothing, said);
    listen_for(&f, true);
    assert_int_equal(hear_within(&f, 5000, &news), RLOCK_OK);
    assert_true(news.woken && news.released && news.heartbeat && news.first_ms == 30000);
    assert_int_equal(hear_within(&f, 20, &news), RLOCK_OK);
    assert_false(rlock__is_news(&news));
    end(&f);
}

static void a_dead_connection_is_told(void **state) {
    (void)state;
    struct fixture f;
    struct rlock__news news;
    static const char *const said[] = {CONFIRM(OWN, 1), NULL};
    begin(&f, nothing, said);
    listen_for(&f, false);
    (void)shutdown(f.speech, SHUT_RDWR);
    assert_int_equal(hear_within(&f, 5000, &news), RLOCK_UNAVAILABLE);
    assert_null(f.lock->listener.resource); /* it hears nothing, and says so */
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_wakes_the_sleeper),
        cmocka_unit_test(a_release_while_it_subscribes_is_heard),
        cmocka_unit_test(strange_messages_wake_nobody),
        cmocka_unit_test(all_that_has_come_is_one_piece_of_news),
        cmocka_unit_test(a_dead_connection_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
