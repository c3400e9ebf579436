/* doctor_out.h: how the outcome of checks is printed: as lines, or as a JSON array. */
#ifndef RLOCK_CMD_DOCTOR_OUT_H
#define RLOCK_CMD_DOCTOR_OUT_H

#include "output/json.h"
#include "report/doctor.h"

struct doctor_out {
    const struct settings *settings;
    struct json json; /* --json only */
    char *server;     /* whom the last line was about */
    size_t count;
    int failure; /* standard output can't be written */
};

/* Returns 0, or EXIT_SYSTEM after a message. End it in any case but that. */
int doctor_out_begin(struct doctor_out *out, const struct settings *settings);
int doctor_out_end(struct doctor_out *out);

/* A doctor_teller; its context is a struct doctor_out. */
void doctor_out_tell(void *context, const char *check, const char *server,
                     const struct verdict *verdict);

#endif
