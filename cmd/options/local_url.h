/* local_url.h: `local:` and `local:DIR`, and what they stand for. */
#ifndef RLOCK_CMD_LOCAL_URL_H
#define RLOCK_CMD_LOCAL_URL_H

#include <stdbool.h>

#define LOCAL_PREFIX "local:"

/* True for `local:` and `local:DIR`. */
bool local_is(const char *server);

/* Whether its directory depends on the current one. */
bool local_is_relative(const char *server);

/* The directory of a `local:` URL as an absolute path; %XX in it is decoded, and without one it is
 * the user's own. Yours to free; NULL: out of memory. */
char *local_dir(const char *server);

/* The scheme and the path, with %XX for what is reserved there, and for blanks, which separate
 * URLs. Yours to free; NULL: out of memory. */
char *local_make_url(const char *scheme, const char *path);

#endif
