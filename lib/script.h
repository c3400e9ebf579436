/* script.h: runs one of our scripts on the server. */
#ifndef RLOCK_SCRIPT_H
#define RLOCK_SCRIPT_H

#include "route.h"

struct rlock__script {
    const char *name;
    const char *sha1;
    const unsigned char *body;
    size_t size;
};

enum { RLOCK__KEYS_MAX = 10, RLOCK__ARGS_MAX = 16 };

/* What goes with it. */
struct rlock__call {
    size_t key_count;
    const char *keys[RLOCK__KEYS_MAX];
    size_t arg_count;
    const char *args[RLOCK__ARGS_MAX];
};

/* The one reply shape: a code and two numbers; a busy one is followed by who is in the way. */
struct rlock__answer {
    int64_t code, a, b;
    rlock__reply *reply; /* the caller frees it */
};

/* EVALSHA, and EVAL when the server does not know the script yet.
 * RLOCK_OK: *out is filled. RLOCK_AGAIN: no answer, or one that may pass: send the same again.
 * RLOCK_DENIED, RLOCK_WRONG_KIND, RLOCK_UNAVAILABLE (an answer that can't be understood, too),
 * RLOCK_CANCELLED, RLOCK_SYSTEM: route->error says why. */
enum rlock_status rlock__script_run(struct rlock__route *route, const struct rlock__script *script,
                                    const struct rlock__call *call,
                                    const struct rlock__limit *limit, struct rlock__answer *out);

#endif
