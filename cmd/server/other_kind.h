/* other_kind.h: what a name is taken by that was asked for as something else. */
#ifndef RLOCK_CMD_OTHER_KIND_H
#define RLOCK_CMD_OTHER_KIND_H

#include <stddef.h>
#include <stdint.h>

#include "rlock.h"

enum { OTHER_KIND_SIZE = 1024 };

/* Looks, on the first of so many servers that knows: "the name is taken by another kind: a
 * read/write lock (write), held by alice@web-01 pid 4242 for 3m, ./deploy.sh". What can't be seen
 * is left out. Returns the text. */
const char *other_kind(char text[OTHER_KIND_SIZE], rlock_client *client, const char *name,
                       size_t servers, int64_t deadline_ms);

#endif
