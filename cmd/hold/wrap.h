/* wrap.h: the one way through of every command that wraps another. */
#ifndef RLOCK_CMD_WRAP_H
#define RLOCK_CMD_WRAP_H

#include "hold/wrap_kind.h"
#include "options/settings.h"

/* Takes a lock of that kind, runs the command while it is held, gives it back; without a command it
 * only takes it. Returns the exit status (CLI.md, section 3). */
int wrap(const struct wrap_kind *kind, const struct settings *settings);

#endif
