/* error.c: what went wrong last. */
#include "os/error.h"

#include <stdarg.h>
#include <stdio.h>

void rlock__error_set(struct rlock__error *error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    /* A server's text is a stranger's: one line, nothing that moves a terminal's cursor. */
    for (char *c = error->text; *c != '\0'; c++) {
        if (rlock__is_control(*c))
            *c = ' ';
    }
}

enum rlock_status rlock__io_status(enum rlock__io io) {
    switch (io) {
    case RLOCK__IO_DONE: return RLOCK_OK;
    case RLOCK__IO_WAIT:
    case RLOCK__IO_BROKEN: return RLOCK_AGAIN;
    case RLOCK__IO_UNUSABLE: return RLOCK_UNAVAILABLE;
    case RLOCK__IO_DENIED: return RLOCK_DENIED;
    case RLOCK__IO_SYSTEM: break;
    }
    return RLOCK_SYSTEM;
}
