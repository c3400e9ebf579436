/* describe.h: a lock's holder, in words, the same everywhere. */
#ifndef RLOCK_CMD_DESCRIBE_H
#define RLOCK_CMD_DESCRIBE_H

#include <stddef.h>

#include "rlock_admin.h"
#include "rlock_report.h"

/* "held by alice@web-01 pid 4242 for 3m (https://ci/job/7), ./deploy.sh", what is unknown left out;
 * "kept by --min-hold of ..." where nobody holds it any more. */
void describe_holder(char *text, size_t size, const struct rlock_holder *holder);

/* The same of a holder in a view that was made at the instant seen_ms. */
void describe_seen(char *text, size_t size, const rlock_view *view,
                   const struct rlock_view_holder *holder, int64_t seen_ms);

/* How long ago that was when the view was made, by the server's clock; -1: unknown. */
int64_t describe_age_ms(const rlock_view *view, int64_t since_ms);

/* Appends to a text of limited size, of which *length bytes are used. */
__attribute__((format(printf, 4, 5))) void describe_append(char *text, size_t size, size_t *length,
                                                           const char *format, ...);

enum { DESCRIBE_USER_SIZE = 64 };

/* The user of this process, as waiters and holders are shown it. */
void describe_user(char text[DESCRIBE_USER_SIZE]);

#endif
