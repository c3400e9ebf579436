/* acquired.h: a lock that is acquired: how, what is said on the way, the command that runs while it
 * is held, and the handle that it is left behind. */
#ifndef RLOCK_CMD_ACQUIRED_H
#define RLOCK_CMD_ACQUIRED_H

#include "hold/environment.h"
#include "hold/hold.h"
#include "options/settings.h"
#include "process/signals.h"
#include "process/spawn.h"
#include "rlock_report.h"
#include "server/server.h"

enum { PROGRESS_POOL_SIZE = 64 };

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
    bool announced;          /* said so that it stays, not by a live line: its end is news */
    bool for_server;         /* said that it waits for a server, not for a holder */
    int64_t speak_ms;        /* when progress_show() wants to speak again */
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
 * guardian is forked before the first try, so that it is up when the lock is there, and ended while
 * others have the lock. Returns ACQUIRED, or the exit status, after a message where one is due;
 * interrupted by a signal, EXIT_BY_SIGNAL + its number. */
int acquire_lock(struct acquired *acquired, const struct signals *signals, struct spawn *spawn);

/* Gives the lock back, as rlock_release() does, in the time for one answer. was_lost: a minority of
 * several servers may still have it; the user that broke it is told that the command has stopped. A
 * local: server that has died is started before. */
enum rlock_status acquire_give_back(const struct acquired *acquired, int64_t keep_ms,
                                    bool was_lost);

void acquire_free(struct acquired *acquired);

/* The first name that is held; before it is, the first that was given. */
const char *acquire_name(const struct acquired *acquired);

/* --- progress.c: what is said while waiting --------------------------------------------------- */

/* The members of an event about who is in the way of a kind of lock. */
#define PROGRESS_BLOCKER(kind, blocker)                                                            \
    OUT_TEXT("holder", *(blocker)->owner != '\0' ? (blocker)->owner : NULL),                       \
        OUT_TEXT("holder_note", *(blocker)->note != '\0' ? (blocker)->note : NULL),                \
        OUT_NUMBER("count", (kind)->detail == DETAIL_COUNT && (blocker)->waiting > 0               \
                                ? (blocker)->waiting                                               \
                                : -1)

/* With --any " (any 1 of 3 names)", else "". */
void progress_describe_pool(char text[PROGRESS_POOL_SIZE], const struct settings *settings);

/* While waiting: says what for, if it is time: by a live line on a terminal, which out_live_end()
 * ends, by a line every 30 s elsewhere. */
void progress_show(struct acquired *acquired);

/* Writes what the lock is waited for: "held by alice@web-01 pid 4242 for 3m, ./deploy.sh", without
 * what is unknown; for a latch "3 to go". */
void progress_why(char *text, size_t size, const struct kind *kind,
                  const struct rlock_holder *holder);

/* --- events.c: the events of rlock(7), for programs and for -v -------------------------------- */

/* "acquired", or "latch_open": of each name. */
void event_acquired(const struct acquired *acquired);

/* What has been logged of renewals so far; zeroed at first. */
struct renewals {
    int64_t failing_ms; /* since when all have failed; 0: the last has not */
    int64_t logged_ms;  /* when a failure was logged last */
    int64_t warned_ms;  /* when people were warned last */
    bool warned;        /* of those that fail just now */
};

/* "renewed" of each name, or "retrying": the first that fails is a warning, and so is its end news;
 * not each of those that follow. */
void event_renewal(struct renewals *so_far, const struct acquired *acquired,
                   const struct rlock_renewal *renewal);

/* "lost": an error. then: what follows from it, NULL: nothing. */
void event_lost(const struct acquired *acquired, const char *why, const char *then);

/* "preempting": whether the holder was asked to end. "preempted": a waiter has asked us to; by: the
 * waiter. */
void event_preempting(const struct acquired *acquired, const struct rlock_holder *holder);
void event_preempted(const struct acquired *acquired, const char *by);

/* "released", of each name. keep_ms > 0: others get it after that time. */
void event_released(const struct acquired *acquired, int64_t keep_ms);

/* "release_unconfirmed": a warning that it may not have been given back. */
void event_unconfirmed(const struct acquired *acquired);

/* not_acquired.c: says why the lock was not taken, if that is worth a message. Returns the exit
 * status. */
int not_acquired(const struct acquired *acquired, enum rlock_status status);

/* The same where a signal has ended the wait. */
int not_acquired_interrupted(const struct acquired *acquired, int signal);

/* While waiting: warns once if the holder is a process around us, for which we wait in vain. */
void not_acquired_warn_of_ancestor(struct acquired *acquired);

/* --- command.c: the command that the settings name -------------------------------------------- */

/* See spawn_prepare(). Returns 0, or the exit status after a message. */
int command_prepare(struct spawn *spawn, const struct signals *signals,
                    const struct settings *settings);

/* Before spawn_start(): there is a guardian; else false, after a message. */
bool command_fork_guardian(struct spawn *spawn, const struct settings *settings);

/* After SPAWN_ENDED: the command's exit status, EXIT_BY_SIGNAL + the signal that ended it, or after
 * a message EXIT_TIMEOUT, or why it never ran. name, server: its lock's, as they may be shown. */
int command_status(const struct spawn *spawn, const struct settings *settings, const char *name,
                   const char *server);

/* --- detached.c: a lock that is left held ----------------------------------------------------- */

/* The steps of acquire_exec(). Takes the lock: returns ACQUIRED, or the exit status after a
 * message, and then nothing is held. Free acquired in any case. */
int detached_begin(struct acquired *acquired, const struct settings *settings,
                   const struct signals *signals);

/* Prints the handle, with --export its token too, however long its reader takes, or until a signal
 * comes. Returns 0, or the exit status after a message, EXIT_BY_SIGNAL + the signal: then give the
 * lock back. */
int detached_print(const struct acquired *acquired, const struct signals *signals);

/* Gives the lock back: its handle was not printed. Returns status. */
int detached_undo(const struct acquired *acquired, int status);

#endif
