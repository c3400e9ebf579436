/* hold.h: the kinds of locks, and the work of the commands that take a lock, ask whether one is
 * held, or change what is counted without being held. */
#ifndef RLOCK_CMD_HOLD_H
#define RLOCK_CMD_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "options/settings.h"
#include "process/signals.h"
#include "server/server.h"

/* What is shown behind the name while waiting. */
enum kind_detail {
    DETAIL_NONE,  /* */
    DETAIL_KIND,  /* (read) */
    DETAIL_PLACE, /* (fair, 2nd of 4) */
    DETAIL_COUNT, /* (latch, 3 to go) */
};

struct kind {
    const char *name; /* as it is shown: RLOCK_KIND, the waiting line */
    enum kind_detail detail;
    bool passed;  /* and not held: nothing is given back */
    bool counted; /* down, after the command, and neither held nor waited for */
};

extern const struct kind kind_run, kind_fair, kind_read, kind_write, kind_sem, kind_latch,
    kind_latch_down;

/* The one way through of every command that runs another while it holds a lock.
 *
 * Acquires a lock of the kind of settings->cmd, runs the command while it is held, releases it;
 * without a command it only acquires it. A latch that is counted down is counted after the command
 * instead. Returns the exit status: rlock(1). A struct cmd's exec. */
int run_exec(struct settings *settings);

/* Checks the lock of settings->handle.given, or without one the lock of the enclosing rlock
 * command. Returns the exit status. */
int check_exec(struct settings *settings);

/* Renew and release the lock of settings->handle.given, the former with the lease that was given on
 * the command line, if one was. Each returns the exit status. */
int renew_exec(struct settings *settings);
int release_exec(struct settings *settings);

/* rlock acquire: takes the lock and prints its handle. With --while it leaves a process behind that
 * has done so, and holds nothing of the caller's. Returns the exit status: with --while 0 twice, in
 * that process when all is over. */
int acquire_exec(struct settings *settings);

/* --- counter.c: a latch's count, a semaphore's size ------------------------------------------- */

/* rlock latch set: sets the latch, unless it is set. Returns the exit status. */
int latch_set_exec(struct settings *settings);

/* Counts a latch down by settings->counter.by, and says so. A signal does not interrupt it: others
 * wait for the count. ran_ms: how long the command ran; -1: there was none. Returns 0, or the exit
 * status after a message. */
int counter_down(const struct server *server, const struct settings *settings, int64_t ran_ms);

/* rlock latch down: the same, after a command if one is given. Returns the exit status. */
int latch_down_exec(struct settings *settings);

/* Whether counter_down() could be done: what would fail is to fail before a command runs. A latch
 * that is not there may be by the command's end. Returns as counter_down(), interrupted
 * EXIT_BY_SIGNAL + the signal. */
int counter_check_down(const struct server *server, const struct settings *settings,
                       const struct signals *signals);

/* rlock sem: runs a command with permits; with --resize takes back plain permits that dead
 * processes of this host have left, and sets the number. Returns the exit status. */
int sem_exec(struct settings *settings);

#endif
