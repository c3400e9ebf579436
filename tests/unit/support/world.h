/* world.h: a clock and a server that the test makes up: the layer below acquire.c. */
#ifndef RLOCK_TEST_WORLD_H
#define RLOCK_TEST_WORLD_H

#include "support/test.h"

#include "lock/lock.h"

#define FOREVER RLOCK_FOREVER

enum { START_MS = 1000000, NAMES_MAX = 3, SERVERS_MAX = 3 };

/* One try's answer. The last one counts for all that follow. */
struct answer {
    enum rlock_status status;
    int64_t hint_ms; /* BUSY: when the hold expires */
    int64_t place;   /* BUSY */
    int64_t takes_ms;
    int64_t again_ms; /* BUSY: how long it may sleep; 0: 5 s */
    bool split;       /* BUSY: of several servers no majority is anybody's */
    bool sure;        /* AGAIN: nothing went out */
};

/* Something that is heard. */
struct heard {
    int64_t at_ms; /* after the start */
    bool woken, released, dead, heartbeat;
    int64_t first_ms; /* 0: no such news */
};

/* What acquire.c did. */
struct deed {
    char what; /* 't'ry, 'T'ry in line, give 'b'ack, 'l'isten, 'L'isten on the shared channel too,
                  listen 'n'o more */
    size_t resource;
    int64_t at_ms;
};

struct world {
    int64_t now_ms;
    const struct answer *answers;
    const struct heard *hearing;
    struct deed deeds[4096];
    size_t deed_count;
    bool deaf;  /* subscribing fails */
    bool moved; /* what listens does so at the wrong place, until it listens anew */

    struct rlock_client client;
    struct rlock__site site;
    struct rlock__route routes[SERVERS_MAX], subscriptions[SERVERS_MAX];
    struct rlock__instance instances[NAMES_MAX];
    struct rlock__resource resources[NAMES_MAX];
    struct rlock__listener listener;
    struct rlock_lock lock;
};
extern struct world world;

/* A table of answers ends with AND_SO_ON: the one before it is given again and again. */
#define GRANTED(ms)           ((struct answer){.status = RLOCK_OK, .takes_ms = (ms)})
#define NO_ANSWER(ms)         ((struct answer){.status = RLOCK_AGAIN, .takes_ms = (ms)})
#define NOT_SENT              ((struct answer){.status = RLOCK_AGAIN, .sure = true})
#define BUSY(hint, in_line)   ((struct answer){RLOCK_BUSY, .hint_ms = (hint), .place = (in_line)})
#define BUSY_FOR(ms, in_line) ((struct answer){RLOCK_BUSY, -1, (in_line), .again_ms = (ms)})
#define SPLIT                 ((struct answer){RLOCK_BUSY, 29000, 1, .split = true})
#define AND_SO_ON             ((struct answer){.status = RLOCK_OK, .takes_ms = -1})

#define ANSWERED(...) ((const struct answer[]){__VA_ARGS__, AND_SO_ON})

#define WOKEN(ms)          ((struct heard){.at_ms = (ms), .woken = true})
#define RELEASED(ms)       ((struct heard){.at_ms = (ms), .released = true})
#define FIRST(ms, left_ms) ((struct heard){.at_ms = (ms), .first_ms = (left_ms)})
#define HEARS(...)         ((const struct heard[]){__VA_ARGS__, {0}})

/* A lock of so many names, on one server. */
void begin(size_t names, const struct answer *answers, const struct heard *hearing);

/* deadline_ms, until_ms: after the start; RLOCK_FOREVER. deadline_ms 0: do not wait. */
enum rlock_status acquire(int64_t deadline_ms, int64_t until_ms);

/* What was done, as a word; of several names with the name's number behind each letter. */
const char *deeds(void);
int64_t time_of(size_t deed);
size_t count_of(char what);

struct wait {
    const char *what;
    int64_t deadline_ms; /* as of acquire() */
    enum rlock_status status;
    const char *deeds; /* if there is a ':' in it, with the time in front of what was done then:
                          "tL 801:Tn" */
    const struct answer *answers;
    const struct heard *hearing;
    int64_t until_ms; /* as of acquire(); 0: FOREVER */
    size_t names;     /* 0: 1 */
    const char *kind; /* NULL: run */
};

void assert_waits(const struct wait *rows, size_t count);

#endif
