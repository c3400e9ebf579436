/* lines.h: the lines of a text file that may be hostile: a config file, a password. */
#ifndef RLOCK_CMD_LINES_H
#define RLOCK_CMD_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { LINES_MAX_BYTES = 4096 };

struct lines {
    int fd;
    unsigned number; /* of the line read last; of the first: 1 */
    size_t at, end;  /* of what has been read ahead */
    char ahead[LINES_MAX_BYTES];
    char text[LINES_MAX_BYTES + 1]; /* the line, without its "\n" or "\r\n" */
};

/* Opens it. Refuses a directory, and a pipe unless pipes are allowed. False: why, and errno as
 * open(2) left it, or 0. */
bool lines_open(struct lines *lines, const char *path, bool pipes, const char **why);

/* Reads one more line, up to its limit, and waits 5 seconds at most. False: why says what is wrong
 * with the line; NULL: the end. */
bool lines_next(struct lines *lines, const char **why);

/* Closes it, and wipes what was read: it may have been a password. */
void lines_close(struct lines *lines);

#endif
