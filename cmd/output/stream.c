/* stream.c: writes to the caller's standard output and error.
 *
 * poll(2) promises some room, and a blocking write(2) waits until all of its bytes have found
 * some. O_NONBLOCK would help, but belongs to the open file description, which the caller and the
 * command share. So each write goes through a description of our own, opened from /proc for this
 * write alone: nothing has to be kept, inherited, or closed after a fork. */
#include "output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rlock.h"

enum { RETRY_MS = 10, REST_PATIENCE_MS = 200 };

/* One of the caller's streams, as it is now: another may stand there at the next write. */
struct stream {
    int fd;  /* the caller's */
    int own; /* a description of ours that does not block; -1: there is none */
    struct stat about;
};

/* File-scope, because a message may come from anywhere. */
static struct {
    char rest[STREAM_LINE_MAX]; /* of a line that was taken in part */
    size_t length;
    int waited_ms; /* for a reader, since a message was taken */
} pending;

/* Another user's terminal cannot be opened by its path, but by this name if it is ours. */
static int open_controlling_terminal(const struct stat *about) {
    unsigned int device = 0;
    const int fd = open("/dev/tty", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && (ioctl(fd, TIOCGDEV, &device) != 0 || device != about->st_rdev)) {
        close(fd);
        return -1;
    }
    return fd;
}

static struct stream stream_open(int fd) {
    struct stream stream = {.fd = fd, .own = -1};
    char path[32];
    /* A regular file never blocks, and a new description would begin at its start. A socket cannot
     * be opened, but takes a flag with each request. What the caller cannot write, neither can we.
     */
    if (fstat(fd, &stream.about) != 0 || S_ISREG(stream.about.st_mode) ||
        S_ISSOCK(stream.about.st_mode) || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return stream;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    stream.own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (stream.own < 0 && isatty(fd))
        stream.own = open_controlling_terminal(&stream.about);
    return stream;
}

static void stream_close(const struct stream *stream) {
    if (stream->own >= 0)
        close(stream->own);
}

/* Whether a file has room for the line below RLIMIT_FSIZE: write(2) would take a part of it. */
static bool is_below_limit(const struct stream *stream, size_t length) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return true;
    const bool appends = (fcntl(stream->fd, F_GETFL) & O_APPEND) != 0;
    const off_t at = appends ? stream->about.st_size : lseek(stream->fd, 0, SEEK_CUR);
    return at < 0 || (rlim_t)at + length <= limit.rlim_cur;
}

/* One write that does not wait. A stream that cannot be opened anew has poll(2) only, which is
 * right for up to PIPE_BUF bytes on a pipe. */
