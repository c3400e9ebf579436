/* script_retry.c: one script on one server, again and again until it is answered. */
#include "redis/script_retry.h"

#include "os/backoff.h"
#include "os/clock.h"

enum { PAUSE_MIN_MS = 10, PAUSE_MAX_MS = 500 };

static enum rlock_status ask_until_answered(const struct rlock_client *client,
                                            struct rlock__route *route,
                                            const struct rlock__script *script,
                                            const struct rlock__call *call, int64_t deadline_ms,
                                            int cancel_fd, struct rlock__answer *answer,
                                            bool *in_doubt) {
    const int64_t began_ms = rlock_now_ms();
    const int64_t reached_by_ms = rlock__after_ms(began_ms, client->connect_timeout_ms);
    struct rlock__call again = *call;
    int64_t backoff_ms = 0;
    *in_doubt = false;
    for (;;) {
        const struct rlock__limit limit =
            rlock__client_call_limit(client, began_ms, backoff_ms > 0,
                                     rlock__half_way_ms(rlock_now_ms(), deadline_ms), cancel_fd);
        enum rlock_status status = rlock__script_run(route, script, &again, &limit, answer);
        if (status != RLOCK_AGAIN)
            return status;
        *in_doubt = *in_doubt || route->in_doubt;
        again.replicated_no = *in_doubt; /* it may be what has come of the request before */
        const int64_t now = rlock_now_ms();
        const bool hopeless = !route->answered && reached_by_ms < deadline_ms;
        const int64_t end = hopeless ? reached_by_ms : deadline_ms;
        /* Half of what is left at the most: no long pause gives up what the caller would wait for.
         */
        const int64_t next_ms =
            rlock__sooner_ms(now + rlock__backoff(&backoff_ms, PAUSE_MIN_MS, PAUSE_MAX_MS),
                             rlock__half_way_ms(now, end));
        if (next_ms >= end) /* a try without time for its answer would hide the reason */
            return RLOCK_UNAVAILABLE;
        const struct rlock__limit pause = {next_ms, cancel_fd, NULL};
        if (rlock__sleep(&pause) == RLOCK_CANCELLED)
            return RLOCK_CANCELLED;
    }
}

enum rlock_status rlock__script_retry(struct rlock_client *client, struct rlock__route *route,
                                      const struct rlock__script *script,
                                      const struct rlock__call *call, int64_t deadline_ms,
                                      int cancel_fd, struct rlock__answer *answer, bool *in_doubt) {
    const enum rlock_status status =
        ask_until_answered(client, route, script, call, deadline_ms, cancel_fd, answer, in_doubt);
    if (status != RLOCK_OK)
        client->error = route->error;
    return status;
}
