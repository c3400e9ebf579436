/* break.h: takes a lock away from its holders, after showing them and asking. */
#ifndef RLOCK_CMD_REPORT_BREAK_H
#define RLOCK_CMD_REPORT_BREAK_H

#include "options/settings.h"

/* Breaks settings->names[0]. user: for the holders' messages. Returns the exit status. */
int break_lock(const struct settings *settings, const char *user);

#endif