static ssize_t try_write(const struct stream *stream, const char *text, size_t length) {
    struct pollfd taker = {.fd = stream->fd, .events = POLLOUT};
    if (stream->own >= 0)
        return write(stream->own, text, length);
    if (S_ISREG(stream->about.st_mode))
        return write(stream->fd, text, length);
    if (S_ISSOCK(stream->about.st_mode))
        return send(stream->fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (poll(&taker, 1, 0) > 0)
        return write(stream->fd, text, length < PIPE_BUF ? length : PIPE_BUF);
    errno = EAGAIN;
    return -1;
}

/* Writes until all is taken or the deadline (CLOCK_BOOTTIME, ms) has come. Returns how many bytes
 * were taken. */
static size_t write_until(const struct stream *stream, const char *text, size_t length,
                          int64_t deadline_ms) {
    size_t taken = 0;
    while (taken < length) {
        const ssize_t n = try_write(stream, text + taken, length - taken);
        if (n > 0)
            taken += (size_t)n;
        else if (n < 0 && errno == EINTR)
            continue;
        else if ((n < 0 && errno != EAGAIN) || rlock_now_ms() >= deadline_ms)
            break;
        else
            (void)nanosleep(&(struct timespec){0, RETRY_MS * 1000000L}, NULL);
    }
    return taken;
}

/* --- messages -------------------------------------------------------------------------------- */

struct mask {
    sigset_t before;  /* of the thread */
    sigset_t pending; /* before the write */
};

/* A write raises SIGPIPE where the reader has gone, SIGXFSZ at a file's limit, and SIGTTOU, unless
 * it is blocked, where another job has the terminal (stty tostop). */
static void block_signals(struct mask *mask) {
    sigset_t block;
    (void)sigemptyset(&block);
    (void)sigaddset(&block, SIGPIPE);
    (void)sigaddset(&block, SIGXFSZ);
    (void)sigaddset(&block, SIGTTOU);
    (void)sigpending(&mask->pending);
    (void)pthread_sigmask(SIG_BLOCK, &block, &mask->before);
}

/* Takes away what the write has raised, and nothing that was there before. */
static void unblock_signals(const struct mask *mask) {
    static const struct timespec at_once = {0};
    const int error = errno;
    sigset_t raised;
    (void)sigemptyset(&raised);
    if (sigismember(&mask->pending, SIGPIPE) == 0)
        (void)sigaddset(&raised, SIGPIPE);
    if (sigismember(&mask->pending, SIGXFSZ) == 0)
        (void)sigaddset(&raised, SIGXFSZ);
    while (sigtimedwait(&raised, NULL, &at_once) > 0)
        continue;
    (void)pthread_sigmask(SIG_SETMASK, &mask->before, NULL);
    errno = error;
}

static void keep_rest(const char *text, size_t length) {
    memmove(pending.rest, text, length);
    pending.length = length;
}

/* The rest of the line before, then this one. */
static bool say(const struct stream *stream, const char *line, size_t length, int64_t deadline_ms) {
    if (S_ISREG(stream->about.st_mode) && !is_below_limit(stream, pending.length + length))
        return false;
    const size_t flushed = write_until(stream, pending.rest, pending.length, deadline_ms);
    keep_rest(pending.rest + flushed, pending.length - flushed);
    if (pending.length > 0)
        return false;
    const size_t taken = write_until(stream, line, length, deadline_ms);
    if (taken > 0)
        keep_rest(line + taken, length - taken);
    return taken > 0;
}

bool stream_say(const char *line, size_t length, int patience_ms) {
    struct mask mask;
    if (length > STREAM_LINE_MAX)
        return false;
    const struct stream stream = stream_open(STDERR_FILENO);
    const int64_t begun_ms = rlock_now_ms();
    const int left_ms = patience_ms > pending.waited_ms ? patience_ms - pending.waited_ms : 0;
    block_signals(&mask);
    const bool said = say(&stream, line, length, begun_ms + left_ms);
    unblock_signals(&mask);
    stream_close(&stream);
    pending.waited_ms = said ? 0 : pending.waited_ms + (int)(rlock_now_ms() - begun_ms);
    return said;
}

void stream_finish(void) {
    if (pending.length > 0)
        (void)stream_say("", 0, REST_PATIENCE_MS);
    pending.length = 0;
}

/* --- data ------------------------------------------------------------------------------------ */

/* Waits until the stream takes more. False: it was cancelled. */
static bool wait_for_room(const struct stream *stream, int cancel_fd) {
    struct pollfd fds[] = {
        {.fd = cancel_fd, .events = POLLIN},
        {.fd = stream->own >= 0 ? stream->own : stream->fd, .events = POLLOUT},
    };
    (void)poll(fds, 2, -1);
    /* A terminal may have room, and not enough for a newline. */
    if (fds[0].revents == 0 && S_ISCHR(stream->about.st_mode))
        (void)poll(fds, 1, RETRY_MS);
    return fds[0].revents == 0;
}

bool stream_write(const char *text, size_t length, size_t *done, int cancel_fd) {
    const struct stream stream = stream_open(STDOUT_FILENO);
    int error = 0;
    while (*done < length && error == 0) {
        const ssize_t n = try_write(&stream, text + *done, length - *done);
        if (n >= 0)
            *done += (size_t)n;
        else if (errno != EAGAIN && errno != EINTR)
            error = errno;
        else if (!wait_for_room(&stream, cancel_fd))
            error = ECANCELED;
    }
    stream_close(&stream);
    errno = error;
    return error == 0;
}
