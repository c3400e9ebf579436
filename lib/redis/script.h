/* script.h: runs one of our scripts, on one server or on several at once. */
#ifndef RLOCK_SCRIPT_H
#define RLOCK_SCRIPT_H

#include "redis/route.h"

struct rlock__script {
    const char *name;
    const char *sha1;
    const char *body;
};

enum {
    RLOCK__KEYS_MAX = 20,
    RLOCK__ARGS_MAX = 20,
    RLOCK__ARG_LEASE = 1,
    RLOCK__ARG_ID = 2,
    RLOCK__ARG_PERMITS = 3,
    RLOCK__ARG_PUBLISH = 4,
    RLOCK__ARG_CHECK = 5
};

#define RLOCK__SPUBLISH "SPUBLISH "

/* What goes with it. args[RLOCK__ARG_PUBLISH] is "SPUBLISH CHANNEL", of which the S goes out only
 * where it is known; args[RLOCK__ARG_CHECK] is "0", and goes out as "1", with fsync "2", where the
 * script checks the user's rights and has not been answered over this connection yet. */
struct rlock__call {
    size_t key_count;
    const char *keys[RLOCK__KEYS_MAX]; /* the first says where it goes, also if it is not sent */
    size_t arg_count;
    const char *args[RLOCK__ARGS_MAX];
    size_t portion;     /* one more argument: how much to do; 0: there is none */
    bool checks;        /* it checks the user's rights: lua/include/rights.lua */
    bool replicated;    /* a "yes" counts once the replicas that are wanted have it */
    bool replicated_no; /* so does a "no" */
    size_t most;        /* what its answer may count for, as of resp.c; 0: little */
};

/* Gives the call these keys, NULL behind the last. It borrows them. */
void rlock__call_add_keys(struct rlock__call *call, char *const *keys);

/* Adds these arguments, NULL behind the last, but those at the end that are empty: each word costs
 * the server time. It borrows them. */
void rlock__call_add_args(struct rlock__call *call, const char *const *args);

/* {code, a, b, ...}: a busy reply goes on with the current holder. */
struct rlock__answer {
    int64_t code, a, b;
    rlock__reply *reply; /* the caller frees it */
};

enum rlock__run_stage {
    RLOCK__RUN_HASH,
    RLOCK__RUN_BODY,
    RLOCK__RUN_BEHIND_BODY, /* by its hash, and another run brings the script along before it */
    RLOCK__RUN_REPLICAS
};

/* One server's part of a run. */
struct rlock__run {
    struct rlock__route *route;
    const struct rlock__call *call;
    /* RLOCK_OK: answer is filled. RLOCK_AGAIN: no answer, or one that may pass: send the same
     * again. RLOCK_DENIED, RLOCK_WRONG_KIND, RLOCK_UNAVAILABLE (an answer that can't be understood,
     * too), RLOCK_CANCELLED, RLOCK_SYSTEM: route->error says why. */
    enum rlock_status status;
    struct rlock__answer answer;
    bool refused;     /* it has not been carried out, and no doubt about it */
    bool abandoned;   /* RLOCK_AGAIN, for the others have decided it: the answer may still come */
    bool unconfirmed; /* it said "yes", but its replicas did not: RLOCK_AGAIN */
    bool unanswered;  /* the request went out, and its answer will never come */
    /* The inside. */
    bool done;
    enum rlock__run_stage stage;
    struct rlock__link *link;
    bool asking;          /* the link's node has the slot not yet (ASK) */
    size_t first, last;   /* of the replies to the link's request those that are ours; last 0: none
                             is to come. From 1 */
    rlock__reply *before; /* while one is heard: the reply before it */
    int64_t replicas_by_ms; /* until when they are waited for; 0: they have not been asked */
    unsigned redirections;
};

/* The runs about one name, on all its servers.
 * enough: how many "yes" (a positive code) decide it, or so many others that these can't be reached
 * any more; then the rest is waited for as long again as that took, 50 ms at most. So is a rest of
 * servers that have not answered for 250 ms before, once `enough` have answered, whatever they say.
 * in_passing: nothing depends on it, and such a rest is not waited for in any case.
 * until_ms: of the first of several; while answers come each may be waited for as long as the limit
 * allows the first, up to then. 0: the limit stands. */
struct rlock__batch {
    struct rlock__run *runs;
    size_t count, enough;
    bool in_passing;
    int64_t until_ms;
    struct rlock__batch *next; /* what is asked at the same time; NULL: no more */
};

/* EVALSHA, and EVAL when a server does not know the script yet, on all servers at once; in a
 * cluster wherever it sends us. What goes to one server goes in one request: several names cost one
 * round trip, of which the servers keep all answers until we read them. */
void rlock__script_run_batches(struct rlock__batch *batches, const struct rlock__script *script,
                               const struct rlock__limit *limit);

/* The same of one name on one server. */
enum rlock_status rlock__script_run(struct rlock__route *route, const struct rlock__script *script,
                                    const struct rlock__call *call,
                                    const struct rlock__limit *limit, struct rlock__answer *out);

/* --- script_run.c: one script on one server, in steps that script.c takes --------------------- */

/* Finds the way, which may ask servers for it: before anything is put into a link's request. The
 * run may be done by then. */
void rlock__run_begin(struct rlock__run *run, const struct rlock__limit *limit);

/* Puts the script into the request of the run's link. Without memory the run is done: RLOCK_SYSTEM.
 */
void rlock__run_ask(struct rlock__run *run, const struct rlock__script *script);

/* Takes the reply, which is the run's from now on. The run is done, or has asked again. */
void rlock__run_hear(struct rlock__run *run, const struct rlock__script *script,
                     rlock__reply *reply);

/* The link has failed so. */
void rlock__run_fail(struct rlock__run *run, enum rlock_status status);

/* The run is over. */
void rlock__run_end(struct rlock__run *run, enum rlock_status status);

/* script_replicas.c: what a script wrote counts once the replicas have it, and with fsync once it
 * is on disk.
 *
 * Asks them over the connection that has written. The run is done where none must have it, or
 * without memory. */
void rlock__run_ask_replicas(struct rlock__run *run);

/* Takes what was said, which the caller frees. The run is done, or they have been asked once more.
 */
void rlock__run_hear_replicas(struct rlock__run *run, const rlock__reply *reply);

/* Says in route->error that the time was over before. */
void rlock__run_note_unconfirmed(struct rlock__run *run);

#endif
