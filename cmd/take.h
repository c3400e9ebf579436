/* take.h: from settings to a lock that is held, with all that is said on the way. */
#ifndef RLOCK_CMD_TAKE_H
#define RLOCK_CMD_TAKE_H

#include "holds.h"
#include "rlock.h"
#include "settings.h"
#include "signals.h"

struct taken {
    rlock_client *client;
    rlock_lock *lock;
    struct holds around;
    char *local_url;      /* of a local: server, else NULL */
    char *local_absolute; /* local:DIR, whatever the directory was that it was given from */
    const char *kind;
    int64_t began_ms; /* the wait */
    int64_t at_ms;    /* when it was taken */
};

/* Makes client and lock; starts a local: server where one is asked for. Returns 0, or the exit
 * status after a message. Free it in any case. */
int take_prepare(struct taken *out, const struct settings *settings, const char *kind);

/* Takes the lock, waiting as the settings say, and says so. True: it is held. False: *status is the
 * exit status, after a message where one is due; interrupted by a signal, 128 + its number. */
bool take(struct taken *taken, const struct settings *settings, const struct signals *signals,
          int *status);

/* The server for the command's environment; NULL: leave the variable alone. Borrowed. */
const char *take_server_for_command(const struct taken *taken, const struct settings *settings);

void take_free(struct taken *taken);

#endif
