/* detached.c: takes a lock, prints its handle, and leaves it held. If it cannot print the handle,
 * it gives the lock back. */
#include "hold/acquired.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/out.h"

int detached_undo(const struct acquired *acquired, int status) {
    if (acquire_give_back(acquired, 0, false) == RLOCK_OK)
        event_released(acquired, 0);
    else
        event_unconfirmed(acquired);
    return status;
}

int detached_begin(struct acquired *acquired, const struct settings *settings,
                   const struct signals *signals) {
    int status = acquire_prepare(acquired, settings);
    if (status == 0)
        status = acquire_lock(acquired, signals, NULL);
    const int signal = status == ACQUIRED ? signals_read(signals) : 0;
    return signal != 0 ? detached_undo(acquired, EXIT_BY_SIGNAL + signal) : status;
}

/* The reader may be slow; a signal ends the wait. */
static int print(const char *line, const struct signals *signals) {
    size_t done = 0;
    while (!stream_write(line, strlen(line), &done, signals->fd)) {
        const int error = errno, signal = signals_read(signals);
        if (signal != 0)
            return EXIT_BY_SIGNAL + signal;
        if (error == ECANCELED)
            continue;
        return out_fail(EXIT_SYSTEM, NULL, NULL, "cannot write to standard output: %s",
                        strerror(error));
    }
    return 0;
}

/* As shell and CI systems read it: no value needs quotes. Of several names the tokens are in
 * canonical order. Yours to free; NULL: no memory. */
static char *make_exported(const struct acquired *acquired, const char *handle) {
    const struct rlock_hold *hold;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "RLOCK_HANDLE=%s\nRLOCK_TOKEN=", handle);
    for (size_t i = 0; (hold = rlock_hold_at(acquired->lock, i)) != NULL; i++)
        fprintf(stream, "%s%" PRId64, i > 0 ? "," : "", hold->token);
    fputc('\n', stream);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

int detached_print(const struct acquired *acquired, const struct signals *signals) {
    char *handle = NULL, *line = NULL;
    int status = EXIT_SYSTEM;
    event_acquired(acquired);
    if (rlock_handle_write(&handle, acquired->lock, server_shown(&acquired->server)) == RLOCK_OK) {
        if (acquired->settings->handle.exported)
            line = make_exported(acquired, handle);
        else if (asprintf(&line, "%s\n", handle) < 0)
            line = NULL;
    }
    if (line == NULL) {
        (void)out_fail(status, NULL, NULL, "cannot make a handle: out of memory");
    } else {
        status = print(line, signals);
    }
    free(handle);
    free(line);
    return status;
}
