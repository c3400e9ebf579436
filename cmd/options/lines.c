/* lines.c: the lines of a text file that may be hostile.
 *
 * A job must not hang or use up the memory, whatever the path leads to: no open and no read blocks
 * for long, and the length of a line is limited while it is read. */
#include "options/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000 };

bool lines_open(struct lines *lines, const char *path, bool pipes, const char **why) {
    struct stat about;
    lines->number = 0;
    lines->at = lines->end = 0;
    lines->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (lines->fd < 0) {
        *why = strerror(errno);
        return false;
    }
    const mode_t type = fstat(lines->fd, &about) == 0 ? about.st_mode & S_IFMT : 0;
    if (type == S_IFREG || type == S_IFCHR || (type == S_IFIFO && pipes))
        return true;
    *why = type == S_IFDIR ? strerror(EISDIR) : "it is a pipe or a device, not a file";
    close(lines->fd);
    lines->fd = -1;
    errno = 0;
    return false;
}

void lines_close(struct lines *lines) {
    close(lines->fd);
    explicit_bzero(lines, sizeof *lines);
}

/* Reads ahead. False: the end, or why. */
static bool fill(struct lines *lines, const char **why) {
    struct pollfd readable = {.fd = lines->fd, .events = POLLIN};
    ssize_t n;
    while ((n = read(lines->fd, lines->ahead, sizeof lines->ahead)) < 0) {
        if (errno != EINTR && errno != EAGAIN) {
            *why = strerror(errno);
            return false;
        }
        if (errno == EAGAIN && poll(&readable, 1, PATIENCE_MS) == 0) {
            *why = "no data for 5 seconds";
            return false;
        }
    }
    lines->at = 0;
    lines->end = (size_t)n;
    return n > 0;
}

/* Some editors put one at the beginning of a file. */
static bool has_byte_order_mark(const struct lines *lines) {
    return lines->number == 1 &&
           (strncmp(lines->text, "\xef\xbb\xbf", 3) == 0 ||
            strncmp(lines->text, "\xff\xfe", 2) == 0 || strncmp(lines->text, "\xfe\xff", 2) == 0);
}

/* Cuts the end of the line off, and checks the line. */
static bool finish(struct lines *lines, size_t length, const char **why) {
    if (length > 0 && lines->text[length - 1] == '\r')
        length--;
    lines->text[length] = '\0';
    if (has_byte_order_mark(lines))
        *why = "the file begins with a byte order mark: save it as plain UTF-8, without one";
    else if (strlen(lines->text) < length)
        *why = "the line has a NUL byte: write plain text";
    return *why == NULL;
}

bool lines_next(struct lines *lines, const char **why) {
    size_t length = 0;
    *why = NULL;
    for (;;) {
        if (lines->at == lines->end && !fill(lines, why)) {
            lines->number += *why != NULL && length == 0;
            return *why == NULL && length > 0 && finish(lines, length, why);
        }
        lines->number += length == 0;
        const char c = lines->ahead[lines->at++];
        if (c == '\n')
            return finish(lines, length, why);
        if (length == LINES_MAX_BYTES) {
            *why = "the line is too long: keep it below 4096 bytes";
            return false;
        }
        lines->text[length++] = c;
    }
}
