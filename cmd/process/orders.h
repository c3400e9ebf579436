/* orders.h: what rlock orders its guardian to do: a packet each, which arrive in their order. */
#ifndef RLOCK_CMD_ORDERS_H
#define RLOCK_CMD_ORDERS_H

#include <stdbool.h>

enum order_verb {
    ORDER_START,  /* the gate is open: start the command */
    ORDER_SIGNAL, /* pass on signal `number` */
    ORDER_KEYS,   /* the terminal has sent a signal to the whole job */
    ORDER_AWAKE,  /* rlock goes on, which stopped when the command did for the `number`th time */
    ORDER_STOP,   /* end the tree: the lease is lost */
    ORDER_YIELD,  /* end the tree: a waiter asks for the lock */
};
struct order {
    enum order_verb verb;
    int number;
};

/* Never waits for the guardian, which may be stopped and read nothing. False: the order was not
 * sent, because hundreds are unread, the guardian is gone, or the system has had no memory for it
 * for a second. */
bool order_send(int socket, struct order order);

/* Takes the next order, waiting for it or not. False: rlock is gone, or, not waiting, there is
 * none: *gone tells which. */
bool order_take(int socket, bool wait, struct order *order, bool *gone);

#endif
