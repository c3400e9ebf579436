/* survey.h: what all servers say of the names that were asked for, or of all their locks; and of
 * the holders of one lock. */
#ifndef RLOCK_CMD_SURVEY_H
#define RLOCK_CMD_SURVEY_H

#include "options/settings.h"
#include "rlock_admin.h"
#include "server/server.h"

/* Server by server; of each the newest lock first, or by --sort; those that were asked for by name
 * in the order in which they were. A
 * name with *, ? or [ in it that is no lock's own is a pattern, as redis-cli's KEYS takes it, but
 * not for `wait`: it stands for all locks that it fits, the newest first. */
struct survey {
    rlock_view **views;
    size_t count, room;
    size_t server_count;
    size_t answered; /* how many of them have, all that they were asked */
    int failure; /* 0, or the exit status that what went wrong calls for; it has been reported */
};

/* All that there is to see; or whether it is held, and one of the holders. */
enum survey_depth { SURVEY_ALL, SURVEY_HELD };

/* Asks them. Says what can't be seen, and goes on with what can.
 * patience_ms: what a server has for each answer at most, where the time-outs allow for more. */
void survey_make(struct survey *survey, const struct server *server, enum survey_depth depth,
                 int64_t patience_ms);
void survey_free(struct survey *survey);

/* The first lock that is held, of several servers on a majority; NULL: none is. */
const rlock_view *survey_find_held(const struct survey *survey);

/* --- holders.c: the holders of a lock, as all of its servers list them ------------------------ */

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
    bool *broken; /* which of them do not hold it any more: rlock_break() */
    struct seen {
        const struct rlock_view_holder *holder;
        const rlock_view *view;       /* that it is in */
        rlock_subscription *stopping; /* hears that its command has stopped; NULL: nothing does */
    } * seen;
    int64_t seen_ms;                      /* when */
    rlock_view *views[RLOCK_SERVERS_MAX]; /* what the others point into */
};

/* Looks on all servers; a majority must answer. Returns 0, or the exit status after a message. Free
 * it in any case. */
int holders_find(struct holders *out, const struct server *server);
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

/* By when one server is to have answered at first: one of several is not waited for like the only
 * one. */
int64_t holders_deadline_ms(const struct server *server);

#endif
