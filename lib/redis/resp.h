/* resp.h: how large a server's reply may be, and of what shape: looked at byte by byte before
 * memory is taken for it.
 *
 * A parser of RESP takes memory for what a reply's head announces: thirteen bytes may ask for
 * gigabytes, a string or a line that never ends takes all there is, and arrays in arrays end on the
 * stack. Redis sends nothing of the kind. This knows as much of RESP2 as is needed to see that
 * coming, whatever the parser behind it does about it. */
#ifndef RLOCK_RESP_H
#define RLOCK_RESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RLOCK__RESP_DEPTH = 7,          /* of arrays in arrays; a list of slots needs 4 */
    RLOCK__RESP_LINE = 64 * 1024,   /* of a status or an error */
    RLOCK__RESP_TEXT = 1024 * 1024, /* of one string */
    RLOCK__RESP_ITEM = 96,          /* what an element of an array counts for besides its text */
    RLOCK__RESP_NUMBER = 20         /* digits, with a sign */
};

/* Limits of a whole reply: about one lock (a kilobyte is long); the map of a cluster with badly
 * scattered slots; and a listing of locks (22 MiB for one with 10,000 holders and waiters that have
 * the longest commands). */
#define RLOCK__RESP_ANSWER  ((size_t)1 << 20)
#define RLOCK__RESP_MAP     ((size_t)8 << 20)
#define RLOCK__RESP_LISTING ((size_t)32 << 20)

/* What a number of a server's counts as at most, up and down: milliseconds, places, counts. None of
 * Redis's scripts has a larger one, for Lua would not be exact; twice such a number, or a thousand
 * times, is still one in C. Tokens are digits, and not bounded. */
#define RLOCK__NUMBER_MOST ((int64_t)1 << 53)

/* A stream of replies, from its beginning; all zero at first. */
struct rlock__resp {
    size_t most;       /* what a reply may count for; 0: RLOCK__RESP_ANSWER */
    const char *fault; /* why no byte is good any more; NULL: nothing */
    /* The inside. */
    size_t counted;                      /* of the reply that is coming */
    size_t to_skip;                      /* bytes of a string that are still to come */
    char type;                           /* of the line that is coming; '\0': none */
    bool after_cr;                       /* its last byte was '\r' */
    char number[RLOCK__RESP_NUMBER + 1]; /* on that line */
    size_t length;                       /* of the line so far */
    size_t depth;                        /* arrays that are open, and what each of them misses */
    size_t missing[RLOCK__RESP_DEPTH];
};

/* Looks at what has come. Returns how many bytes of it are good: all, or less, and then
 * resp->fault says what is wrong with the next one. */
size_t rlock__resp_look(struct rlock__resp *resp, const char *bytes, size_t size);

/* The number within what numbers are good for. */
int64_t rlock__resp_bounded(int64_t number);

/* Reads digits, up to 2^63-1 and exactly. False: there is something else, or more. */
bool rlock__resp_whole(const char *text, int64_t *out);

#endif
