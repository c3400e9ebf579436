/* guardian.h: the small process between rlock and its command that ends the command's whole tree in
 * time, whatever has happened to rlock. */
#ifndef RLOCK_CMD_GUARDIAN_H
#define RLOCK_CMD_GUARDIAN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What rlock tells its guardian, and the guardian rlock: one packet each. */
enum order_verb { ORDER_SIGNAL, ORDER_STOP, ORDER_GO };
struct order {
    enum order_verb verb;
    int signal; /* ORDER_SIGNAL: pass it on. ORDER_GO: the report has been read */
};

enum report_verb { REPORT_ENDED, REPORT_NO_EXEC, REPORT_NO_FORK };
struct report {
    enum report_verb verb;
    int status;    /* REPORT_ENDED: as waitpid(2) tells it; else an errno */
    bool stopped;  /* the guardian ended it, for the lease */
    bool left;     /* the system did not let us kill all of it */
    int64_t at_ms; /* when it was seen to have ended, CLOCK_BOOTTIME */
};

struct guardian_plan {
    char *const *argv;           /* the command, looked for in PATH */
    const sigset_t *caller_mask; /* for the command */
    bool caller_ignored_child;   /* SIGCHLD was ignored: for the command, too */
    const int64_t *lease_end_ms; /* shared memory; read atomically */
    int64_t kill_after_ms;       /* from SIGTERM to SIGKILL */
    int64_t margin_ms;           /* SIGKILL comes this much before the lease's end */
    bool warn_only;              /* --on-lost warn: the lease's end is not the command's */
    int socket;                  /* SOCK_SEQPACKET, to rlock; its end of file means rlock is dead */
};

/* The guardian's life. Call in a fresh child of a process that takes its signals by descriptor;
 * never returns. Allocates nothing. */
_Noreturn void guardian_main(const struct guardian_plan *plan);

#endif
