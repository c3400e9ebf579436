/* test_connect.c: how a link gets to a server that listens to it: look-up and connection, and what
 * time they may take. */
#include "support/linked.h"

#include <netdb.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

void before_each(void) {
    names.mode = KNOWS;
    atomic_store(&names.begun, 0);
    atomic_store(&names.ended, 0);
    assert_int_equal(sem_init(&names.go_on, 0, 0), 0);
}

int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
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

/* To a peer whose name is somewhere. */
static void begin_named(struct linked *f, const char *const *script) {
    begin_to(f, "", "");
    peer_listen_tcp(&f->peer);
    peer_serve(&f->peer, script);
    rlock__link_init(&f->link, "somewhere", f->peer.port, &f->access, &f->error);
}

/* As if the name service had said so. */
static void know_address(struct linked *f) {
    assert_true(rlock__address_of_number(&f->link.addresses, "127.0.0.1", f->peer.port));
}

/* Asks "PING" and waits for "+OK". */
static enum rlock_status ping(struct linked *f, int64_t limit_ms) {
    ask(f, "PING");
    return call(f, limit_ms, "");
}

static void assert_looked_up(int times) {
    assert_int_equal(atomic_load(&names.begun), times);
}

/* The second address is tried when nobody listens at the first; addresses that have worked serve
 * again, also another link to the same place. */
TEST(a_name_is_looked_up_once) {
    struct linked f, like, other;
    begin_named(&f, answers);
    begin_to(&like, "", "");
    begin_to(&other, "elsewhere", f.peer.port);
    rlock__link_like(&like.link, &f.link, &like.access, &like.error); /* nothing is known yet */
    assert_true(like.link.look_up_again);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ping(&f, LONG_MS), RLOCK_OK);
        assert_int_equal(f.link.addresses.count, 2);
        rlock__link_close(&f.link);
    }
    rlock__link_like(&like.link, &f.link, &like.access, &like.error);
    assert_int_equal(ping(&like, LONG_MS), RLOCK_OK);
    rlock__link_close(&like.link);
    assert_looked_up(1);
    names.mode = FAILS;
    assert_unanswered(&other, "PING", LONG_MS, gai_strerror(EAI_AGAIN));
    assert_looked_up(2);
    end(&f, "PING | PING | PING");
}

/* However many a name has: it is looked up again, for it may lead elsewhere by then. */
TEST(each_address_has_its_turn) {
    struct linked f;
    names.mode = KNOWS_MANY;
    begin_named(&f, answers);
    for (int i = 0; i < 2; i++) {
        assert_unanswered(&f, "PING", LONG_MS, "Connection refused");
        assert_false(f.link.answered || f.link.in_doubt);
    }
    assert_int_equal(ping(&f, LONG_MS), RLOCK_OK);
    assert_looked_up(3);
    end(&f, "PING");
}

static void let_go_on(int hanging, int all) {
    for (int i = 0; i < hanging; i++)
        (void)sem_post(&names.go_on);
    while (atomic_load(&names.ended) < all) /* the threads are nobody's: none may outlive us */
        (void)sched_yield();
}

TEST(a_look_up_may_take_too_long) {
    struct linked f;
    names.mode = HANGS;
    begin_to(&f, "somewhere", "1");
    f.access.connect_timeout_ms = SHORT_MS;
    const int64_t begun_ms = rlock_now_ms();
    assert_unanswered(&f, "PING", LONG_MS, "looking up the host took too long");
    assert_true(rlock_now_ms() - begun_ms >= SHORT_MS);

    f.access.connect_timeout_ms = LONG_MS;
    assert_unanswered(&f, "PING", SHORT_MS, "no connection in time");

    const struct rlock__limit cancelled = {RLOCK_FOREVER, eventfd(1, EFD_CLOEXEC)};
    assert_int_equal(rlock__link_call(&f.link, &cancelled), RLOCK_CANCELLED);
    assert_closed(&f);
    close(cancelled.cancel_fd);
    let_go_on(3, 3);
}

/* A name service that has died since does no harm: what was known serves on. Where it
 * says nothing at all, one request's time is lost, not each one's. */
