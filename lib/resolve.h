/* resolve.h: a host's addresses, looked up within a deadline. */
#ifndef RLOCK_RESOLVE_H
#define RLOCK_RESOLVE_H

#include <stddef.h>
#include <sys/socket.h>

#include "error.h"
#include "limit.h"
#include "url.h"

enum { RLOCK__ADDRESS_MAX = 8 };

struct rlock__addresses {
    size_t count;
    struct {
        struct sockaddr_storage address;
        socklen_t length;
    } at[RLOCK__ADDRESS_MAX];
};

/* Fills out with the server's addresses: a socket's path and a numeric host at once, a name by the
 * system's resolver in a thread of its own, which is left behind when it outlives the limit.
 * RLOCK_OK, RLOCK_UNAVAILABLE (also at the deadline), RLOCK_CANCELLED, RLOCK_SYSTEM. */
enum rlock_status rlock__resolve(struct rlock__addresses *out, const struct rlock__server *server,
                                 const struct rlock__limit *limit, struct rlock__error *error);

#endif
