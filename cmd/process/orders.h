/* orders.h: what rlock and its guardian say to each other: the plan before the guardian is forked;
 * afterwards orders one way and reports the other, packets that arrive in their order. */
#ifndef RLOCK_CMD_ORDERS_H
#define RLOCK_CMD_ORDERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/deadline.h"

enum {
    ENVIRONMENT_SIZE = 1 << 20, /* eight times the longest text that exec takes */
    TEXTS_MAX = 8,              /* in it, of which each is about one variable */
};

/* The memory that both share. */
struct shared {
    int64_t lease_end_ms; /* until when the command may run (CLOCK_BOOTTIME; INT64_MAX: no limit);
                             stored and read atomically */
    int exec_error;       /* of the command's process, before it could become the command */
    /* What the command's environment gets, before ORDER_START: see environment_write(). */
    char environment[ENVIRONMENT_SIZE];
};

struct plan {
    char *const *argv;           /* the command, looked for in PATH */
    char **environment;          /* room for the command's: ours and TEXTS_MAX more */
    const sigset_t *caller_mask; /* for the command */
    bool caller_ignored_child;   /* SIGCHLD was ignored: for the command, too */
    struct shared *shared;
    pid_t rlock; /* continued when the command is */
    struct deadline_plan deadline;
    int socket; /* the guardian's end, SOCK_SEQPACKET; its end of file means that rlock is dead */
};

/* As of now. started_ms: as deadline_of() takes it. */
struct deadline plan_deadline(const struct plan *plan, int64_t started_ms);

enum order_verb {
    ORDER_START,  /* start the command */
    ORDER_SIGNAL, /* pass on signal `number` */
    ORDER_KEYS,   /* the terminal has sent a signal to the whole job */
    ORDER_AWAKE,  /* rlock goes on, which stopped when the command did for the `number`th time */
    ORDER_STOP,   /* end the tree: the lease is lost */
    ORDER_YIELD,  /* end the tree: a waiter asks for the lock */
};
struct order {
    enum order_verb verb;
    int number;
};

/* Never waits for the guardian, which may be stopped and read nothing. False: the order was not
 * sent, because hundreds are unread, the guardian is gone, or the system has had no memory for it
 * for a second. */
bool order_send(int socket, struct order order);

/* Takes the next order, waiting for it or not. False: rlock is gone, or, not waiting, there is
 * none: *gone tells which. */
bool order_take(int socket, bool wait, struct order *order, bool *gone);

enum report_verb {
    REPORT_STOPPED, /* the command has, by signal `status`; another report follows */
    REPORT_ENDED,
    REPORT_NO_EXEC,
    REPORT_NO_START,
};
/* What the command was ended for; of two causes the later one here counts. */
enum end_cause {
    END_BY_ITSELF,
    END_FOR_TIME,   /* --timeout */
    END_FOR_WAITER, /* --preempt by a waiter */
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

#endif
