/* holds.h: what rlock hands down in the environment: the holds of this command and of those around
 * it. */
#ifndef RLOCK_CMD_HOLDS_H
#define RLOCK_CMD_HOLDS_H

#include <stdbool.h>

#include "rlock.h"

/* The enclosing holds that the environment tells of. The texts lie in `storage`. */
struct holds {
    struct rlock_proof *proofs; /* the innermost last */
    const char **kinds;         /* of each */
    size_t count;
    size_t inner; /* from here on: what the innermost command holds, or the one around it */
    char *storage;
};

/* Reads RLOCK_HOLDS, then RLOCK_NAME, RLOCK_KIND, RLOCK_OWNER and RLOCK_TOKEN, the innermost. What
 * can't be read there is no proof and is passed over. False: no memory. Free it with holds_free. */
bool holds_read(struct holds *out);
void holds_free(struct holds *holds);

/* Writes what the command's environment gets on top of ours, one after the other: "NAME=value", or
 * "NAME" alone for a variable to be taken away; an empty text ends the list. What is held, and
 * around it what holds_read() found. server: for RLOCK_SERVER, without a password; NULL: leave it
 * alone. False: it does not fit. */
bool holds_hand_down(const struct holds *around, const rlock_lock *lock, const char *kind,
                     const char *server, char *list, size_t size);

/* The same for a command that is about a name without holding it: no owner, no token. */
bool holds_hand_down_name(const struct holds *around, const char *name, const char *kind,
                          const char *server, char *list, size_t size);

#endif
