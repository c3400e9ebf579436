/* listening.h: a lock on peers that speak of its channels. */
#ifndef RLOCK_TEST_LISTENING_H
#define RLOCK_TEST_LISTENING_H

#include "support/locked.h"

enum { LONG_MS = 5000, SHORT_MS = 100, TEXT_SIZE = 1024 };

/* In what a server says: the own channel and the shared one, as bulk strings. */
#define OWN    "@own"
#define SHARED "@shared"

#define CONFIRM(channel)       "*3\r\n$9\r\nsubscribe\r\n" channel ":1\r\n"
#define MESSAGE(channel, text) "*3\r\n$7\r\nmessage\r\n" channel text
#define ZERO                   "$1\r\n0\r\n"

struct listening {
    struct locked on;
    rlock_lock *lock; /* on's */
    const char *answers[SERVERS_MAX][8];
    char texts[SERVERS_MAX][8][TEXT_SIZE];
    struct rlock__news news; /* what was heard last */
};

/* Writes what a server says, with the channels' names. */
void spell(const struct listening *f, char *to, const char *text);
/* Says the next thing that a server says. */
void says(struct listening *f, size_t server, const char *text);

/* Listens for the lock, and for Redisson's releases too if `shared`. */
enum rlock_status listen_within(struct listening *f, bool shared, int64_t ms);
enum rlock_status hear_within(struct listening *f, int64_t ms);

#endif
