/* stream.h: writes to the caller's standard output and error.
 *
 * What stands at the other end may never read: a stalled ssh, a hung tmux, a log collector that
 * stands still, a file at its size limit. Call from one thread. */
#ifndef RLOCK_CMD_STREAM_H
#define RLOCK_CMD_STREAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    STREAM_LINE_MAX = 2 * PIPE_BUF, /* longer lines are dropped; up to PIPE_BUF bytes a pipe takes
                                       the whole line or nothing */
};

/* Writes a message to standard error, as a whole or not at all. Never blocks and raises no signal.
 * patience_ms: how long to wait for a reader, in all messages together until one is taken. False:
 * the line was dropped. Of a line that a terminal or socket took in part, the rest is written
 * before anything else, by the next message or by stream_finish(). */
bool stream_say(const char *line, size_t length, int patience_ms);

/* Before the process ends: writes the rest of a line that was taken in part. */
void stream_finish(int patience_ms);

/* Writes data to standard output, from *done on, however long the reader takes, or until cancel_fd
 * is readable. *done counts what was written. False: errno says why, ECANCELED for a cancellation,
 * after which another call goes on. */
bool stream_write(const char *text, size_t length, size_t *done, int cancel_fd);

#endif
