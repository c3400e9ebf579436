/* error.h: what went wrong last: its text, which lives in the client, never in a global; and how
 * far a step that never blocks has come. */
#ifndef RLOCK_ERROR_H
#define RLOCK_ERROR_H

#include <stdbool.h>

#include "rlock_base.h"

#define RLOCK__ERROR_SIZE 512

struct rlock__error {
    char text[RLOCK__ERROR_SIZE];
};

/* Sets the text, printf-style; cut to size, control characters made blank. */
__attribute__((format(printf, 2, 3))) void rlock__error_set(struct rlock__error *error,
                                                            const char *format, ...);

enum rlock__io {
    RLOCK__IO_DONE,
    RLOCK__IO_WAIT,     /* not yet: poll(2), then call again */
    RLOCK__IO_BROKEN,   /* the connection has failed; a new one may work */
    RLOCK__IO_UNUSABLE, /* a new one would not work either */
    RLOCK__IO_DENIED,   /* a certificate or a password is refused */
    RLOCK__IO_SYSTEM    /* no memory, no socket, no thread */
};

/* The status of a step that has come to its end, which RLOCK__IO_WAIT is not. */
enum rlock_status rlock__io_status(enum rlock__io io);

/* Whatever the program's locale. */
static inline bool rlock__is_control(char c) {
    return (unsigned char)c < ' ' || c == 127;
}

static inline bool rlock__has_control(const char *text) {
    while (*text != '\0' && !rlock__is_control(*text))
        text++;
    return *text != '\0';
}

#endif
