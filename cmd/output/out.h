/* out.h: everything that rlock says, and its exit statuses.
 *
 * A message is one line, "rlock: cannot VERB THING: reason", lower case and without a full stop.
 * Callers never end it with a newline. What is not printable is a '?' in it, and passwords in URLs
 * are hidden, for names and commands of strangers reach a terminal here. With --log json each is
 * one JSON object instead, which has all characters, the same ones escaped. */
#ifndef RLOCK_CMD_OUT_H
#define RLOCK_CMD_OUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum exit_status {
    EXIT_USAGE = 64,
    EXIT_WRONG_KIND = 65,
    EXIT_UNAVAILABLE = 69,
    EXIT_SYSTEM = 71,
    EXIT_CONFLICT = 75,
    EXIT_LOST = 76,
    EXIT_DENIED = 77,
    EXIT_CONFIG = 78,
    EXIT_GAVE_WAY = 79, /* to a newer one: superseded, or preempted */
    EXIT_TIMEOUT = 124, /* as timeout(1) */
    EXIT_NOEXEC = 126,
    EXIT_NOTFOUND = 127
};

enum out_level { OUT_ERROR, OUT_WARNING, OUT_INFO, OUT_DEBUG };

/* One member of an event's JSON object. A text of NULL or a negative number leaves the member out.
 */
struct out_field {
    const char *name;
    const char *text; /* with is_number: ignored */
    int64_t number;
    bool is_number;
};
#define OUT_TEXT(key, value) ((struct out_field){.name = (key), .text = (value)})
#define OUT_NUMBER(key, value)                                                                     \
    ((struct out_field){.name = (key), .number = (value), .is_number = true})
/* Both arguments of out_event() at once. */
#define OUT_FIELDS(...)                                                                            \
    (const struct out_field[]){__VA_ARGS__},                                                       \
        sizeof((const struct out_field[]){__VA_ARGS__}) / sizeof(struct out_field)

/* From here on: -q, -v, and --log json as set. Before it, messages are plain text. */
void out_setup(bool quiet, bool verbose, bool as_json);

/* Says why something could not be done, as the event "failed". name, server: that it is about;
 * NULL: none. Returns status, with which rlock is going to end. */
int out_fail(int status, const char *name, const char *server, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Something that programs want to know: "waiting", "acquired", "lost", "released"… -q silences all
 * but errors. In JSON the fields stand as members, and the event is written whatever its level. In
 * text only the message is printed, and OUT_DEBUG needs -v. */
void out_event(enum out_level level, const char *event, const struct out_field *fields,
               size_t field_count, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* What only people want to know; debug needs -v in JSON, too. */
#define out_error(...) out_event(OUT_ERROR, NULL, NULL, 0, __VA_ARGS__)
#define out_warn(...)  out_event(OUT_WARNING, NULL, NULL, 0, __VA_ARGS__)
#define out_info(...)  out_event(OUT_INFO, NULL, NULL, 0, __VA_ARGS__)
#define out_debug(...) out_event(OUT_DEBUG, NULL, NULL, 0, __VA_ARGS__)

/* Whether what is said on level OUT_DEBUG is shown or logged: what costs something to find out
 * need not be found out otherwise. */
bool out_tells(void);

/* Whether each event is an object, and not a line for people. */
bool out_is_json(void);

/* A question: the message without a newline, whatever -q or --log say; the answer is the caller's
 * to read. One that has no newline leaves that to out_ask_end(). */
void out_ask(const char *format, ...) __attribute__((format(printf, 1, 2)));
void out_ask_end(void);

/* A live line: drawn over the one before, cut to the terminal's width, without a newline. The next
 * message, or out_live_end(), takes it away. Nothing happens where out_can_live() is false: no
 * terminal that understands it, -q, or --log json; nor while another job has the terminal. */
bool out_can_live(void);
void out_live(const char *format, ...) __attribute__((format(printf, 1, 2)));
void out_live_end(void);

/* From here on messages are written to a stream: a line each, as they are, not yet printable; NULL:
 * to none. written_too: to standard error as well, as at first. */
void out_keep(FILE *stream, bool written_too);

/* Makes what others wrote fit to be shown, in place: each character that could be taken for more
 * than text is a '?' (printable.h), passwords are hidden. The text gets no longer. */
void out_make_printable(char *text);

/* Writes lines. What is not printable is a '?' here, too, but for tabs and escapes, which are our
 * own: what others wrote has been through out_make_printable() before. Standard output full or
 * closed: a message, and EXIT_SYSTEM; else 0. */
int out_stdout(const char *text);

/* Lines that are written to a stream in memory first. Begin gives the stream, or NULL after a
 * message; end writes what is there, and returns as out_stdout() does. */
struct out_page {
    FILE *stream;
    char *text;
    size_t size;
};
FILE *out_page_begin(struct out_page *page);
int out_page_end(struct out_page *page);

/* --- stream.c: to the caller's standard output and error -------------------------------------- */

/* What stands at the other end may never read: a stalled ssh, a hung tmux, a log collector that
 * stands still, a file at its size limit. Call from one thread. */

enum {
    STREAM_LINE_MAX = 2 * PIPE_BUF, /* longer lines are dropped; up to PIPE_BUF bytes a pipe takes
                                       the whole line or nothing */
};

/* Writes a message to standard error, as a whole or not at all. Never blocks and raises no signal.
 * patience_ms: how long to wait for a reader, in all messages together until one is taken. False:
 * the line was dropped. Of a line that a terminal or socket took in part, the rest is written
 * before anything else, by the next message or by stream_finish(). */
bool stream_say(const char *line, size_t length, int patience_ms);

/* Before the process ends: writes the rest of a line that was taken in part, if a reader comes
 * soon. */
void stream_finish(void);

/* Writes data to standard output, from *done on, however long the reader takes, or until cancel_fd
 * is readable; -1: none. *done counts what was written. False: errno says why, ECANCELED for a
 * cancellation, after which another call goes on. */
bool stream_write(const char *text, size_t length, size_t *done, int cancel_fd);

/* --- notify.c: to systemd, where it asks for it (sd_notify(3), NOTIFY_SOCKET) ----------------- */

#define NOTIFY_READY    "READY=1\n"
#define NOTIFY_STOPPING "STOPPING=1\n"

/* Sends state, "" or one of the above, and "STATUS=" with a line of text. Does nothing without
 * NOTIFY_SOCKET; never waits, and a failure is nobody's business. */
void notify(const char *state, const char *text);

#endif
