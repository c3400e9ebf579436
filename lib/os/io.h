/* io.h: how far a step that never blocks has come. */
#ifndef RLOCK_IO_H
#define RLOCK_IO_H

#include "rlock_base.h"

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

#endif
