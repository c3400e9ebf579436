/* peer.h: a server that says what the test tells it to: a thread behind a socket. */
#ifndef RLOCK_TEST_PEER_H
#define RLOCK_TEST_PEER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { PEER_REQUESTS_MAX = 128, PEER_WORDS_MAX = 32, PEER_BYTES_MAX = 1 << 17 };

struct peer_request {
    size_t connection; /* from 1: on which it came */
    size_t word_count;
    struct {
        char *data; /* NUL-terminated */
        size_t size;
    } words[PEER_WORDS_MAX];
};

struct peer {
    char directory[64], path[96]; /* of a Unix socket */
    char port[8];                 /* of one on 127.0.0.1; "": there is none */
    const char *const *script;    /* the answers in turn, NULL-terminated; see peer_start() */
    int fd;
    bool is_serving;
    pthread_t thread;
    /* After peer_stop(): what was asked. */
    size_t request_count;
    struct peer_request requests[PEER_REQUESTS_MAX];
    char bytes[PEER_BYTES_MAX]; /* their words */
    size_t byte_count;
};

/* A script: see peer_start(). */
#define ANSWERS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* One for each of some peers. */
#define SCRIPTS(...) ((const char *const *[]){__VA_ARGS__})

/* What may stand in the place of an answer. */
extern const char PEER_CLOSE[];  /* closes the connection */
extern const char PEER_SILENT[]; /* says nothing */

/* Serves one connection after the other at peer->path. The answers are sent one a request, as they
 * stand; after the last it closes each connection at its first request. Without a script it is a
 * server that is not there, which shows at once. */
void peer_start(struct peer *peer, const char *const *script);

/* The same in two steps, at a path or at a port of 127.0.0.1 that the kernel chose, which the
 * answers may name. Who connects between the two waits. */
void peer_listen(struct peer *peer);
void peer_listen_tcp(struct peer *peer);
void peer_serve(struct peer *peer, const char *const *script);

/* Ends it when the clients have closed their connections. */
void peer_stop(struct peer *peer);

/* After that: all that it was asked, as in "AUTH secret; PING | PING": on two connections. */
const char *peer_asked(const struct peer *peer);

#endif
