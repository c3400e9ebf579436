/* server.h: the servers that the settings name, and what is said when they are of no use. */
#ifndef RLOCK_CMD_SERVER_H
#define RLOCK_CMD_SERVER_H

#include "options/opt.h"
#include "options/settings.h"
#include "rlock_admin.h"
#include "rlock_report.h"

struct server {
    rlock_client *client;
    const struct settings *settings; /* borrowed: they outlive it */
    size_t local_count;              /* of the servers that are local: ones */
    /* Of each of those; else NULL. */
    struct {
        char *url;      /* unix:// */
        char *absolute; /* local:DIR, whatever the directory was that it was given from */
    } local[RLOCK_SERVERS_MAX];
    char *for_command; /* NULL: as the client shows it */
};

/* Makes the client, and asks nobody anything. Returns 0, or the exit status after a message. Close
 * it in any case. */
int server_name(struct server *out, const struct settings *settings);
void server_close(struct server *server);

/* The same; starts a local: server where one is asked for. Call while the process has one thread.
 */
int server_open(struct server *out, const struct settings *settings);

/* One of them is a local: one: it may die while nobody but us needs it. */
bool server_is_local(const struct server *server);

/* Starts those local: ones again that have died, each waited for at most that long; 0: not at all,
 * for somebody tries on. Costs a connection, and nothing where none is local:. */
void server_revive(const struct server *server, int64_t timeout_ms);

/* Where they were named: "--server", "RLOCK_SERVER", "FILE:LINE", "the handle". Returns text. */
const char *server_origin(const struct settings *settings, char text[OPT_ORIGIN_SIZE]);

/* The servers without passwords, as they can be given again. Borrowed. */
const char *server_shown(const struct server *server);

/* The servers, for a command's environment; NULL: leave the variable alone. Borrowed. */
const char *server_for_command(const struct server *server);

/* What people should know of it although all went well, once. */
void server_warn(const struct server *server);

enum { SERVER_GLANCE_MS = 1000 }; /* for one of several servers to say what is only shown */

/* By when one server is to have answered at first: within its time-outs and patience_ms, and of
 * several, where the others know as much, within of_several_ms. */
int64_t server_answer_by_ms(const struct server *server, int64_t patience_ms,
                            int64_t of_several_ms);

/* Inspects a name on one of the servers; only_held: whether it is held, and one of the holders. As
 * rlock_inspect(). */
enum rlock_status server_inspect(const struct server *server, size_t which, const char *name,
                                 bool only_held, int64_t deadline_ms, rlock_view **view);

/* Says what the library could not do: "cannot VERB NAME on SERVER: reason", and what follows from
 * it where it could not be reached. url: of one of several servers that was asked alone; NULL: all
 * were. kind: of the lock that was meant; NULL: of any. Returns the exit status. */
int server_explain(const struct server *server, const char *url, const char *kind, const char *verb,
                   const char *name, enum rlock_status status, const char *if_unavailable);

#endif
