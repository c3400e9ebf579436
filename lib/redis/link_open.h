/* link_open.h: the way to a server that listens to us. For link.c. */
#ifndef RLOCK_LINK_OPEN_H
#define RLOCK_LINK_OPEN_H

#include "redis/link.h"

/* What a stage says besides RLOCK_OK: wait for rlock__link_poll()'s descriptor. All else is the
 * link's end, RLOCK_AGAIN meaning that it may come to life again. */
#define RLOCK__WAIT RLOCK_BUSY

/* The same of what the connection says, which is dead at its first failure. */
enum rlock_status rlock__of_conn(enum rlock_status status);

/* Goes on to RLOCK__READY. RLOCK_OK: it is. RLOCK__WAIT. Else the link's end. */
enum rlock_status rlock__link_open(struct rlock__link *link);

/* Says why there is no connection, its time being over. */
void rlock__link_say_not_connected(struct rlock__link *link);

/* Sends. A server that turns us away (too many clients, protected mode) says why and closes: when
 * that was before we could send, what it said can be read all the same. As rlock__conn_send(). */
enum rlock_status rlock__link_send(struct rlock__link *link, struct rlock__request *request);

#endif
