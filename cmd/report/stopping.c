/* stopping.c: whether the commands of holders whose lock was broken have stopped.
 *
 * A holder hears of the break at once, or at its next renewal, and says when its command has ended.
 * One that is cut off, or hung, cannot: its guardian kills the command before the lease would have
 * ended. */
#include "report/stopping.h"

#include <stdio.h>

#include "output/duration.h"
#include "output/out.h"

void stopping_begin(rlock_stopping *stopping[STOPPING_MAX], const struct holders *holders,
                    rlock_client *client, const struct settings *settings) {
    for (size_t i = 0; i < STOPPING_MAX; i++) {
        stopping[i] = NULL;
        if (i >= holders->size || settings->stop_wait_ms == 0 ||
            holders_one_runs_on_ms(holders, i) <= 0)
            continue;
        if (rlock_stopping_new(&stopping[i], client, holders->owners[i],
                               holders_deadline_ms(settings)) == RLOCK_OK)
            continue;
        rlock_stopping_free(stopping[i]);
        stopping[i] = NULL;
    }
}

static void say(const struct holders *holders, size_t i, bool has_stopped, int64_t waited_ms) {
    const struct rlock_view_holder *holder = holders->seen[i].holder;
    const int64_t left_ms = holders_one_runs_on_ms(holders, i);
    char which[HOLDERS_TEXT_SIZE], waited[DURATION_TEXT_SIZE], most[DURATION_TEXT_SIZE];
    (void)snprintf(which, sizeof which, "%s%s%s", holder->user != NULL ? holder->user : "",
                   holder->user != NULL ? "@" : "", holder->host);
    duration_format(waited, waited_ms);
    if (has_stopped)
        out_info("%s says that its command has stopped, %s after the break", which, waited);
    else if (left_ms > 0)
        out_warn("%s has not answered within %s: its command may run on for %s at most", which,
                 waited, duration_format(most, left_ms));
    else
        out_warn("%s has not answered within %s; its lease would be over: its command has been "
                 "stopped, unless it runs with --on-lost warn",
                 which, waited);
}

void stopping_end(rlock_stopping *const stopping[STOPPING_MAX], const struct holders *holders,
                  const struct settings *settings) {
    const int64_t began_ms = rlock_now_ms(), end_ms = began_ms + settings->stop_wait_ms;
    for (size_t i = 0; i < STOPPING_MAX; i++) {
        if (stopping[i] == NULL)
            continue;
        const int64_t over_ms = rlock_now_ms() + holders_one_runs_on_ms(holders, i);
        const int64_t until_ms = over_ms < end_ms ? over_ms : end_ms;
        const bool has_stopped = rlock_stopping_wait(stopping[i], until_ms) == RLOCK_OK;
        say(holders, i, has_stopped, rlock_now_ms() - began_ms);
    }
}
