/* test_connect.c: how a link gets to a server that listens to it: look-up, connection, log-in, and
 * what time they may take. */
#include "support/test.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "redis/link.h"
#include "redis/reply_error.h"
#include "support/peer.h"

enum { LONG_MS = 5000, SHORT_MS = 50 };

static const char *const answers[] = {"+OK\r\n", "+OK\r\n", "+OK\r\n", "+OK\r\n", NULL};

/* --- the name service ---------------------------------------------------------------------------
 * It knows each name, when it knows anything: one address at which nobody listens, or many, and
 * then ours.
 */

enum { KNOWS, KNOWS_MANY, FAILS, HANGS };
enum { MANY = 20 };

static struct {
    atomic_int mode; /* a look-up that is slow reads it in a thread of its own */
    sem_t go_on;     /* for those that hang */
    atomic_int begun, ended;
} names;

static int forget(void **state) {
    (void)state;
    names.mode = KNOWS;
    atomic_store(&names.begun, 0);
    atomic_store(&names.ended, 0);
    return sem_init(&names.go_on, 0, 0);
}

int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **found);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **found);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **found) {
    if ((hints->ai_flags & AI_NUMERICHOST) != 0)
        return __real_getaddrinfo(host, port, hints, found);
    atomic_fetch_add(&names.begun, 1);
    if (names.mode == HANGS)
        (void)sem_wait(&names.go_on);
    int failure = names.mode == KNOWS || names.mode == KNOWS_MANY ? 0 : EAI_AGAIN;
    for (int i = names.mode == KNOWS ? 1 : MANY - 1; failure == 0 && i > 0; i--) {
        failure = __real_getaddrinfo("127.0.0.2", port, hints, found);
        found = &(*found)->ai_next;
    }
    if (failure == 0)
        failure = __real_getaddrinfo("127.0.0.1", port, hints, found);
    atomic_fetch_add(&names.ended, 1);
    return failure;
}

/* --- helpers ------------------------------------------------------------------------------------
 */

static const struct rlock__access nobody = {.connect_timeout_ms = LONG_MS};
static struct rlock__error error; /* of the last link */

static enum rlock_status ping(struct rlock__link *link, int64_t limit_ms) {
    const char *words[] = {"PING"};
    const struct rlock__limit limit = {
        limit_ms == RLOCK_FOREVER ? limit_ms : rlock_now_ms() + limit_ms, -1, NULL};
    rlock__reply *reply = NULL;
    assert_true(rlock__link_ask_words(link, 1, words));
    const enum rlock_status status = rlock__link_call(link, &limit, &reply);
    assert_int_equal(reply != NULL, status == RLOCK_OK);
    rlock__reply_free(reply);
    return status;
}

static void assert_closed(const struct rlock__link *link) {
    assert_int_equal(link->stage, RLOCK__CLOSED);
    assert_int_equal(link->conn.fd, -1);
}

/* --- look-up ------------------------------------------------------------------------------------
 */

static void paths_and_numbers_are_not_looked_up(void **state) {
    (void)state;
    struct peer peers[2];
    struct rlock__link links[2];
    peer_start(&peers[0], answers);
    peer_listen_tcp(&peers[1]);
    peer_serve(&peers[1], answers);
    rlock__link_init(&links[0], peers[0].path, "", &nobody, &error);
    rlock__link_init(&links[1], "127.0.0.1", peers[1].port, &nobody, &error);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ping(&links[i], LONG_MS), RLOCK_OK);
        assert_int_equal(links[i].stage, RLOCK__READY);
        rlock__link_close(&links[i]);
        peer_stop(&peers[i]);
        peer_free(&peers[i]);
    }
    assert_int_equal(atomic_load(&names.begun), 0);
}

/* The second address is tried when nobody listens at the first; addresses that have worked serve
 * again. */
static void a_name_is_looked_up_once(void **state) {
    (void)state;
    struct peer peer;
    struct rlock__link link;
    peer_listen_tcp(&peer);
    peer_serve(&peer, answers);
    rlock__link_init(&link, "somewhere", peer.port, &nobody, &error);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
        assert_int_equal(link.addresses.count, 2);
        rlock__link_close(&link);
    }
    assert_int_equal(atomic_load(&names.begun), 1);
    peer_stop(&peer);
    assert_int_equal(peer.request_count, 2);
    peer_free(&peer);
}

static void addresses_that_do_not_work_are_looked_up_again(void **state) {
    (void)state;
    struct peer peer;
    struct rlock__link link;
    peer_listen_tcp(&peer);
    rlock__link_init(&link, "somewhere", peer.port, &nobody, &error);
    peer_serve(&peer, answers);
    peer_stop(&peer); /* nobody listens there any more */
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(ping(&link, LONG_MS), RLOCK_AGAIN);
        assert_string_equal(error.text, "Connection refused");
        assert_int_equal(atomic_load(&names.begun), i);
        assert_closed(&link);
    }
    assert_false(link.answered || link.in_doubt);
    peer_free(&peer);
}

