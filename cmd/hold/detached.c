/* detached.c: takes a lock, prints its handle, and leaves it held. A lock whose handle cannot be
 * printed is given back. */
#include "hold/detached.h"

#include <stdio.h>
#include <stdlib.h>

#include "hold/tell.h"
#include "output/out.h"

int detached_undo(const struct taken *taken, const struct settings *settings, int status) {
    const int64_t deadline_ms = rlock_now_ms() + settings->io_timeout_ms;
    const enum rlock_status released = rlock_release(taken->lock, 0, deadline_ms);
    if (released == RLOCK_OK)
        tell_released(taken, 0);
    else
        tell_unconfirmed(taken, rlock_error(taken->server.client), "it ends with its lease");
    return status;
}

int detached_take(struct taken *taken, const struct settings *settings,
                  const struct signals *signals) {
    int status = take_prepare(taken, settings);
    if (status != 0 || !take(taken, settings, signals, &status))
        return status;
    const int signal = signals_read(signals);
    return signal != 0 ? detached_undo(taken, settings, EXIT_BY_SIGNAL + signal) : 0;
}

int detached_print(const struct taken *taken) {
    char *handle = NULL, *line = NULL;
    int status = EXIT_SYSTEM;
    tell_acquired(taken);
    if (rlock_handle_write(&handle, taken->lock, server_shown(&taken->server)) != RLOCK_OK ||
        asprintf(&line, "%s\n", handle) < 0) {
        line = NULL;
        out_error("cannot make a handle: out of memory");
    } else {
        status = out_stdout(line);
    }
    free(handle);
    free(line);
    return status;
}

int detached_acquire(const struct settings *settings, const struct signals *signals) {
    struct taken taken;
    int status = detached_take(&taken, settings, signals);
    if (status == 0) {
        status = detached_print(&taken);
        if (status != 0)
            (void)detached_undo(&taken, settings, status);
    }
    take_free(&taken);
    return status;
}
