/* waitline.h: what is said while waiting: a live line on a terminal, now and then a line elsewhere.
 */
#ifndef RLOCK_CMD_WAITLINE_H
#define RLOCK_CMD_WAITLINE_H

#include "hold/kind.h"
#include "rlock.h"

struct waitline {
    const char *name; /* of the lock, before the server has said which of several is busy */
    const struct kind *kind;
    int64_t began_ms;
    int64_t next_ms; /* when it wants to speak again */
    bool told;       /* it has said something that stays, unlike a live line */
};

void waitline_begin(struct waitline *line, const char *name, const struct kind *kind);

/* Speaks, if it is time. */
void waitline_show(struct waitline *line, const rlock_client *client, const rlock_lock *lock);

/* Takes the live line away. */
void waitline_end(void);

/* Writes what stands in the way: "held by alice@web-01 pid 4242 for 3m, ./deploy.sh", what is
 * unknown left out; of a latch "3 to go". */
void waitline_why(char *text, size_t size, const struct kind *kind,
                  const struct rlock_holder *holder);

#endif
