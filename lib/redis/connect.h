/* connect.h: the way to a server that listens to us. For link.c. */
#ifndef RLOCK_CONNECT_H
#define RLOCK_CONNECT_H

#include "redis/link.h"

/* Goes on to RLOCK__READY. RLOCK__IO_DONE: it is. RLOCK__IO_WAIT: for rlock__link_poll(). */
enum rlock__io rlock__link_connect(struct rlock__link *link);

/* Says why there is no connection, its time being over. */
void rlock__link_say_not_connected(struct rlock__link *link);

/* Sends. A server that turns us away (too many clients, protected mode) says why and closes: when
 * that was before we could send, what it said can be read all the same. As rlock__conn_send(). */
enum rlock__io rlock__link_send(struct rlock__link *link, struct rlock__request *request);

#endif
