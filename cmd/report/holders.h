/* holders.h: the holders of a lock that is to be broken, as all of its servers list them. */
#ifndef RLOCK_CMD_HOLDERS_H
#define RLOCK_CMD_HOLDERS_H

#include "options/settings.h"
#include "rlock_admin.h"
#include "server/server.h"

enum { HOLDERS_TEXT_SIZE = 1024 };

struct holders {
    const char *kind; /* NULL: unknown */
    bool held;        /* by somebody, known or not */
    int64_t count;    /* of a latch; else -1 */
    bool may_be_sem;  /* the latch, see struct rlock_view */
    size_t waiters;
    /* The holders that --owner picks, each once, wherever it was seen. */
    size_t size;
    const char **owners;
    struct seen {
        const struct rlock_view_holder *holder;
        int64_t held_ms; /* when it was looked at, which was: */
        int64_t at_ms;
    } * seen;
    rlock_view *views[RLOCK_SERVERS_MAX]; /* what the others point into */
};

/* Looks on all servers; a majority must answer. Returns 0, or the exit status after a message. Free
 * it in any case. */
int holders_find(struct holders *out, const struct server *server, const struct settings *settings);
void holders_free(struct holders *holders);

/* "held by alice@web-01 pid 4242 for 3m, ./deploy.sh". Returns the text. */
const char *holders_describe(char text[HOLDERS_TEXT_SIZE], const struct holders *holders, size_t i);

/* For how long the commands of those that are held by rlock may run on at most, once they are
 * broken: until their leases would have ended; all of them, or the i-th. 0: nothing runs. Else one
 * of these: nobody knows, as of a client of Redisson's, which goes on until it unlocks; there is no
 * command, as of `rlock acquire`. */
enum { RUNS_ON_UNKNOWN = -1, RUNS_ON_NO_COMMAND = -2 };
int64_t holders_runs_on_ms(const struct holders *holders);
int64_t holders_one_runs_on_ms(const struct holders *holders, size_t i);

/* Until when one server is asked: one of several is not waited for like the only one. */
int64_t holders_deadline_ms(const struct settings *settings);

#endif