/* However many a name has. */
static void each_address_has_its_turn(void **state) {
    (void)state;
    struct peer peer;
    struct rlock__link link;
    names.mode = KNOWS_MANY;
    peer_listen_tcp(&peer);
    peer_serve(&peer, answers);
    rlock__link_init(&link, "somewhere", peer.port, &nobody, &error);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_AGAIN);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_AGAIN);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
    assert_int_equal(atomic_load(&names.begun), 3);
    rlock__link_close(&link);
    peer_stop(&peer);
    peer_free(&peer);
}

static void a_name_that_is_not_found_may_be_later(void **state) {
    (void)state;
    struct rlock__link link;
    names.mode = FAILS;
    rlock__link_init(&link, "somewhere", "1", &nobody, &error);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(ping(&link, LONG_MS), RLOCK_AGAIN);
        assert_string_equal(error.text, gai_strerror(EAI_AGAIN));
        assert_int_equal(atomic_load(&names.begun), i);
        assert_closed(&link);
    }
}

static void let_go_on(int hanging, int all) {
    for (int i = 0; i < hanging; i++)
        (void)sem_post(&names.go_on);
    while (atomic_load(&names.ended) < all) /* the threads are nobody's: none may outlive us */
        (void)sched_yield();
}

static void a_look_up_may_take_too_long(void **state) {
    (void)state;
    struct rlock__access access = {.connect_timeout_ms = SHORT_MS};
    struct rlock__link link;
    names.mode = HANGS;
    rlock__link_init(&link, "somewhere", "1", &access, &error);
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(ping(&link, LONG_MS), RLOCK_AGAIN);
    assert_in_range(rlock_now_ms() - begun_ms, SHORT_MS, LONG_MS - 1);
    assert_string_equal(error.text, "looking up the host took too long");
    assert_closed(&link);

    access.connect_timeout_ms = LONG_MS;
    assert_int_equal(ping(&link, SHORT_MS), RLOCK_AGAIN);
    assert_string_equal(error.text, "no connection in time");
    assert_closed(&link);

    const struct rlock__limit cancelled = {RLOCK_FOREVER, eventfd(1, EFD_CLOEXEC), NULL};
    rlock__reply *reply;
    assert_int_equal(rlock__link_call(&link, &cancelled, &reply), RLOCK_CANCELLED);
    assert_closed(&link);
    close(cancelled.cancel_fd);
    let_go_on(3, 3);
}

/* A name service that has died since does no harm (FAULTS, B15): what was known serves on. Where it
 * says nothing at all, one request's time is lost, not each one's. */
static void a_name_keeps_its_addresses(void **state) {
    (void)state;
    static const struct rlock__access user = {.password = "s3cr3t", .connect_timeout_ms = LONG_MS};
    struct peer peer;
    struct rlock__link link;
    peer_listen_tcp(&peer);
    peer_serve(&peer, answers);
    rlock__link_init(&link, "somewhere", peer.port, &user, &error);
    assert_true(rlock__address_of_number(&link.addresses, "127.0.0.1", peer.port));
    names.mode = FAILS;
    assert_true(link.look_up_again);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
    assert_int_equal(atomic_load(&names.begun), 1);
    rlock__link_close(&link);

    names.mode = HANGS;
    link.look_up_again = true;
    assert_int_equal(ping(&link, SHORT_MS), RLOCK_AGAIN);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
    assert_int_equal(atomic_load(&names.begun), 2);
    rlock__link_close(&link);
    let_go_on(1, 2);
    peer_stop(&peer);
    peer_free(&peer);
}

/* The connection was lost: by now the name may lead to the one that has taken over. */
static void after_a_failure_a_name_is_looked_up_again(void **state) {
    (void)state;
    static const char *const closes[] = {"+OK\r\n", PEER_CLOSE, "+OK\r\n", NULL};
    struct peer peer;
    struct rlock__link link;
    peer_listen_tcp(&peer);
    peer_serve(&peer, closes);
    rlock__link_init(&link, "somewhere", peer.port, &nobody, &error);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
    assert_int_equal(atomic_load(&names.begun), 1);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_AGAIN);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
    assert_int_equal(atomic_load(&names.begun), 2);
    rlock__link_close(&link);
    peer_stop(&peer);
    peer_free(&peer);
}

/* Where a name leads to is not waited for while it is known where it led; what the name service
 * says in the end serves the next connection. */
