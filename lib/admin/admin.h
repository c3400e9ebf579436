/* admin.h: what the files of this folder share: a key that may be a lock's, a view of a lock, and a
 * server that is probed. */
#ifndef RLOCK_ADMIN_INSIDE_H
#define RLOCK_ADMIN_INSIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "redis/client.h"
#include "redis/conn.h"
#include "redis/link.h"
#include "rlock_admin.h"

/* --- key.c: whether a key is a lock, or stands beside one, asked with plain commands ---------- */

enum rlock__key_question {
    RLOCK__KEY_NAMED,  /* of what kind is the name that the key is beside? */
    RLOCK__KEY_BESIDE, /* of what kind is the key that is beside one? */
    RLOCK__KEY_KIND,   /* of what kind is it? */
    RLOCK__KEY_FIELDS, /* how many fields has the hash? */
    RLOCK__KEY_OWNER,  /* which is the only one? */
    RLOCK__KEY_SIZE,   /* how long is its field mode? Of what is no lock it may be gigabytes */
    RLOCK__KEY_MODE    /* what does it say? */
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

/* --- view.c: what a server says of a name, put together from the pages of inspect.lua --------- */

enum { RLOCK__PLACE_SIZE = 32 };

struct rlock__hold {
    struct rlock_view_holder holder;
    const char *id;
    bool is_part; /* of a holder: one of its holds, one of its permits */
};

struct rlock__view {
    rlock_view view; /* first: what the caller has, once it is complete */
    bool only_held;  /* a view with one of the holders is complete: set it before the first page */
    char next[RLOCK__PLACE_SIZE]; /* where the next page begins, for the script; "": the first */
    /* The inside. */
    struct rlock__hold *holds; /* as they have come */
    struct rlock_view_waiter *waiters;
    size_t hold_count, waiter_count;
    int64_t leased; /* permits in use, as the first page says it; -1: no semaphore */
    struct rlock_view_run last_run;
    char **texts;            /* what the others point into */
    size_t text_count, size; /* size: what all texts take */
    bool failed;             /* no memory */
};

/* NULL: no memory. */
struct rlock__view *rlock__view_new(const char *name, const char *server);

/* Adds a page, and keeps nothing of the reply. RLOCK_AGAIN: another is needed, view->next.
 * RLOCK_OK: that was all, the view is complete. RLOCK_UNAVAILABLE: it can't be understood, or there
 * is more than anybody wants to see: *why says which. RLOCK_SYSTEM. */
enum rlock_status rlock__view_add(struct rlock__view *view, const rlock__reply *page,
                                  const char **why);

/* view_merge.c: makes the view of all rows that have come. False: no memory. */
bool rlock__view_merge(struct rlock__view *view);

/* --- probe.c: what was found out about servers, names and values ------------------------------ */

struct rlock_facts {
    size_t servers, count;
    struct rlock__fact {
        size_t server; /* that it is about */
        char *name, *value;
    } * at;
};

/* The inside of rlock_probe(), which asks one server at a time what it is like. */
struct rlock__probe {
    rlock_client *client;
    const struct rlock_probe_options *options;
    struct rlock__link *link; /* to the server; its error says what went wrong */
    rlock_facts *facts;
    size_t server;            /* which of those that the facts are about */
    enum rlock_status status; /* not RLOCK_OK: nothing is asked any more */
    enum rlock_status answer; /* to the last question: RLOCK_OK, or what the error means */
};

/* Adds a fact about that server; printf-style. */
__attribute__((format(printf, 3, 4))) void
rlock__fact_add(const struct rlock__probe *probe, const char *name, const char *format, ...);

void rlock__fact_add_number(const struct rlock__probe *probe, const char *name, int64_t number);

/* Asks one question of at most four words. NULL: no answer, or an error, which is in the link then.
 * The caller frees it. */
rlock__reply *rlock__probe_ask(struct rlock__probe *probe, size_t count, const char *const *words);

/* How long one question may take. */
struct rlock__limit rlock__probe_limit(const struct rlock__probe *probe);

/* What the server says of itself: probe_server.c. */
void rlock__probe_server(struct rlock__probe *probe);

/* What the Sentinels say that the URL names: probe_sentinel.c. */
void rlock__probe_sentinels(struct rlock__probe *probe);

/* Which rights this user lacks, by kind: probe_rights.c. */
void rlock__probe_rights(struct rlock__probe *probe);

#endif
