/* doctor.h: what `rlock doctor` looks for. To add a check: its function, and a row in doctor.c. */
#ifndef RLOCK_CMD_DOCTOR_H
#define RLOCK_CMD_DOCTOR_H

#include <stdbool.h>
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

enum { DOCTOR_ADVICE_SIZE = 512 };

struct verdict {
    enum doctor_level level;
    char found[1024];
    char advice[DOCTOR_ADVICE_SIZE]; /* "": none */
};

/* Judges. False: there is nothing to judge here. */
typedef bool doctor_check(const struct target *target, const char *about, struct verdict *out);

/* Each writes what was found; the advice comes with it, NULL for none. All return true. */
bool doctor_say(struct verdict *out, enum doctor_level level, const char *advice,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* How to set a parameter so that it is still set when the server has been started again: CONFIG SET
 * alone is not. behind: what else is there to say, "" for nothing. Returns the text. */
const char *doctor_set(char text[DOCTOR_ADVICE_SIZE], const struct target *target,
                       const char *setting, const char *behind);

/* A fact as text, "" when it is not known; as a number, -1 then. */
const char *doctor_text(const struct target *target, const char *fact);
int64_t doctor_number(const struct target *target, const char *fact);

/* doctor_server.c */
doctor_check doctor_version, doctor_config, doctor_eviction, doctor_memory, doctor_persistence,
    doctor_clients, doctor_timeout, doctor_slow, doctor_tls;
/* doctor_local.c */
doctor_check doctor_setting, doctor_local;
/* doctor_replication.c */
doctor_check doctor_replicas, doctor_wait, doctor_sentinel, doctor_cluster;
/* doctor_client.c */
doctor_check doctor_scripts, doctor_rights, doctor_rights_beyond, doctor_processes, doctor_clock,
    doctor_round_trip, doctor_cycle;

/* One check's outcome; about: the server's name. */
typedef void doctor_report(void *context, const char *check, const char *about,
                           const struct verdict *verdict);

/* Makes all checks of one target. Returns how many findings there are. */
int doctor_examine(const struct target *target, doctor_report *report, void *context);

#endif
