/* visits.h: examines each server in turn, and compares them. */
#ifndef RLOCK_CMD_VISITS_H
#define RLOCK_CMD_VISITS_H

#include "options/settings.h"

/* Prints what makes locks unsafe or slow, a line each. Returns the exit status of rlock doctor. */
int doctor_exec(struct settings *settings);

#endif
