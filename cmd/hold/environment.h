/* environment.h: what rlock passes on in the environment: the holds of this command and of those
 * around it. */
#ifndef RLOCK_CMD_ENVIRONMENT_H
#define RLOCK_CMD_ENVIRONMENT_H

#include <stdbool.h>

#include "rlock.h"

/* The enclosing holds, as the environment lists them. The texts lie in `storage`. */
struct environment {
    struct rlock_proof *proofs; /* the innermost last */
    const char **kinds;         /* of each */
    const char **servers;       /* of each, without a password; "": not known */
    size_t count;
    size_t inner;  /* from here on: the holds of the innermost command that holds anything */
    size_t length; /* of RLOCK_HOLDS */
    char *storage;
};

/* Reads RLOCK_HOLDS. What can't be read there is no proof and is passed over. False: no memory.
 * Free it with environment_free. */
bool environment_read(struct environment *out);
void environment_free(struct environment *environment);

/* The proofs for a lock on these servers: behind all proofs stand again those of the same servers,
 * for of a name the library takes the last. Returns how many. */
size_t environment_prove(struct environment *enclosing, const char *servers);

/* Whether the record of these holds fits into one text of a command's environment, or their handle
 * into one of a command line, however long their owners and tokens are going to be. */
bool environment_has_room(const struct environment *enclosing, const char *const *names,
                          size_t count, bool for_handle);

/* Writes what the command's environment gets on top of ours, one after the other: "NAME=value", or
 * "NAME" alone for a variable to be taken away; an empty text ends the list. What is held, on which
 * servers, and around it what environment_read() found. server: for RLOCK_SERVER; NULL: leave it
 * alone. Both without a password. False: it does not fit. */
bool environment_write(const struct environment *enclosing, const rlock_lock *lock,
                       const char *kind, const char *servers, const char *server, char *text,
                       size_t size);

/* The same for a command that is about a name without holding it: no owner, no token, and the
 * record of the enclosing holds stays as it is. */
bool environment_write_name(const char *name, const char *kind, const char *server, char *text,
                            size_t size);

#endif
