/* doctor_output.h: how the outcome of checks is printed: as lines, or as a JSON array. */
#ifndef RLOCK_CMD_DOCTOR_OUTPUT_H
#define RLOCK_CMD_DOCTOR_OUTPUT_H

#include "report/doctor.h"

/* Zero it, with the settings. */
struct doctor_output {
    const struct settings *settings;
    char *server; /* that the last line was about */
    size_t count;
    int failure; /* standard output can't be written */
};

/* Returns 0, or EXIT_SYSTEM after a message. */
int doctor_output_end(struct doctor_output *out);

/* A doctor_report; its context is a struct doctor_output. */
void doctor_output_write(void *context, const char *check, const char *server,
                         const struct verdict *verdict);

#endif
