/* guardian.h: the small process between rlock and its command that ends the command's whole tree in
 * time, whatever has happened to rlock. */
#ifndef RLOCK_CMD_GUARDIAN_H
#define RLOCK_CMD_GUARDIAN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "process/deadline.h"

/* What the guardian reports to rlock: a packet each. */
enum report_verb {
    REPORT_STOPPED, /* the command has, by signal `status`; another report follows */
    REPORT_ENDED,
    REPORT_NO_EXEC,
    REPORT_NO_START,
};
/* What the command was ended for. */
enum end_cause {
    END_BY_ITSELF,
    END_FOR_TIME,   /* it had had all the time that --timeout gave it */
    END_FOR_WAITER, /* --preempt of somebody who waits for the lock */
    END_FOR_LEASE,
};
struct report {
    enum report_verb verb;
    int status; /* REPORT_ENDED: as waitpid(2) returns it; REPORT_NO_...: an errno */
    enum end_cause cause;
    bool killed; /* with a cause: SIGTERM was not enough */
    bool left;   /* processes of the command live on: the system did not let us kill or find them */
    int stop;    /* REPORT_STOPPED: which one, counted */
    int64_t at_ms; /* when it was seen to have ended, CLOCK_BOOTTIME */
};

enum {
    ENVIRONMENT_SIZE = 1 << 20, /* eight times the longest text that exec takes */
    TEXTS_MAX = 8,              /* in it, of which each is about one variable */
};

/* The memory that rlock and its guardian share. */
struct guardian_shared {
    int exec_error;       /* of the command's process, before it could become the command */
    int64_t lease_end_ms; /* until when the command may run (CLOCK_BOOTTIME; INT64_MAX: no limit):
                             read and stored atomically */
    /* What the command's environment gets, before ORDER_START: see environment_write(). */
    char environment[ENVIRONMENT_SIZE];
};

struct guardian_plan {
    char *const *argv;           /* the command, looked for in PATH */
    char **environment;          /* room for the command's: ours and TEXTS_MAX more */
    const sigset_t *caller_mask; /* for the command */
    bool caller_ignored_child;   /* SIGCHLD was ignored: for the command, too */
    struct guardian_shared *shared;
    pid_t rlock; /* continued when the command is */
    struct deadline_plan deadline;
    int socket; /* SOCK_SEQPACKET, to rlock; its end of file means rlock is dead */
};

/* The guardian's life, which begins at a gate: nothing is started before ORDER_START. Call in a
 * fresh child of a process that takes its signals by descriptor; never returns. */
_Noreturn void guardian_main(const struct guardian_plan *plan);

#endif
