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
    int64_t at_ms;        /* when it was taken */
};

/* Takes the lock that the settings name, waiting as they say. Returns 0 with the lock held, or the
 * exit status after a message; a signal is 128 + its number. Free it in any case. */
int take(struct taken *out, const struct settings *settings, const char *kind,
         const struct signals *signals);

/* The server for the command's environment; NULL: leave the variable alone. Borrowed. */
const char *take_server_for_command(const struct taken *taken, const struct settings *settings);

void take_free(struct taken *taken);

#endif
