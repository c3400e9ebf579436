/* ask.h: asks the servers one thing about several names, in as few round trips as that takes, and
 * counts what they say about each name. One name on one server is 1 x 1: one server is a majority
 * of one. */
#ifndef RLOCK_ASK_H
#define RLOCK_ASK_H

#include "lock/lock.h"

/* What one server is asked about one name. */
struct rlock__question {
    size_t server;
    struct rlock__call call;
    char try_id[RLOCK__TRY_SIZE], number[24]; /* borrowed by the call */
};

/* One name, its questions, and the servers' votes. */
struct rlock__ballot {
    struct rlock__ask *ask;
    struct rlock__resource *resource;
    struct rlock__batch batch;         /* enough: a majority, unless ask() says otherwise */
    struct rlock__question *questions; /* one for each run of the batch */
    enum rlock_status votes[RLOCK_SERVERS_MAX]; /* of all servers, also of those not asked */
    char number[24];                            /* for ask(): borrowed by the calls */
};

struct rlock__verb {
    /* Asks a server about the name with rlock__ballot_ask(), or sets its vote. */
    void (*ask)(struct rlock__ballot *ballot, size_t server);
    /* Notes what a server's answer says of the name there. Returns its vote. */
    enum rlock_status (*judge)(const struct rlock__ballot *ballot, struct rlock__instance *instance,
                               struct rlock__run *run);
    /* Returns what came of the name, most often by rlock__ballot_count(). NULL: of no matter. */
    enum rlock_status (*conclude)(struct rlock__ballot *ballot);
    bool last_first; /* the last name goes out first */
    /* The first name that does not succeed decides, and its round is the last. Of those behind it
     * the servers' answers are judged, but nothing is concluded; NULL: nor noted. */
    bool in_order;
    void (*note_behind)(struct rlock__ballot *ballot);
};

struct rlock__ask {
    struct rlock_lock *lock;
    const struct rlock__verb *verb;
    const struct rlock__script *script;
    struct rlock__routes *routes;
    struct rlock__limit limit; /* of all round trips together */
    int64_t until_ms;          /* while answers come it lasts up to then; 0: the limit stands */

    /* For the verb: */
    char keep_text[24];       /* release: --min-hold */
    bool in_passing;          /* nothing depends on it: see script.h. release: a try follows */
    int64_t since_ms;         /* renew: a server that has confirmed it since is not asked again */
    struct rlock__busy *busy; /* take: what is in the way */
    int64_t ttl_ms;           /* check: the shortest */

    /* The outcome: */
    int64_t sent_ms;          /* when the last round went out */
    enum rlock_status status; /* of all names together */
    size_t stuck_at;          /* of which name that is the outcome */
    bool unconfirmed;         /* a server said "yes" to a name, but its replicas did not */
    struct rlock__error why;
};

/* The requests to take it, see take.c: pool.c has the same. */
void rlock__take_ask(struct rlock__ballot *ballot, size_t server);
enum rlock_status rlock__take_judge(const struct rlock__ballot *ballot,
                                    struct rlock__instance *instance, struct rlock__run *run);
/* It was granted: notes what we hold, and since when. */
void rlock__take_note_hold(struct rlock__resource *resource);

/* A hold's token is the largest that was given. Before it is told to the caller a majority has
 * accepted it, so that every later holder's is larger, whichever majority gives that; where several
 * readers want the same one, all but one go on to the next.
 * RLOCK_OK. RLOCK_BUSY: there are so many of them that each was taken: back off. RLOCK_DENIED,
 * RLOCK_AGAIN. Without an agreement the name at which it ended is given back. */
enum rlock_status rlock__agree_on_tokens(struct rlock_lock *lock, const struct rlock__limit *limit,
                                         struct rlock__busy *busy);

/* A request over the client's routes. */
struct rlock__ask rlock__asking(struct rlock_lock *lock, const struct rlock__verb *verb,
                                const struct rlock__script *script,
                                const struct rlock__limit *limit);

/* Asks about each name that is `due`, in rounds of about a thousand scripts. A name is due no more
 * once its outcome is known; RLOCK_AGAIN leaves it due. Asking once more is about these alone, and
 * an outcome that is final stays.
 * Returns ask->status: RLOCK_OK, RLOCK_BUSY, RLOCK_AGAIN, or what is final, RLOCK_LOST before all;
 * routes->error says why. */
enum rlock_status rlock__ask(struct rlock__ask *ask);

/* How many names are due. */
size_t rlock__count_due(const struct rlock_lock *lock);

/* The same about every name that is held. */
enum rlock_status rlock__ask_held(struct rlock__ask *ask);

/* Asks a server; arguments may still be added to the call. rlock__ballot_ask_try(): with the number
 * of the try there, where the script may change something. */
struct rlock__question *rlock__ballot_ask(struct rlock__ballot *ballot, size_t server,
                                          struct rlock__call call);
struct rlock__question *rlock__ballot_ask_try(struct rlock__ballot *ballot, size_t server,
                                              struct rlock__call call);

/* A vote by the answer's code, 1 to most: RLOCK_OK; 0: RLOCK_LOST. Else why there is none. */
enum rlock_status rlock__ballot_vote(const struct rlock__ballot *ballot, struct rlock__run *run,
                                     int64_t most);

/* The one outcome of a vote for each server: RLOCK_OK when a majority says so. What makes such a
 * majority impossible by itself, when it is final. RLOCK_DONE: one says so. RLOCK_BUSY: a majority
 * has answered, but not so; RLOCK_CANCELLED; else RLOCK_AGAIN. routes->error says why. */
enum rlock_status rlock__ballot_count(struct rlock__ballot *ballot);

/* Of so many numbers, a server's each, the one that a majority has, or more. */
int64_t rlock__votes_least(const int64_t *numbers, size_t count);

/* By which lease a majority of the servers keeps the name; 0: none. */
int64_t rlock__votes_granted(const struct rlock__resource *resource);

#endif
