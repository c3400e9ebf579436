/* percent.h: %XX in URLs. */
#ifndef RLOCK_CMD_PERCENT_H
#define RLOCK_CMD_PERCENT_H

/* The text with its %XX decoded; what is no %XX, and a NUL, stays. Yours to free; NULL: no memory.
 */
char *percent_decode(const char *text);

/* The scheme and the path, with %XX for what is reserved there, and for blanks, which part URLs.
 * Yours to free; NULL: no memory. */
char *percent_url(const char *scheme, const char *path);

#endif
