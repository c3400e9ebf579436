/* orders.c: what rlock orders its guardian to do. */
#include "process/orders.h"

#include <errno.h>
#include <sys/socket.h>

void orders_give(struct orders orders, uint64_t given) {
    (void)__atomic_fetch_or(orders.bits, given, __ATOMIC_ACQ_REL);
    (void)send(orders.socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT); /* full: it has bells enough */
}

void orders_take_back(struct orders orders, uint64_t back) {
    (void)__atomic_fetch_and(orders.bits, ~back, __ATOMIC_ACQ_REL);
}

bool orders_take(struct orders orders, bool wait, uint64_t *taken) {
    char bell;
    const ssize_t n = recv(orders.socket, &bell, sizeof bell, wait ? 0 : MSG_DONTWAIT);
    const bool gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    *taken = __atomic_exchange_n(orders.bits, 0, __ATOMIC_ACQ_REL);
    return !gone;
}

bool orders_await(struct orders orders, uint64_t awaited) {
    uint64_t taken = 0;
    bool there = true;
    while (there && (taken & awaited) == 0)
        there = orders_take(orders, true, &taken);
    /* What was ordered beside it is taken next: its own packet is there, or on its way. */
    (void)__atomic_fetch_or(orders.bits, taken & ~awaited, __ATOMIC_ACQ_REL);
    return (taken & awaited) != 0;
}