TEST(a_name_keeps_its_addresses) {
    struct linked f;
    begin_named(&f, answers);
    f.access.password = "s3cr3t";
    know_address(&f);
    names.mode = FAILS;
    assert_true(f.link.look_up_again);
    assert_int_equal(ping(&f, LONG_MS), RLOCK_OK);
    assert_looked_up(1);
    rlock__link_close(&f.link);

    names.mode = HANGS;
    f.link.look_up_again = true;
    assert_int_equal(ping(&f, SHORT_MS), RLOCK_AGAIN);
    assert_int_equal(ping(&f, LONG_MS), RLOCK_OK);
    assert_looked_up(2);
    let_go_on(1, 2);
    end(&f, "AUTH s3cr3t; PING | AUTH s3cr3t; PING");
}

/* The connection was lost: by now the name may lead to the one that has taken over. */
TEST(after_a_failure_a_name_is_looked_up_again) {
    struct linked f;
    begin_named(&f, ANSWERS("+OK\r\n", PEER_CLOSE, "+OK\r\n"));
    assert_int_equal(ping(&f, LONG_MS), RLOCK_OK);
    assert_int_equal(ping(&f, LONG_MS), RLOCK_AGAIN);
    assert_int_equal(ping(&f, LONG_MS), RLOCK_OK);
    assert_looked_up(2);
    end(&f, "PING; PING | PING");
}

/* Where a name leads to is not waited for while it is known where it led; what the name service
 * says in the end serves the next connection. */
TEST(a_slow_name_service_holds_nobody_up) {
    struct linked f;
    begin_named(&f, answers);
    know_address(&f);
    names.mode = HANGS;
    const int64_t begun_ms = rlock_now_ms();
    assert_int_equal(ping(&f, LONG_MS), RLOCK_OK);
    assert_in_range(rlock_now_ms() - begun_ms, 300, 3000);
    rlock__link_distrust(&f.link);
    names.mode = KNOWS;
    let_go_on(1, 1);
    assert_int_equal(ping(&f, LONG_MS), RLOCK_OK);
    assert_int_equal(f.link.addresses.count, 2);
    assert_looked_up(1);
    end(&f, "PING | PING");
}

/* A port whose queue of connections is full says nothing to one more. Another address has its turn
 * in time; where there is none the host may have moved, and is looked up again: also a request that
 * had no time to find out that nobody says no has found it out. */
TEST(a_silent_address_ends_in_time) {
    static const struct {
        int64_t connect_timeout_ms, limit_ms;
        bool another;
    } rows[] = {{SHORT_MS, RLOCK_FOREVER, false}, {LONG_MS, SHORT_MS, false}, {400, LONG_MS, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct peer deaf;
        struct linked f;
        int in_queue[2];
        before_each();
        begin_named(&f, answers);
        know_address(&f);
        f.link.addresses.at[1] = f.link.addresses.at[0]; /* behind the deaf one */
        peer_listen_tcp(&deaf);
        assert_int_equal(listen(deaf.fd, 0), 0);
        assert_true(rlock__address_of_number(&f.link.addresses, "127.0.0.1", deaf.port));
        for (size_t k = 0; k < COUNT(in_queue); k++) {
            in_queue[k] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            (void)connect(in_queue[k], (const struct sockaddr *)&f.link.addresses.at[0].address,
                          f.link.addresses.at[0].length);
        }
        f.link.addresses.count += rows[i].another;
        f.link.look_up_again = false;
        f.access.connect_timeout_ms = rows[i].connect_timeout_ms;
        const int64_t begun_ms = rlock_now_ms();
        if (!rows[i].another) {
            assert_unanswered(&f, "PING", rows[i].limit_ms, "no connection in time");
            assert_true(rlock_now_ms() - begun_ms >= SHORT_MS);
            assert_false(f.link.answered || f.link.in_doubt);
            f.access.connect_timeout_ms = LONG_MS;
        }
        assert_int_equal(ping(&f, LONG_MS), RLOCK_OK);
        if (rows[i].another)
            assert_in_range(rlock_now_ms() - begun_ms, 200, 399);
        assert_looked_up(!rows[i].another);
        end(&f, "PING");
        for (size_t k = 0; k < COUNT(in_queue); k++)
            close(in_queue[k]);
        peer_stop(&deaf);
    }
}
