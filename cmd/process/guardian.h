/* guardian.h: the small process between rlock and its command that ends the command's whole tree in
 * time, whatever has happened to rlock; and what the two say to each other: the plan before the
 * guardian is forked, afterwards orders one way and reports the other, packets that arrive in their
 * order. */
#ifndef RLOCK_CMD_GUARDIAN_H
#define RLOCK_CMD_GUARDIAN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/deadline.h"
#include "process/descendants.h"

/* --- the plan, orders and reports ------------------------------------------------------------- */

enum {
    ENVIRONMENT_SIZE = 1 << 20, /* eight times the longest text that exec takes */
    TEXTS_MAX = 8,              /* in it, of which each is about one variable */
};

/* The memory that both share. */
struct shared {
    int64_t lease_end_ms; /* until when the command may run (CLOCK_BOOTTIME; INT64_MAX: no limit);
                             stored and read atomically */
    int exec_error;       /* of the command's process, before it could become the command */
    sigset_t missed;      /* that came to the group before the command's process was there */
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
    ORDER_KEYS,   /* the terminal has sent signal `number` to the whole job */
    ORDER_AWAKE,  /* rlock goes on, which stopped when the command did for the `number`th time */
    ORDER_STOP,   /* end the tree: `number` is the cause, END_FOR_LEASE or END_FOR_WAITER */
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
    pid_t witness; /* for rlock to reap, which kills the guardian before it can; 0: none */
    int64_t at_ms; /* when it was seen to have ended, CLOCK_BOOTTIME */
};

/* --- the guardian ----------------------------------------------------------------------------- */

/* witness.c: a process in the command's process group that blocks every signal and acts on none. If
 * a signal to rlock was sent to the whole group, the witness has got it, too. */
struct witness {
    pid_t pid;  /* 0: there is none */
    int orders; /* the end of a pipe that it reads: which signal to forget */
};

/* Forks one into this process's group; call with all signals blocked. If the system refuses, pid is
 * 0, and each signal counts as sent to rlock alone. */
struct witness witness_start(void);

/* Whether it has got this signal, and makes it forget it. */
bool witness_has(const struct witness *witness, int signal);

/* Makes it forget the signals that terminals send: the command has got them. */
void witness_forget_keys(const struct witness *witness);

/* Ends it, if there is one, and reaps it. */
void witness_end(struct witness *witness);

/* The signals that have come to this process, which blocks all, and takes them: it was a witness of
 * its group itself. Not SIGCHLD. */
sigset_t witness_take_own(void);

/* Those that have come to the parent, which blocks all signals, as this process does, and not to
 * this process: it was not there yet. It asks for no memory. */
sigset_t witness_missed(pid_t parent);

/* The guardian's life. It starts nothing before ORDER_START. Call in a fresh child of a process
 * that takes its signals by descriptor; never returns. */
_Noreturn void guardian_main(const struct plan *plan);

/* The guardian's watch over the command while it runs: guardian.c starts it, supervise.c carries it
 * out. */
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
    pid_t group;    /* rlock's, and the witness's; the command may have left it */
    sigset_t heard; /* that the command has got, and the witness has not: it was not there yet */
    int child_fd;   /* signalfd for SIGCHLD */
    int timer_fd;
    int64_t started_ms; /* INT64_MAX: the command has not been started */
    int64_t kill_at_ms; /* STOPPING */
    struct report report;
};

/* Carries out orders until the command has ended, or has been ended: the phase is ENDED, the report
 * says how. */
void supervise(struct guardian *guardian);

/* SIGKILL to the whole tree, at once. */
void supervise_kill_all(struct guardian *guardian);

#endif
