/* locked.h: a lock on peers, or on servers that are not there. */
#ifndef RLOCK_TEST_LOCKED_H
#define RLOCK_TEST_LOCKED_H

#include "support/test.h"

#include "lock/lock.h"
#include "support/peer.h"

enum { SERVERS_MAX = 3, NAMES_MAX = 4, LEASE_MS = 30000 };

/* Answers of scripts. */
#define GRANTED(token) "*3\r\n:1\r\n:" #token "\r\n:30000\r\n"
#define DONE           "*3\r\n:1\r\n:30000\r\n:0\r\n" /* renewed, released, raised */
#define GONE           "*3\r\n:0\r\n:0\r\n:0\r\n"
#define ODD_CODE       "*3\r\n:9\r\n:9\r\n:9\r\n" /* of no script */
#define IN_PART        "*3\r\n:2\r\n:0\r\n:0\r\n" /* taken away, and there is more */
#define HELD_BY(owner)                                                                             \
    "*10\r\n:0\r\n:29000\r\n:2\r\n$1\r\n" owner                                                    \
    "\r\n$1\r\nh\r\n:1\r\n$1\r\nu\r\n$1\r\nc\r\n:0\r\n:1\r\n"

struct locked {
    int64_t timeout_ms; /* of connections and answers; this and what follows is the test's to set */
    const char *names[NAMES_MAX]; /* none: one lock, x */
    int64_t any;                  /* a pool: so many of them */

    size_t count;
    struct peer peers[SERVERS_MAX];
    char urls[SERVERS_MAX][128];
    rlock_client *client;
    rlock_lock *lock;
};

/* A script for each server. */
void begin(struct locked *f, size_t count, const char *const *const *answers);
/* The same, of peers that run and URLs that are set. */
void make(struct locked *f, size_t count);
/* Then the peers tell what they were asked. */
void end(struct locked *f);

enum rlock_status try_once(struct locked *f);
enum rlock_status release(struct locked *f);

/* What a server was asked, a letter a script: 'a'cquire, 'r'enew, re's'tore, 't'oken, give 'b'ack;
 * where there are several names, each of them with its own, and a blank between. */
const char *asked(const struct locked *f, size_t server);

#endif
