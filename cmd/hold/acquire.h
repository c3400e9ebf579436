/* acquire.h: from settings to a lock that is held, with all that is said on the way. */
#ifndef RLOCK_CMD_ACQUIRE_H
#define RLOCK_CMD_ACQUIRE_H

#include "hold/environment.h"
#include "hold/kind.h"
#include "options/settings.h"
#include "process/signals.h"
#include "process/spawn.h"
#include "rlock.h"
#include "server/server.h"

struct acquired {
    const struct settings *settings;
    const struct kind *kind;
    struct server server;
    rlock_lock *lock;
    struct environment enclosing;
    int64_t asked_ms;        /* when it was asked for */
    int64_t at_ms;           /* when it was taken */
    int64_t ran_ms;          /* how long its command ran; -1: it has not ended */
    char note[NOTE_MAX + 1]; /* ours, as others are shown it; "": none */
    bool warned;             /* said that it waits for itself */
    bool announced;          /* said that it waits: then the end of the wait is news */
    char *asked;             /* --preempt: the holder of the last event "preempting"; NULL: none */
    const struct rlock_hold *
        *holds;        /* what was acquired, in canonical order, also when it is no more */
    size_t hold_count; /* 0: nothing yet */
};

/* Takes the signals that end a wait: see signals_begin(). Returns 0, or the exit status after a
 * message. */
int acquire_signals(struct signals *signals);

/* Opens the server and makes the lock, if the kind is one that is taken. Returns 0, or the exit
 * status after a message. Free it in any case. */
int acquire_prepare(struct acquired *out, const struct settings *settings);

/* No exit status: that of a lock which was not acquired may be 0. */
enum { ACQUIRED = -1 };

/* Takes the lock, waiting as the settings say, and says so. Of a latch that is to be counted down
 * it only checks that this can be done. spawn: the command's; NULL: there is no command. Its
 * guardian is forked while a server answers, so that the command starts sooner, and ended while
 * others have the lock. Returns ACQUIRED, or the exit status, after a message where one is due;
 * interrupted by a signal, EXIT_BY_SIGNAL + its number. */
int acquire_lock(struct acquired *acquired, const struct settings *settings,
                 const struct signals *signals, struct spawn *spawn);

void acquire_free(struct acquired *acquired);

enum { ACQUIRE_USER_SIZE = 64 };

/* The user, as waiters and holders are shown it. */
void acquire_describe_user(char text[ACQUIRE_USER_SIZE]);

#endif
