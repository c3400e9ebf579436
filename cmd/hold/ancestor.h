/* ancestor.h: a lock that is held by an rlock around this one, which cannot know it any more. */
#ifndef RLOCK_CMD_ANCESTOR_H
#define RLOCK_CMD_ANCESTOR_H

#include <stdbool.h>

#include "hold/environment.h"
#include "rlock_report.h"

/* Whether who holds it is a process of this machine that this one descends from, although the
 * environment lists no such hold: sudo(8) or env(1) has cleared it, and we wait for ourselves.
 */
bool ancestor_holds(const struct rlock_holder *holder, const struct environment *enclosing);

/* What to do about it, for a message. */
extern const char ancestor_advice[];

#endif
