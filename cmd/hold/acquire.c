/* acquire.c: takes a lock, prints its handle, and leaves it held. Who cannot be given the handle
 * has no lock. */
#include "hold/acquire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hold/keep.h"
#include "hold/tell.h"
#include "output/out.h"

int acquire_undo(const struct taken *taken, const struct settings *settings, int status) {
    const int64_t deadline_ms = rlock_now_ms() + settings->io_timeout_ms;
    const enum rlock_status released = rlock_release(taken->lock, 0, deadline_ms);
    if (released == RLOCK_OK)
        tell_released(taken, 0);
    else
        tell_unconfirmed(taken, rlock_error(taken->server.client), "it ends with its lease");
    return status;
}

int acquire_take(struct taken *taken, const struct wrap_kind *kind, const struct settings *settings,
                 const struct signals *signals) {
    int status = take_prepare(taken, settings, kind);
    if (status != 0 || !take(taken, settings, signals, &status))
        return status;
    const int signal = signals_read(signals);
    return signal != 0 ? acquire_undo(taken, settings, EXIT_BY_SIGNAL + signal) : 0;
}

int acquire_print(const struct taken *taken) {
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

static int take_and_print(const struct wrap_kind *kind, const struct settings *settings,
                          const struct signals *signals) {
    struct taken taken;
    int status = acquire_take(&taken, kind, settings, signals);
    if (status == 0) {
        status = acquire_print(&taken);
        if (status != 0)
            (void)acquire_undo(&taken, settings, status);
    }
    take_free(&taken);
    return status;
}

int acquire_lock(const struct wrap_kind *kind, const struct settings *settings) {
    char command[64];
    struct wrap_kind shown = *kind;
    struct signals signals;
    shown.command = command;
    (void)snprintf(command, sizeof command,
                   settings->while_pid > 0 ? "rlock acquire %s --while %d" : "rlock acquire %s",
                   kind->name, settings->while_pid);
    if (!signals_begin(&signals)) {
        out_error("cannot take signals: %s", strerror(errno));
        return EXIT_SYSTEM;
    }
    const int status = settings->while_pid > 0 ? keep(&shown, settings, &signals)
                                               : take_and_print(&shown, settings, &signals);
    close(signals.fd);
    return status;
}