static void a_slow_name_service_holds_nobody_up(void **state) {
    (void)state;
    struct peer peer;
    struct rlock__link link;
    peer_listen_tcp(&peer);
    peer_serve(&peer, answers);
    rlock__link_init(&link, "somewhere", peer.port, &nobody, &error);
    assert_true(rlock__address_of_number(&link.addresses, "127.0.0.1", peer.port));
    names.mode = HANGS;
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
    assert_in_range(rlock_now_ms() - begun_ms, 300, 3000);
    rlock__link_distrust(&link);
    names.mode = KNOWS;
    let_go_on(1, 1);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
    assert_int_equal(link.addresses.count, 2);
    assert_int_equal(atomic_load(&names.begun), 1);
    rlock__link_close(&link);
    peer_stop(&peer);
    peer_free(&peer);
}

/* Who is no master, or none yet, may have been replaced. Who is only busy is the right one. */
static void who_is_not_the_one_to_ask_is_left(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        size_t connections;
    } rows[] = {
        {"-READONLY You can't write against a read only replica.\r\n", 2},
        {"-MASTERDOWN Link with MASTER is down\r\n", 2},
        {"-LOADING Redis is loading\r\n", 2},
        {"-NOREPLICAS Not enough good replicas\r\n", 2},
        {"-MISCONF Redis is configured to save\r\n", 2},
        {"-BUSY Redis is busy\r\n", 1},
        {"-TRYAGAIN Multiple keys request\r\n", 1},
        {"-OOM command not allowed\r\n", 1},
        {"-WRONGTYPE no\r\n", 1},
        {"+OK\r\n", 1},
    };
    const char *words[] = {"PING"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const says[] = {rows[i].answer, "+OK\r\n", NULL};
        const struct rlock__limit limit = {rlock_now_ms() + LONG_MS, -1, NULL};
        struct peer peer;
        struct rlock__link link;
        rlock__reply *reply;
        peer_start(&peer, says);
        rlock__link_init(&link, peer.path, "", &nobody, &error);
        assert_true(rlock__link_ask_words(&link, 1, words));
        assert_int_equal(rlock__link_call(&link, &limit, &reply), RLOCK_OK);
        (void)rlock__reply_judge(&link, reply);
        rlock__reply_free(reply);
        assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
        rlock__link_close(&link);
        peer_stop(&peer);
        assert_int_equal(peer.request_count, 2);
        if (peer.requests[1].connection != rows[i].connections)
            fail_msg("%s", rows[i].answer);
        peer_free(&peer);
    }
}

/* What is no URL's, and so was never measured. */
static void a_path_that_is_too_long_is_no_address(void **state) {
    (void)state;
    char path[RLOCK__HOST_SIZE];
    struct rlock__link link;
    memset(path, 'A', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    rlock__link_init(&link, path, "", &nobody, &error);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_UNAVAILABLE);
    assert_string_equal(error.text, "the path of a socket has at most 107 bytes");
    assert_closed(&link);
}

static void what_another_link_has_found_is_taken_over(void **state) {
    (void)state;
    struct peer peer;
    struct rlock__link first, like, other;
    peer_listen_tcp(&peer);
    peer_serve(&peer, answers);
    rlock__link_init(&first, "somewhere", peer.port, &nobody, &error);
    rlock__link_init(&like, "somewhere", peer.port, &nobody, &error);
    rlock__link_init(&other, "elsewhere", peer.port, &nobody, &error);
    rlock__link_like(&like, &first); /* nothing is known yet */
    assert_true(like.look_up_again);
    assert_int_equal(ping(&first, LONG_MS), RLOCK_OK);
    rlock__link_close(&first);
    names.mode = FAILS;
    rlock__link_like(&like, &first);
    rlock__link_like(&other, &first);
    assert_int_equal(ping(&like, LONG_MS), RLOCK_OK);
    rlock__link_close(&like);
    assert_int_equal(ping(&other, LONG_MS), RLOCK_AGAIN);
    peer_stop(&peer);
    peer_free(&peer);
}

/* --- connecting ---------------------------------------------------------------------------------
 */

static void nobody_there_is_told(void **state) {
    (void)state;
    struct rlock__link link;
    rlock__link_init(&link, "/tmp/rlock-there-is-no-such-socket", "", &nobody, &error);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_AGAIN);
    assert_string_equal(error.text, "No such file or directory");
    assert_false(link.answered || link.in_doubt);
    assert_closed(&link);
}

/* A port whose queue of connections is full: it says nothing to one more. */
struct deaf {
    int door, in_queue[2];
    struct sockaddr_in address;
};

