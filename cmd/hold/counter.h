/* counter.h: what is changed on a server without being held: a latch's count, a semaphore's size.
 */
#ifndef RLOCK_CMD_COUNTER_H
#define RLOCK_CMD_COUNTER_H

#include <stdint.h>

#include "options/settings.h"
#include "process/signals.h"
#include "rlock_count.h"
#include "server/server.h"

/* One of the library's functions, and what a message calls it. */
struct counter_verb {
    const char *name;
    enum rlock_status (*change)(rlock_client *client, const struct rlock_count *count,
                                int64_t *result);
};

/* Carries it out on the name that is set, trying for as long as a server may take to be reached and
 * to answer. cancel_fd: as the library takes it. */
enum rlock_status counter_change(const struct server *server, const struct settings *settings,
                                 const struct counter_verb *verb, int64_t number, int cancel_fd,
                                 int64_t *result);

/* The same as a command's whole work. Signals are not taken: they end it as they end any program.
 * Returns 0 with *status RLOCK_OK, RLOCK_BUSY or RLOCK_LOST, for the caller to say; else the exit
 * status after a message. */
int counter_once(const struct settings *settings, const struct counter_verb *verb, int64_t number,
                 enum rlock_status *status, int64_t *result);

/* rlock latch set: sets the latch, unless it is set. Returns the exit status. */
int latch_set_exec(struct settings *settings);

/* Counts a latch down by settings->by, and says so. A signal does not interrupt it: others wait for
 * the count. ran_ms: how long the command ran; -1: there was none. Returns 0, or the exit status
 * after a message. */
int counter_down(const struct server *server, const struct settings *settings, int64_t ran_ms);

/* Whether that could be done: what would fail is to fail before a command runs. A latch that is not
 * there may be by the command's end. Returns as counter_down(), interrupted EXIT_BY_SIGNAL + the
 * signal. */
int counter_check_down(const struct server *server, const struct settings *settings,
                       const struct signals *signals);

#endif
