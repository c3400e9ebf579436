/* survey.h: what all servers say of the names that were asked for, or of all their locks. */
#ifndef RLOCK_CMD_SURVEY_H
#define RLOCK_CMD_SURVEY_H

#include "options/settings.h"
#include "rlock_admin.h"
#include "server/server.h"

/* Server by server; of each the newest lock first, or by --sort; those that were asked for by name
 * in the order in which they were. A
 * name with *, ? or [ in it that is no lock's own is a pattern, as redis-cli's KEYS takes it: it
 * stands for all locks that it fits, the newest first. */
struct survey {
    rlock_view **views;
    size_t count, room;
    size_t answered; /* how many of the servers have */
    struct survey_server {
        const char *url; /* without a password; the client's */
        bool answered;   /* all that it was asked */
        size_t no_locks; /* names that were asked for, and are keys that are no lock */
    } servers[RLOCK_SERVERS_MAX];
    size_t server_count;
    int failure; /* 0, or the exit status that what went wrong calls for; it has been reported */
};

/* Asks them. Says what can't be seen, and goes on with what can.
 * patience_ms: what a server has for each answer at most, where the time-outs allow for more. */
void survey_make(struct survey *survey, const struct server *server,
                 const struct settings *settings, int64_t patience_ms);
void survey_free(struct survey *survey);

/* On how many of the servers the lock of the i-th view is held. */
size_t survey_count_held(const struct survey *survey, size_t i);

#endif
