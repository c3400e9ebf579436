/* io.c: how far a step that never blocks has come. */
#include "os/io.h"

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
