/* test_orders.c: orders arrive in their order, and none is waited for. */
#include "support/test.h"

#include <sys/socket.h>
#include <unistd.h>

#include "process/guardian.h"

enum { RLOCK, GUARDIAN };

/* A guardian that is stopped reads nothing; hundreds are kept for it. */
TEST(a_full_queue_is_not_waited_for) {
    int ends[2], sent = 0;
    struct order order;
    bool gone;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
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
    close(ends[GUARDIAN]);
    assert_false(order_send(ends[RLOCK], (struct order){.verb = ORDER_START}));
    close(ends[RLOCK]);
}
