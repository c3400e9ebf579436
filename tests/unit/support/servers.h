/* servers.h: some peers, and the ways to them, for tests of scripts. */
#ifndef RLOCK_TEST_SERVERS_H
#define RLOCK_TEST_SERVERS_H

#include "support/test.h"

#include "lock/kind.h"
#include "support/peer.h"

enum { SERVERS_MAX = 3, LONG_MS = 5000, SHORT_MS = 100 };

#define YES(token) "*3\r\n:1\r\n:" #token "\r\n:30000\r\n"
#define NO         "*3\r\n:0\r\n:29000\r\n:1\r\n"

struct servers {
    size_t count;
    struct peer peers[SERVERS_MAX];
    struct rlock__site sites[SERVERS_MAX];
    struct rlock__route routes[SERVERS_MAX];
    struct rlock__call call;
    struct rlock__run runs[SERVERS_MAX];
    bool in_passing; /* as of struct rlock__batch */
    int64_t took_ms;
};

/* The script that is run. */
const struct rlock__script *script(void);

/* A row of answers for each server. */
void begin(struct servers *f, size_t count, const char *const *answers[]);
/* Ends them; then they tell what they were asked. */
void end(struct servers *f);

/* Runs it everywhere, until `enough` have said yes. */
void run_until(struct servers *f, size_t enough, int64_t limit_ms, int cancel_fd);

#endif
