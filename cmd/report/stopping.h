/* stopping.h: whether the commands of holders whose lock was broken have stopped. */
#ifndef RLOCK_CMD_STOPPING_H
#define RLOCK_CMD_STOPPING_H

#include "options/settings.h"
#include "report/holders.h"
#include "rlock_admin.h"

enum { STOPPING_MAX = 8 }; /* holders; each takes a connection */

/* Begins to listen to those that have a command, before they are broken. Those to which it does not
 * listen are NULL: there is nothing to wait for, or no right to hear it. */
void stopping_begin(rlock_stopping *stopping[STOPPING_MAX], const struct holders *holders,
                    rlock_client *client, const struct settings *settings);

/* Waits for each as long as --wait says, all in all, and says what has become of it. */
void stopping_end(rlock_stopping *const stopping[STOPPING_MAX], const struct holders *holders,
                  const struct settings *settings);

#endif
