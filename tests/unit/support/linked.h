/* linked.h: a link to a peer, for tests of what goes over it. */
#ifndef RLOCK_TEST_LINKED_H
#define RLOCK_TEST_LINKED_H

#include "support/test.h"

#include "redis/link.h"
#include "support/peer.h"

enum { LONG_MS = 5000, SHORT_MS = 50 };

struct linked {
    struct peer peer;
    struct rlock__access access; /* nobody's, to be changed before the first request */
    struct rlock__link link;
    struct rlock__error error; /* the link's */
};

/* An answer that call() reads as that text. */
#define ONE(text) "*1\r\n+" text "\r\n"

void begin(struct linked *f, const char *const *answers);
/* To nobody yet: there is no peer. */
void begin_to(struct linked *f, const char *host, const char *port);
/* Closes the link and stops the peer, which must have been asked that, as of peer_asked(). */
void end(struct linked *f, const char *asked);

/* Adds a word to the request. */
void ask(struct linked *f, const char *word);

/* Waits for the answer, which must be ONE(expected) or an error with that text. */
enum rlock_status call(struct linked *f, int64_t limit_ms, const char *expected);

/* Asks, and must be answered so. */
void assert_answered(struct linked *f, const char *word, const char *expected);

/* Asks, and must get no answer, for that reason and not before a limit below LONG_MS. The link is
 * closed then. */
void assert_unanswered(struct linked *f, const char *word, int64_t limit_ms, const char *why);

void assert_closed(const struct linked *f);

#endif
