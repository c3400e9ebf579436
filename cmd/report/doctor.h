/* doctor.h: what `rlock doctor` checks. To add a check: rows in doctor_rules.c, and a function only
 * where one fact after the other does not decide. */
#ifndef RLOCK_CMD_DOCTOR_H
#define RLOCK_CMD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/settings.h"
#include "rlock_admin.h"

/* The server that is examined. */
struct target {
    const struct settings *settings;
    const char *url; /* as given: it may have a password */
    const rlock_facts *facts;
    size_t server; /* which of those that the facts are about */
};

enum doctor_level {
    DOCTOR_OK,
    DOCTOR_NOTE,    /* good to know, and no fault */
    DOCTOR_UNKNOWN, /* it cannot be found out */
    DOCTOR_FINDING
};

struct verdict {
    const char *check, *server; /* whose outcome it is, and of which server */
    enum doctor_level level;
    char found[1024];
    const char *setting; /* the parameter to set, as CONFIG SET takes it; NULL: none */
    char advice[512];    /* in words; with a setting: what else there is to say; "": none */
    char paste[1024];    /* a command, on a line of its own on a terminal; "": none */
    const char *file;    /* the server's configuration file; "": it has none; NULL: unknown */
};

/* Judges. out: of the rule's check. False: there is nothing to say. */
typedef bool doctor_judge(const struct target *target, struct verdict *out);

/* What else must be true, besides what a fact says. */
typedef bool doctor_when(const struct target *target);

/* How a fact is compared. Each but UNKNOWN and ALWAYS needs one that is known; BELOW and ABOVE a
 * number, which they compare with the limit. */
enum doctor_test { ALWAYS, UNKNOWN, KNOWN, IS, IS_NOT, BELOW, ABOVE, IS_LOCAL /* the URL */ };

/* Of the rules of one check the first that fits speaks; one with nothing found is silent. */
struct rule {
    const char *check;
    const char *fact;
    enum doctor_test test;
    const char *word; /* of IS and IS_NOT */
    int64_t limit;
    enum doctor_level level;
    const char *found;  /* {FACT} stands for that fact; one that ends in _us is shown in ms */
    const char *advice; /* see struct verdict */
    const char *setting;
    doctor_when *when;   /* NULL: whatever the fact says is enough */
    doctor_judge *judge; /* instead of all of these but the level: speaks if it returns true */
};

/* Up to one without a check. */
extern const struct rule doctor_rules[];

/* Writes a verdict; advice: NULL for none. Returns true. */
bool doctor_say(struct verdict *out, enum doctor_level level, const char *advice,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether the URL begins with that. */
bool doctor_is(const struct target *target, const char *scheme);

/* A fact, NULL when it is not known; as text, "" then; as a number, -1 then. */
const char *doctor_fact(const struct target *target, const char *fact);
const char *doctor_text(const struct target *target, const char *fact);
int64_t doctor_number(const struct target *target, const char *fact);

/* doctor.c: all that is said of the rights where one line is enough; nothing, but to keep the rules
 * behind it silent, where the user's rights are limited to certain names. */
doctor_judge doctor_rights_in_short, doctor_limited;
/* doctor_judge.c */
doctor_judge doctor_setting, doctor_timeout, doctor_lease, doctor_tls, doctor_rights, doctor_cycle,
    doctor_processes, doctor_local;
doctor_when doctor_has_aof, doctor_may_lose_locks, doctor_snapshots_fail;
doctor_when doctor_is_exposed; /* to other machines */
/* doctor_replicas.c */
doctor_judge doctor_replicas;
doctor_when doctor_needs_wait;   /* a replica must acknowledge a lock */
doctor_when doctor_goes_without; /* in a cluster without WAIT, and without --replicas */

/* doctor_output.c: prints as lines, or as a JSON array. Zero it, with the settings. */
struct doctor_output {
    const struct settings *settings;
    char server[1024]; /* that the last line was about, as it was shown */
    size_t count;
    int failure; /* standard output can't be written */
};

/* Returns 0, or EXIT_SYSTEM after a message. */
int doctor_output_end(struct doctor_output *out);

/* The outcome of one check; what is not printable in it becomes '?'. */
void doctor_output_write(struct doctor_output *out, struct verdict *verdict);

#endif
