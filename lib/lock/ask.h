/* ask.h: one script about one name, on all of its servers or some of them, and what they say
 * together. One server is a majority of one. */
#ifndef RLOCK_ASK_H
#define RLOCK_ASK_H

#include "lock/resource.h"
#include "redis/client.h"

struct rlock__ballot;

/* Notes what a server's answer says of the name there. Returns its vote. */
typedef enum rlock_status rlock__judge(const struct rlock__ballot *ballot,
                                       struct rlock__instance *instance, struct rlock__run *run);

struct rlock__ballot {
    struct rlock__resource *resource;
    struct rlock__routes *routes;
    const struct rlock__script *script;
    rlock__judge *judge;
    bool in_line;       /* it asks for a place in line */
    bool only_reenters; /* it asks for a hold of the owner around it, and for nothing else */
    struct rlock__batch batch;
    struct rlock__call calls[RLOCK_SERVERS_MAX];
    struct rlock__run runs[RLOCK_SERVERS_MAX];
    size_t asked[RLOCK_SERVERS_MAX];            /* which server's run each is */
    enum rlock_status votes[RLOCK_SERVERS_MAX]; /* of all servers, also of those not asked */
    int64_t sent_ms;                            /* 0: not yet */
    bool unconfirmed;                           /* one said "yes", but its replicas did not */
    char keep_text[24], place_text[24], token_text[24], try_id[RLOCK_SERVERS_MAX][RLOCK__TRY_SIZE],
        ticket_text[RLOCK_SERVERS_MAX][24]; /* borrowed by the calls */
};

/* A ballot that asks nobody yet. So many "yes" as a majority of the servers decide it, unless
 * batch.enough is set to something else. */
void rlock__ballot_begin(struct rlock__ballot *ballot, struct rlock__resource *resource,
                         struct rlock__routes *routes, const struct rlock__script *script,
                         rlock__judge *judge);

/* Asks a server; the call's arguments may still be added to. rlock__ballot_ask_try(): with the
 * number of the try there, where the script may change something. */
struct rlock__call *rlock__ballot_ask(struct rlock__ballot *ballot, size_t server,
                                      struct rlock__call call);
struct rlock__call *rlock__ballot_ask_try(struct rlock__ballot *ballot, size_t server,
                                          struct rlock__call call);

/* Sends it, unless that was done ahead, and has each answer judged. */
void rlock__ballot_run(struct rlock__ballot *ballot, const struct rlock__limit *limit);

/* Frees the replies; their numbers stay. */
void rlock__ballot_end(struct rlock__ballot *ballot);

/* Both; returns what the votes say together. */
enum rlock_status rlock__ballot_decide(struct rlock__ballot *ballot,
                                       const struct rlock__limit *limit);

/* Notes that an answer has a code that the script does not have. Returns RLOCK_UNAVAILABLE. */
enum rlock_status rlock__ballot_odd_answer(const struct rlock__ballot *ballot,
                                           struct rlock__run *run);

/* A vote by the answer's code, 1 to most: RLOCK_OK; 0: RLOCK_LOST. Else why there is none. */
enum rlock_status rlock__ballot_vote(const struct rlock__ballot *ballot, struct rlock__run *run,
                                     int64_t most);

/* Several names in one round trip: a ballot for each is made ahead (NULL: no memory, then one after
 * the other) and all are sent; each name's verb takes it from there: true. */
struct rlock__ballot *rlock__ballot_ahead(struct rlock__resource *resource);
void rlock__ballots_send_ahead(struct rlock__resource *resources, size_t count, bool last_first,
                               const struct rlock__limit *limit);
bool rlock__ballot_was_ahead(struct rlock__ballot *ballot, struct rlock__resource *resource);

/* How many names go into one round trip when so many are done; 0: all are. */
size_t rlock__ballots_at_once(const struct rlock_lock *lock, size_t done);

/* How many names are next when so many are done; 0: the next was asked about with those before it,
 * or is the only one. */
size_t rlock__ballots_due(const struct rlock_lock *lock, size_t done);

/* The one outcome of a vote for each server: RLOCK_OK when a majority says so. What makes such a
 * majority impossible by itself, when it is final. RLOCK_DONE: one says so. RLOCK_BUSY: a majority
 * has answered, but not so;
 * RLOCK_CANCELLED; else RLOCK_AGAIN. routes->error says why. */
enum rlock_status rlock__ballot_count(struct rlock__routes *routes, const enum rlock_status *votes);

/* The text that stands there most often: its place; supporters: how often. count is at least 1. */
size_t rlock__ballot_most(const char *const *texts, size_t count, size_t *supporters);

/* Of so many numbers, a server's each, the one that a majority has, or more. */
int64_t rlock__ballot_least(const int64_t *numbers, size_t count);

/* Until when a majority of the servers keeps the name. */
int64_t rlock__ballot_lease_end(const struct rlock__resource *resource);

#endif
