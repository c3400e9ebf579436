/* shown.h: what others are shown of who holds a lock or waits for it. */
#ifndef RLOCK_SHOWN_H
#define RLOCK_SHOWN_H

/* As members of a JSON object, without its braces: scripts store it as it comes. NULL stands for
 * ""; a note that is "" is left out. Yours to free; NULL: no memory. */
char *rlock__shown(const char *host, const char *user, const char *command, const char *note,
                   const char *permits);

#endif
