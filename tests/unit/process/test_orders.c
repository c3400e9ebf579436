/* test_orders.c: no order is lost, whichever is waited for. */
#include "support/test.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "process/orders.h"

struct pair {
    uint64_t bits;
    struct orders rlock, guardian;
};

static void open_pair(struct pair *pair) {
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    pair->bits = 0;
    pair->rlock = (struct orders){&pair->bits, ends[0]};
    pair->guardian = (struct orders){&pair->bits, ends[1]};
}

static void close_pair(const struct pair *pair) {
    close(pair->rlock.socket);
    close(pair->guardian.socket);
}

static void what_comes_beside_the_awaited_one_is_taken_next(void **state) {
    (void)state;
    struct pair pair;
    uint64_t taken = 0;
    open_pair(&pair);
    orders_give(pair.rlock, ORDER_START);
    orders_give(pair.rlock, ORDER_SIGNAL(SIGUSR1));
    assert_true(orders_await(pair.guardian, ORDER_START));
    assert_true(orders_take(pair.guardian, true, &taken)); /* its packet is there */
    assert_true(taken == ORDER_SIGNAL(SIGUSR1));
    assert_true(orders_take(pair.guardian, false, &taken));
    assert_true(taken == 0);
    close_pair(&pair);
}

static void what_is_taken_back_is_not_taken(void **state) {
    (void)state;
    struct pair pair;
    uint64_t taken = 0;
    open_pair(&pair);
    orders_give(pair.rlock, ORDER_STOP | ORDER_SIGNAL(SIGTSTP));
    orders_take_back(pair.rlock, ORDER_SIGNAL(SIGTSTP));
    assert_true(orders_take(pair.guardian, true, &taken));
    assert_true(taken == ORDER_STOP);
    close_pair(&pair);
}

static void who_is_gone_orders_nothing(void **state) {
    (void)state;
    struct pair pair;
    uint64_t taken = 1;
    open_pair(&pair);
    close(pair.rlock.socket);
    assert_false(orders_await(pair.guardian, ORDER_START));
    assert_false(orders_take(pair.guardian, false, &taken));
    assert_true(taken == 0);
    close(pair.guardian.socket);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_beside_the_awaited_one_is_taken_next),
        cmocka_unit_test(what_is_taken_back_is_not_taken),
        cmocka_unit_test(who_is_gone_orders_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