static void deaf_open(struct deaf *deaf) {
    socklen_t size = sizeof deaf->address;
    deaf->address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *address = (struct sockaddr *)&deaf->address;
    deaf->door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(deaf->door, address, size), 0);
    assert_int_equal(listen(deaf->door, 0), 0);
    assert_int_equal(getsockname(deaf->door, address, &size), 0);
    for (size_t i = 0; i < COUNT(deaf->in_queue); i++) {
        deaf->in_queue[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(deaf->in_queue[i], address, size);
    }
}

static void deaf_close(struct deaf *deaf) {
    for (size_t i = 0; i < COUNT(deaf->in_queue); i++)
        close(deaf->in_queue[i]);
    close(deaf->door);
}

static void a_silent_address_ends_in_time(void **state) {
    (void)state;
    static const struct rlock__access hasty = {.connect_timeout_ms = SHORT_MS};
    struct deaf deaf;
    struct rlock__link link;
    char port[8];
    deaf_open(&deaf);
    (void)snprintf(port, sizeof port, "%d", ntohs(deaf.address.sin_port));
    rlock__link_init(&link, "127.0.0.1", port, &hasty, &error);
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(ping(&link, RLOCK_FOREVER), RLOCK_AGAIN);
    assert_in_range(rlock_now_ms() - begun_ms, SHORT_MS, LONG_MS);
    assert_string_equal(error.text, "no connection in time");
    assert_false(link.answered || link.in_doubt);
    assert_closed(&link);
    deaf_close(&deaf);
}

/* ... and does not eat the time of those behind it. */
static void a_silent_address_leaves_time_for_the_next(void **state) {
    (void)state;
    static const struct rlock__access patient = {.connect_timeout_ms = 400};
    struct deaf deaf;
    struct peer peer;
    struct rlock__link link;
    deaf_open(&deaf);
    peer_listen_tcp(&peer);
    peer_serve(&peer, answers);
    rlock__link_init(&link, "somewhere", peer.port, &patient, &error);
    assert_true(rlock__address_of_number(&link.addresses, "127.0.0.1", peer.port));
    link.addresses.at[link.addresses.count++] = link.addresses.at[0];
    memcpy(&link.addresses.at[0].address, &deaf.address, sizeof deaf.address);
    link.look_up_again = false;
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
    assert_in_range(rlock_now_ms() - begun_ms, 200, 399);
    rlock__link_close(&link);
    deaf_close(&deaf);
    peer_stop(&peer);
    peer_free(&peer);
}

/* The host has moved, and at its old address nobody says no: also a request that had no time to
 * find that out has found it out. */
static void after_silence_a_name_is_looked_up_again(void **state) {
    (void)state;
    struct deaf deaf;
    struct peer peer;
    struct rlock__link link;
    deaf_open(&deaf);
    peer_listen_tcp(&peer);
    peer_serve(&peer, answers);
    rlock__link_init(&link, "somewhere", peer.port, &nobody, &error);
    link.addresses.count = 1;
    link.addresses.at[0].length = sizeof deaf.address;
    memcpy(&link.addresses.at[0].address, &deaf.address, sizeof deaf.address);
    link.look_up_again = false;
    assert_int_equal(ping(&link, SHORT_MS), RLOCK_AGAIN);
    assert_int_equal(ping(&link, LONG_MS), RLOCK_OK);
    assert_int_equal(atomic_load(&names.begun), 1);
    rlock__link_close(&link);
    deaf_close(&deaf);
    peer_stop(&peer);
    peer_free(&peer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(paths_and_numbers_are_not_looked_up, forget),
        cmocka_unit_test_setup(a_name_is_looked_up_once, forget),
        cmocka_unit_test_setup(addresses_that_do_not_work_are_looked_up_again, forget),
        cmocka_unit_test_setup(each_address_has_its_turn, forget),
        cmocka_unit_test_setup(a_name_that_is_not_found_may_be_later, forget),
        cmocka_unit_test_setup(a_look_up_may_take_too_long, forget),
        cmocka_unit_test_setup(a_name_keeps_its_addresses, forget),
        cmocka_unit_test_setup(after_a_failure_a_name_is_looked_up_again, forget),
        cmocka_unit_test_setup(a_slow_name_service_holds_nobody_up, forget),
        cmocka_unit_test_setup(who_is_not_the_one_to_ask_is_left, forget),
        cmocka_unit_test_setup(a_path_that_is_too_long_is_no_address, forget),
        cmocka_unit_test_setup(what_another_link_has_found_is_taken_over, forget),
        cmocka_unit_test_setup(nobody_there_is_told, forget),
        cmocka_unit_test_setup(a_silent_address_ends_in_time, forget),
        cmocka_unit_test_setup(a_silent_address_leaves_time_for_the_next, forget),
        cmocka_unit_test_setup(after_silence_a_name_is_looked_up_again, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
