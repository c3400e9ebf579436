/* script_retry.h: a script, again and again until it is answered. */
#ifndef RLOCK_SCRIPT_RETRY_H
#define RLOCK_SCRIPT_RETRY_H

#include "redis/client.h"
#include "redis/script.h"

/* Tries of something, on one server or several, until it is answered or the deadline has come. */
struct rlock__tries {
    const struct rlock_client *client;
    const struct rlock__routes *routes;
    int64_t began_ms, deadline_ms;
    int cancel_fd;
    int64_t backoff_ms; /* 0: the first */
};

/* Of the next try. */
struct rlock__limit rlock__tries_limit(const struct rlock__tries *tries);

/* Pauses after a try that was not answered. RLOCK_AGAIN: there is time for another one. Else how it
 * ends: RLOCK_UNAVAILABLE, also where no majority of the servers was reached in the client's time
 * for that; RLOCK_CANCELLED. */
enum rlock_status rlock__tries_pause(struct rlock__tries *tries);

/* How much to ask for where so much took too long. */
size_t rlock__smaller(size_t portion);

enum { RLOCK__CALLS_MAX = 100 };

/* Several calls of one script at once, RLOCK__CALLS_MAX at most, each to the server that its run
 * has the route of. Each run says what has come of it: RLOCK_OK: the answer's reply is the caller's
 * to free. Else RLOCK_UNAVAILABLE (none by the deadline, or not reached within the client's time
 * for that), RLOCK_DENIED, RLOCK_CANCELLED, RLOCK_SYSTEM: route->error says why. in_doubt, of each:
 * an answer was lost on the way. Then a call with a portion is sent with a smaller one, which stays
 * in it. */
void rlock__script_retry(const struct rlock_client *client, const struct rlock__script *script,
                         struct rlock__call *const *calls, struct rlock__run *runs, bool *in_doubt,
                         size_t count, int64_t deadline_ms, int cancel_fd);

#endif
