/* trust.h: a directory that nobody else can put another one in the place of. */
#ifndef RLOCK_CMD_TRUST_H
#define RLOCK_CMD_TRUST_H

#include <stdbool.h>
#include <stddef.h>

struct trust {
    bool refused;   /* it is there, or something on the way is, and not to be trusted; else errno */
    char why[1024]; /* one line */
};

/* Opens the directory of that absolute path, making it (0700) if it is not there: ours, closed to
 * others, no symbolic link, and below none in which others may rename things. -1: why not. Its path
 * leads to the same directory from then on, unless root or we change that. */
int trust_open(const char *path, struct trust *trust);

#endif
