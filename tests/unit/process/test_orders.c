/* test_orders.c: orders arrive in their order, and none is waited for. */
#include "support/test.h"

#include <sys/socket.h>
#include <unistd.h>

#include "process/guardian.h"

enum { RLOCK, GUARDIAN };

static void open_pair(int ends[2]) {
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
}

/* A guardian that is stopped reads nothing; hundreds are kept for it. */
TEST(orders_are_kept_in_their_order_and_a_full_queue_is_not_waited_for) {
    int ends[2], sent = 0;
    struct order order;
    bool gone;
    open_pair(ends);
    while (sent < 1000000 && order_send(ends[RLOCK], (struct order){ORDER_SIGNAL, sent}))
        sent++;
    assert_in_range(sent, 100, 999999);
    for (int i = 0; i < sent; i++) {
        assert_true(order_take(ends[GUARDIAN], i % 2 == 0, &order, &gone));
        assert_int_equal(order.number, i);
    }
    assert_false(order_take(ends[GUARDIAN], false, &order, &gone));
    assert_false(gone);
    assert_true(order_send(ends[RLOCK], (struct order){.verb = ORDER_STOP}));
    close(ends[RLOCK]);
    close(ends[GUARDIAN]);
}

TEST(the_other_end_is_gone) {
    int ends[2];
    struct order order;
    bool gone = false;
    open_pair(ends);
    assert_true(order_send(ends[RLOCK], (struct order){.verb = ORDER_STOP}));
    close(ends[RLOCK]);
    assert_true(order_take(ends[GUARDIAN], true, &order, &gone)); /* what it said before counts */
    assert_false(gone);
    assert_false(order_take(ends[GUARDIAN], true, &order, &gone));
    assert_true(gone);
    close(ends[GUARDIAN]);
    open_pair(ends);
    close(ends[GUARDIAN]);
    assert_false(order_send(ends[RLOCK], (struct order){.verb = ORDER_START}));
    close(ends[RLOCK]);
}
