/* cell.h: what stands in the cells of the table of `rlock status`, and how it is set off. */
#ifndef RLOCK_CMD_CELL_H
#define RLOCK_CMD_CELL_H

#include "output/duration.h"
#include "rlock_admin.h"

enum { CELL_STATE_SIZE = 64, CELL_LEASE_SIZE = DURATION_TEXT_SIZE };

/* Styles, see table_add(): rlock-status(1) has the rules. */
#define CELL_FREE   "32"
#define CELL_TAKEN  "33"
#define CELL_WAITS  "36"
#define CELL_KEPT   "2"
#define CELL_FAILED "31"

/* "alice@web-01"; of a client that leaves no more, its owner. Yours to free; NULL: no memory. */
char *cell_who(const char *owner, const char *host, const char *user);

/* What there is of a lock as a whole: in words of its kind. */
void cell_state(char text[CELL_STATE_SIZE], const rlock_view *view);

/* What a holder has: permits, or several holds; else "held". What --min-hold alone keeps is
 * nobody's any more. */
void cell_hold(char text[CELL_STATE_SIZE], const struct rlock_view_holder *holder);

/* How the last run with --once-per ended. */
void cell_run(char text[CELL_STATE_SIZE], const struct rlock_view_run *run);

/* What is left of the lease; "": it has no end, or it is unknown. */
void cell_lease(char text[CELL_LEASE_SIZE], const struct rlock_view_holder *holder);

#endif
