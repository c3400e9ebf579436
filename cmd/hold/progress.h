/* progress.h: what is said while waiting: a live line on a terminal, a line every 30 s elsewhere.
 */
#ifndef RLOCK_CMD_PROGRESS_H
#define RLOCK_CMD_PROGRESS_H

#include "hold/kind.h"
#include "rlock_report.h"

struct progress {
    const char *name; /* of the lock, before the server has said which of several is busy */
    const struct kind *kind;
    int64_t began_ms;
    int64_t next_ms; /* when it wants to speak again */
    bool logged;     /* it has said something that stays, unlike a live line */
    bool for_server; /* it has said that it waits for a server, not for a holder */
};

void progress_begin(struct progress *progress, const char *name, const struct kind *kind);

/* Speaks, if it is time. */
void progress_show(struct progress *progress, const rlock_client *client, const rlock_lock *lock);

/* Takes the live line away. */
void progress_end(void);

/* Writes what the lock is waited for: "held by alice@web-01 pid 4242 for 3m, ./deploy.sh", without
 * what is unknown; for a latch "3 to go". */
void progress_why(char *text, size_t size, const struct kind *kind,
                  const struct rlock_holder *holder);

#endif
