/* quorum.h: which servers can be a quorum, and for which commands. */
#ifndef RLOCK_CMD_QUORUM_H
#define RLOCK_CMD_QUORUM_H

#include <stdbool.h>

#include "options/settings.h"

/* Checks the servers, where they are several. No server is asked. False: why says what is wrong,
 * and what would be right. */
bool quorum_check(const struct settings *settings, const struct cmd *cmd, struct complaint *why);

#endif
