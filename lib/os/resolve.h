/* resolve.h: a host's addresses, looked up without blocking. */
#ifndef RLOCK_RESOLVE_H
#define RLOCK_RESOLVE_H

#include <stddef.h>
#include <sys/socket.h>

#include "os/error.h"
#include "rlock_base.h"

enum { RLOCK__ADDRESS_MAX = 8 };

/* Of a name that has more, another part with each look-up. */
struct rlock__addresses {
    size_t count;
    size_t looked_up; /* how often */
    struct {
        struct sockaddr_storage address;
        socklen_t length;
    } at[RLOCK__ADDRESS_MAX];
};

/* A look-up that is under way. */
struct rlock__lookup;

/* The address of a Unix socket, whose path has at most 107 bytes. */
void rlock__address_of_path(struct rlock__addresses *out, const char *path);

/* Fills out with the addresses of a numeric host and a numeric port. False: it is none. */
bool rlock__address_of_number(struct rlock__addresses *out, const char *host, const char *port);

/* Starts to look up a name by the system's resolver, in a thread of its own. NULL: no thread. */
struct rlock__lookup *rlock__lookup_start(const char *host, const char *port);

/* Becomes readable when the answer is there. Borrowed. */
int rlock__lookup_fd(const struct rlock__lookup *lookup);

/* Takes the answer, once the descriptor is readable, and frees the look-up, which is NULL then.
 * Where there is none *out stays as it is, and error says why. */
void rlock__lookup_take(struct rlock__lookup **lookup, struct rlock__addresses *out,
                        struct rlock__error *error);

/* Forgets it, if there is one, which is NULL then; its thread is left behind until it ends by
 * itself. */
void rlock__lookup_drop(struct rlock__lookup **lookup);

#endif
