/* orders.h: what rlock orders its guardian to do: bits in memory that both share, so that nothing
 * is lost and nobody has to wait when the guardian does not listen. */
#ifndef RLOCK_CMD_ORDERS_H
#define RLOCK_CMD_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

/* Bit N, from 1 to 31: pass on signal N. */
#define ORDER_SIGNAL(number) (UINT64_C(1) << (number))
#define ORDER_START          UINT64_C(1)         /* the gate is open: start the command */
#define ORDER_STOP           (UINT64_C(1) << 32) /* end its tree: the lease is lost */
#define ORDER_READ           (UINT64_C(1) << 33) /* the last report has been read */
#define ORDER_AWAKE          (UINT64_C(1) << 34) /* rlock, which had stopped like the command, goes on */
#define ORDER_KEYS           (UINT64_C(1) << 35) /* the whole job has got a signal, by the terminal */
#define ORDER_YIELD          (UINT64_C(1) << 36) /* end its tree: somebody else wants the lock */

/* Where they stand, and the socket that announces them, a packet each. Each side has its own end.
 */
struct orders {
    uint64_t *bits;
    int socket;
};

/* Gives orders, never waiting: a guardian that is stopped reads nothing. */
void orders_give(struct orders orders, uint64_t given);

/* Takes back what the guardian has not seen yet. */
void orders_take_back(struct orders orders, uint64_t back);

/* Takes what has been ordered, without waiting, or with wait until something is. False: rlock is
 * gone. *taken is set in any case. */
bool orders_take(struct orders orders, bool wait, uint64_t *taken);

/* Waits for one order, and leaves all others to be taken later. False: rlock is gone. */
bool orders_await(struct orders orders, uint64_t awaited);

#endif
