/* resize.h: sets how many permits a semaphore has. */
#ifndef RLOCK_CMD_RESIZE_H
#define RLOCK_CMD_RESIZE_H

#include "options/settings.h"

/* Takes back plain permits that dead processes of this host have left, and sets the number. Returns
 * the exit status. */
int resize(const struct settings *settings);

#endif
