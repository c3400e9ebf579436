/* key.h: whether a key on a server is a lock, or stands beside one: asked with plain commands. */
#ifndef RLOCK_KEY_H
#define RLOCK_KEY_H

#include "redis/link.h"

enum rlock__key_question {
    RLOCK__KEY_NAMED,  /* of what kind is the name that the key is beside? */
    RLOCK__KEY_BESIDE, /* of what kind is the key that is beside one? */
    RLOCK__KEY_KIND,   /* of what kind is it? */
    RLOCK__KEY_FIELDS, /* how many fields has the hash? */
    RLOCK__KEY_OWNER,  /* which is the only one? */
    RLOCK__KEY_MODE    /* what does its field mode say? */
};

struct rlock__key {
    char *key;
    char *name;       /* of the lock, if it is one */
    const char *kind; /* of what kind the key is then */
    enum rlock__key_question question;
    bool is_lock;
};

/* Begins to ask about a key. False: it is none of a lock's, or there is no memory. */
bool rlock__key_begin(struct rlock__key *out, const char *key);
void rlock__key_free(struct rlock__key *key);

/* Puts the question into the link's request. False: no memory. */
bool rlock__key_ask(const struct rlock__key *key, struct rlock__link *link);

/* Takes the answer. True: there is another question. False: key->is_lock. */
bool rlock__key_hear(struct rlock__key *key, const rlock__reply *reply);

#endif
