/* supervise.h: the guardian's watch over the command while it runs. */
#ifndef RLOCK_CMD_SUPERVISE_H
#define RLOCK_CMD_SUPERVISE_H

#include "process/descendants.h"
#include "process/orders.h"
#include "process/witness.h"

enum phase {
    RUNNING,  /* the lease is sure, and time is left */
    STOPPING, /* SIGTERM has been sent; SIGKILL follows */
    ENDED,
};

struct guardian {
    const struct plan *plan;
    enum phase phase;
    struct descendants descendants; /* of the command */
    struct witness witness;
    int child_fd; /* signalfd for SIGCHLD */
    int timer_fd;
    int64_t started_ms;  /* INT64_MAX: the command has not been started */
    int64_t leave_at_ms; /* when to leave the job; INT64_MAX: it has been left */
    int64_t kill_at_ms;  /* STOPPING */
    struct order order;  /* the last one */
    struct report report;
};

/* Carries out orders until the command has ended, or has been ended: the phase is ENDED, the report
 * says how. */
void supervise(struct guardian *guardian);

/* SIGKILL to the whole tree, at once. */
void supervise_kill_all(struct guardian *guardian);

#endif
